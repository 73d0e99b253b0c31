import { Badge, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Customer } from '../api/types.ts'
import { describeDevice } from '../components/device.ts'
import {
  formatAge,
  formatCompact,
  formatDay,
  formatTime,
  formatUtcDay,
} from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { CopiedFact, Fact, Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'
import { OrderStatusBadge } from '../shop/order-status.tsx'
import { useTierNames } from '../shop/products-query.ts'
import classes from './customer-page.module.css'
import { Subscription } from './customer-subscription.tsx'
import { ordersOfCustomerQuery } from './customers-query.ts'

export function CustomerFacts({ customer }: { customer: Customer }) {
  return (
    <div className={layout.facts}>
      <Account customer={customer} />
      <Subscription customer={customer} />
      <Purchases id={customer.id} />
      <Usage customer={customer} />
      <Keys customer={customer} />
      <Sessions customer={customer} />
    </div>
  )
}

function Account({ customer }: { customer: Customer }) {
  const { id, email, last_login_at } = customer
  return (
    <Panel title={t('Account')}>
      <dl>
        <Fact label={t('Email')}>
          <span>{email}</span>
        </Fact>
        <CopiedFact label={t('User')} value={id} />
        <Fact label={t('Last sign-in')}>
          {last_login_at ? formatTime(last_login_at) : t('Never')}
        </Fact>
      </dl>
    </Panel>
  )
}

function Purchases({ id }: { id: string }) {
  const orders = useQuery(ordersOfCustomerQuery(id))
  const nameTier = useTierNames()
  return (
    <Panel
      title={t('Purchases')}
      aside={
        <TextLink to="/shop/orders" search={{ q: id }} size="sm">
          {t('In the shop')}
        </TextLink>
      }
    >
      <Loaded query={orders} skeleton={<Skeleton h={60} />}>
        {({ purchases }) =>
          purchases.length === 0 ? (
            <p className={classes.none}>{t('None.')}</p>
          ) : (
            <ul className={classes.rows}>
              {purchases.map(({ id: order, tier, amount_cents, currency, created_at, status }) => (
                <li key={order}>
                  <span>
                    <Link to="/shop/orders/$id" params={{ id: order }} className={classes.link}>
                      {t('{0} for {1}', nameTier(tier), formatAmount(amount_cents, currency))}
                    </Link>
                    <small>{formatDay(created_at)}</small>
                  </span>
                  <OrderStatusBadge status={status} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}

function Usage({ customer: { usage_30d } }: { customer: Customer }) {
  const { requests, failed, tokens, days } = usage_30d
  const most = Math.max(1, ...days.map((day) => day.requests))
  return (
    <Panel title={t('Usage, 30 days')}>
      <dl>
        <Fact label={t('Calls')}>{formatCompact(requests)}</Fact>
        <Fact label={t('Failed')}>
          {formatCompact(failed)}
          {requests > 0 && ` (${Math.round((failed / requests) * 100)} %)`}
        </Fact>
        <Fact label={t('Tokens')}>{formatCompact(tokens)}</Fact>
      </dl>
      {days.length > 1 && (
        <div
          className={classes.bars}
          role="img"
          aria-label={t('Calls by day, at most {0}', formatCompact(most))}
        >
          {days.map((day) => (
            <span
              key={day.day}
              title={`${formatUtcDay(day.day)}: ${formatCompact(day.requests)}`}
              style={{ height: `${(day.requests / most) * 100}%` }}
            />
          ))}
        </div>
      )}
    </Panel>
  )
}

const SHOWN_KEYS = 10

function Keys({ customer: { keys } }: { customer: Customer }) {
  const live = keys.filter(({ is_active }) => is_active)
  return (
    <Panel title={t('API keys')}>
      {keys.length === 0 ? (
        <p className={classes.none}>{t('None.')}</p>
      ) : (
        <ul className={classes.rows}>
          {[...live, ...keys.filter(({ is_active }) => !is_active)]
            .slice(0, SHOWN_KEYS)
            .map(({ id, name, key_prefix, is_active, last_used_at }) => (
              <li key={id}>
                <span>
                  {name}
                  <small>
                    <span className="mono">{key_prefix}…</span>,{' '}
                    {last_used_at ? t('used {0}', formatAge(last_used_at)) : t('never used')}
                  </small>
                </span>
                {!is_active && <Badge color="gray">{t('Revoked')}</Badge>}
              </li>
            ))}
        </ul>
      )}
      {keys.length > SHOWN_KEYS && (
        <p className={classes.none}>{t('and {0} more', keys.length - SHOWN_KEYS)}</p>
      )}
    </Panel>
  )
}

function Sessions({ customer: { sessions } }: { customer: Customer }) {
  return (
    <Panel title={t('Sessions')}>
      {sessions.length === 0 ? (
        <p className={classes.none}>{t('Not signed in.')}</p>
      ) : (
        <ul className={classes.rows}>
          {sessions.map(({ id, user_agent, ip_address, last_used_at }) => (
            <li key={id}>
              <span>
                {describeDevice(user_agent)}
                <small>
                  {t(
                    '{0}, last used {1}',
                    ip_address ?? t('Unknown address'),
                    formatAge(last_used_at),
                  )}
                </small>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

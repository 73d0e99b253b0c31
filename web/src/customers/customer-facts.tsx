import { Badge, Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { inUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import type { Customer, CustomerPayment } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { describeDevice } from '../components/device.ts'
import {
  formatAge,
  formatCompact,
  formatDay,
  formatMoney,
  formatTime,
} from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { t, translate } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { CopiedFact, Fact, Panel } from '../shop/facts.tsx'
import layout from '../shop/order-page.module.css'
import { OrderStatusBadge } from '../shop/order-status.tsx'
import { useTierNames } from '../shop/products-query.ts'
import { RefundForm } from '../shop/refund-dialog.tsx'
import { describeCode } from '../shop/timeline.ts'
import classes from './customer-page.module.css'
import { ordersOfCustomerQuery, refreshCustomers } from './customers-query.ts'

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

function Subscription({ customer }: { customer: Customer }) {
  const { subscription, tier_override, tier_override_until, payments } = customer
  const plans = usePlans()
  const [refunded, setRefunded] = useState<CustomerPayment | null>(null)
  return (
    <Panel title={t('Subscription')}>
      <dl>
        {tier_override !== null && (
          <Fact label={t('Plan set to')}>
            {tier_override_until === null
              ? t('{0}, by a superuser', planName(plans, tier_override))
              : t(
                  '{0} until {1}, by a superuser',
                  planName(plans, tier_override),
                  formatDay(tier_override_until),
                )}
          </Fact>
        )}
        {subscription ? (
          <SubscriptionFacts subscription={subscription} />
        ) : (
          <Fact label={t('Status')}>{t('No subscription')}</Fact>
        )}
      </dl>
      {payments.length > 0 && (
        <ul className={classes.rows} aria-label={t('Payments of the subscription')}>
          {payments.map((payment) => (
            <Payment key={payment.id} payment={payment} onRefund={() => setRefunded(payment)} />
          ))}
        </ul>
      )}
      {refunded && (
        <RefundForm
          currency={refunded.currency}
          leftCents={refunded.amount_cents - refunded.refunded_cents}
          effects={{
            whole: t(
              'A full refund of the latest payment ends the subscription. The customer gets an email.',
            ),
            part: t('The plan stays as it is. The customer gets an email.'),
          }}
          onClose={() => setRefunded(null)}
          onRefund={async (body) => {
            const path = { id: refunded.id }
            await api.post('/api/admin/payments/{id}/refund', body, { path })
            await refreshCustomers()
          }}
        />
      )}
    </Panel>
  )
}

function SubscriptionFacts({
  subscription,
}: {
  subscription: NonNullable<Customer['subscription']>
}) {
  const plans = usePlans()
  const { tier, processor_status, price_cents, currency, interval, period_end_at } = subscription
  const { is_cancel_at_period_end, ended_at, card_last4, payment_error } = subscription
  const isOver = ended_at !== null || processor_status === 'canceled'
  return (
    <>
      {tier && <Fact label={t('Plan')}>{planName(plans, tier)}</Fact>}
      <Fact label={t('Status')}>{describeCode(processor_status ?? 'unknown')}</Fact>
      {price_cents !== null && currency !== null && (
        <Fact label={t('Price')}>
          {formatMoney(inUnits(price_cents, currency), currency)}
          {interval && t(' per {0}', translate(interval))}
        </Fact>
      )}
      {ended_at && <Fact label={t('Ended')}>{formatDay(ended_at)}</Fact>}
      {period_end_at && !isOver && (
        <Fact label={is_cancel_at_period_end ? t('Ends') : t('Renews')}>
          {formatDay(period_end_at)}
        </Fact>
      )}
      {payment_error && (
        <Fact label={t('Failed')}>
          <span className={classes.bad}>{payment_error}</span>
        </Fact>
      )}
      {card_last4 && <Fact label={t('Card')}>•••• {card_last4}</Fact>}
      <CopiedFact label="ID" value={subscription.id} />
    </>
  )
}

function Payment({ payment, onRefund }: { payment: CustomerPayment; onRefund: () => void }) {
  const { amount_cents, refunded_cents, currency, invoice, paid_at, dispute } = payment
  const isRefunded = refunded_cents >= amount_cents
  return (
    <li>
      <span>
        {formatAmount(amount_cents, currency)}
        {refunded_cents > 0 &&
          !isRefunded &&
          t(', {0} refunded', formatAmount(refunded_cents, currency))}
        <small>
          {formatDay(paid_at)}
          {invoice && `, ${invoice}`}
        </small>
      </span>
      {dispute && <Badge color="brass">{t('Dispute {0}', dispute)}</Badge>}
      {isRefunded ? (
        amount_cents > 0 && <Badge color="gray">{t('Refunded')}</Badge>
      ) : (
        <Button
          variant="default"
          aria-label={t(
            'Refund {0} of {1}',
            formatAmount(amount_cents, currency),
            formatDay(paid_at),
          )}
          onClick={onRefund}
        >
          {t('Refund')}
        </Button>
      )}
    </li>
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
              title={`${day.day}: ${formatCompact(day.requests)}`}
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

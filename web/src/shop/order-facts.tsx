import { Link } from '@tanstack/react-router'
import type { OrderDetail } from '../api/types.ts'
import { formatDay, formatTime } from '../components/format.ts'
import { TextLink } from '../components/links.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from './amount.ts'
import { CopiedFact, Fact, Panel } from './facts.tsx'
import { OrderMachines } from './order-machines.tsx'
import classes from './order-page.module.css'
import { isMember, OrderStatusBadge } from './order-status.tsx'
import { useTierNames } from './products-query.ts'

export function OrderFacts({ order }: { order: OrderDetail }) {
  return (
    <div className={classes.facts}>
      <Payment order={order} />
      {order.members.length > 0 ? <Members order={order} /> : <License order={order} />}
      {order.machines.length > 0 && <OrderMachines order={order} />}
      <Buyer order={order} />
      {order.chain.length > 1 && <Chain order={order} />}
    </div>
  )
}

function Payment({ order }: { order: OrderDetail }) {
  const { id, amount_cents, tax_cents, refunded_cents, currency, payment_ref } = order
  const { fee_cents, fee_currency } = order
  return (
    <Panel title={t('Payment')}>
      <dl>
        <Fact label={t('Paid')}>{formatAmount(amount_cents, currency)}</Fact>
        {tax_cents > 0 && <Fact label={t('Tax in it')}>{formatAmount(tax_cents, currency)}</Fact>}
        {refunded_cents > 0 && (
          <>
            <Fact label={t('Refunded')}>{formatAmount(refunded_cents, currency)}</Fact>
            <Fact label={t('Left')}>{formatAmount(amount_cents - refunded_cents, currency)}</Fact>
          </>
        )}
        {fee_cents !== null && fee_currency !== null && (
          <Fact label={t('Fee')}>{formatAmount(fee_cents, fee_currency)}</Fact>
        )}
        <CopiedFact label={t('Order')} value={id} />
        {isMember(order) ? (
          <Fact label={t('Paid by')}>
            <TextLink to="/shop/orders/$id" params={{ id: order.bundle_id ?? id }} size="sm">
              {t('the bundle’s order')}
            </TextLink>
          </Fact>
        ) : (
          <CopiedFact label={t('Payment')} value={payment_ref} />
        )}
      </dl>
    </Panel>
  )
}

function License({ order }: { order: OrderDetail }) {
  const { license_key_masked, machines, activations_limit, entitled_until } = order
  return (
    <Panel title={t('License')}>
      <dl>
        <Fact label={t('Key')}>
          <span className="mono">{license_key_masked}</span>
        </Fact>
        <Fact label={t('Downloads')}>
          {t('{0} of {1}', order.download_count, order.max_downloads)}
        </Fact>
        <Fact label={t('Machines')}>
          {machines.length}
          {activations_limit !== null && t(' of {0}, set for this buyer', activations_limit)}
        </Fact>
        <Fact label={t('Updates')}>
          {entitled_until === null ? t('Never end') : t('Until {0}', formatDay(entitled_until))}
        </Fact>
      </dl>
    </Panel>
  )
}

function Buyer({ order: { user_id, email, waiver } }: { order: OrderDetail }) {
  return (
    <Panel
      title={t('Buyer')}
      aside={
        email && (
          <TextLink to="/shop/orders" search={{ q: email }} size="sm">
            {t('All orders')}
          </TextLink>
        )
      }
    >
      <dl>
        <Fact label={t('Email')}>
          {user_id && email ? (
            <TextLink to="/customers/$id" params={{ id: user_id }} size="sm">
              {email}
            </TextLink>
          ) : email ? (
            <TextLink to="/customers" search={{ q: email }} size="sm">
              {email}
            </TextLink>
          ) : (
            t('Deleted account')
          )}
        </Fact>
        {user_id && <CopiedFact label={t('User')} value={user_id} />}
        <Fact label={t('Waiver')}>
          {waiver ? t('{0}, text of {1}', formatTime(waiver.at), waiver.version) : t('None')}
        </Fact>
      </dl>
    </Panel>
  )
}

/** The products of a bundle, each with its own license. */
function Members({ order: { members } }: { order: OrderDetail }) {
  const nameTier = useTierNames()
  return (
    <Panel title={t('Products of the bundle')}>
      <ul className={classes.chain}>
        {members.map(({ id, tier, status, license_key_masked }) => (
          <li key={id}>
            <span>
              <Link to="/shop/orders/$id" params={{ id }}>
                {nameTier(tier)}
              </Link>
              <br />
              <span className="mono">{license_key_masked}</span>
            </span>
            <OrderStatusBadge status={status} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Upgrades and renewals have the key of the purchase that they replace. */
function Chain({ order }: { order: OrderDetail }) {
  const nameTier = useTierNames()
  return (
    <Panel title={t('Orders with this key')}>
      <ul className={classes.chain}>
        {order.chain.map(({ id, tier, amount_cents, currency, created_at, status }) => (
          <li key={id}>
            <span>
              {id === order.id ? (
                <b>{nameTier(tier)}</b>
              ) : (
                <Link to="/shop/orders/$id" params={{ id }}>
                  {nameTier(tier)}
                </Link>
              )}{' '}
              {formatAmount(amount_cents, currency)}, {formatDay(created_at)}
            </span>
            <OrderStatusBadge status={status} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

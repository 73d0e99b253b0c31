import { Badge, Button } from '@mantine/core'
import { useState } from 'react'
import { inUnits } from '#platform/money.ts'
import { api } from '../api/client.ts'
import type { Customer, CustomerPayment } from '../api/types.ts'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { t, translate } from '../language/text.ts'
import { formatAmount } from '../shop/amount.ts'
import { CopiedFact, Fact, Panel } from '../shop/facts.tsx'
import { RefundForm } from '../shop/refund-dialog.tsx'
import { describeCode } from '../shop/timeline.ts'
import classes from './customer-page.module.css'
import { refreshCustomers } from './customers-query.ts'
import { formatLastDay } from './last-day.ts'

/** Newest first; the others open on request. */
const SHOWN_PAYMENTS = 3

export function Subscription({ customer }: { customer: Customer }) {
  const { subscription, tier_override, tier_override_until, payments } = customer
  const plans = usePlans()
  const [refunded, setRefunded] = useState<CustomerPayment | null>(null)
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? payments : payments.slice(0, SHOWN_PAYMENTS)
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
                  formatLastDay(tier_override_until),
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
          {shown.map((payment) => (
            <Payment key={payment.id} payment={payment} onRefund={() => setRefunded(payment)} />
          ))}
        </ul>
      )}
      {shown.length < payments.length && (
        <Button variant="subtle" mt={4} ms={-12} onClick={() => setIsWhole(true)}>
          {t('Show all {0} payments', payments.length)}
        </Button>
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

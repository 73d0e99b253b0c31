/** Emails from billing to the operator about cases that need a decision or attention. */
import { findUser, type User } from '#identity/users.ts'
import { notifyOperator } from '#mail/operator.ts'
import type { Db } from '#platform/db/db.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { BillingDeps } from './deps.ts'
import type { PaymentRow } from './money/payments.ts'
import type { DisputeState, DisputesTable } from './money/tables.ts'
import { buildPaymentUrl } from './processor.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

type Deps = Pick<BillingDeps, 'config' | 'jobs' | 'clock'>

const DISPUTE_NEWS: Record<DisputeState, { title: string; before: (sold: string) => string }> = {
  open: {
    title: 'A payment is disputed',
    before: (sold) =>
      `The bank holds the money until it decides. ${sold === 'subscription' ? 'The plan is suspended, and nothing is charged in the meantime.' : 'Downloads are blocked in the meantime.'} Respond to the dispute at the processor, or accept it there.`,
  },
  won: {
    title: 'A dispute was won',
    before: (sold) =>
      `The money was returned to you, and ${sold === 'subscription' ? 'the plan' : 'the purchase'} is active again.`,
  },
  lost: {
    title: 'A dispute was lost',
    before: (sold) =>
      sold === 'subscription'
        ? 'The bank returned the money to the customer. The plan has ended, the subscription is cancelled, and the card is not charged again.'
        : 'The bank returned the money to the customer. The license is revoked.',
  },
}

/**
 * Sends one email for each state of a dispute. `due` is the bank's deadline for an answer, in Unix
 * seconds.
 */
export async function reportDispute(
  deps: Deps,
  tx: Db,
  { id, amount_cents: amount, currency, reason }: DisputesTable,
  {
    state,
    payment,
    due,
  }: {
    state: DisputeState
    payment: Pick<PaymentRow, 'id' | 'kind' | 'user_id'>
    due: number | null
  },
): Promise<void> {
  const { title, before } = DISPUTE_NEWS[state]
  await notifyOperator(deps, tx, {
    about: state === 'open' ? `dispute:${id}` : `dispute:${id}:${state}`,
    title: `${title}: ${formatMoney(inUnits(amount, currency), currency)}`,
    before: [before(payment.kind ?? 'purchase')],
    facts: [
      ['Dispute', id],
      ['Payment', payment.id],
      ['Customer', await findEmail(tx, payment.user_id)],
      ['Reason', reason ?? 'unknown'],
      ...(due && state === 'open'
        ? [['Answer by', new Date(due * 1000).toISOString()] as [string, string]]
        : []),
    ],
    button: { label: 'Open the payment', url: buildPaymentUrl(deps.config, payment.id) },
  })
}

/** Reports a plan that was paid twice and refunded once. */
export async function reportRefundedDouble(
  deps: Deps,
  tx: Db,
  { email }: Pick<User, 'email'>,
  {
    subscriptionId,
    insteadOf,
    refunded,
  }: { subscriptionId: string; insteadOf: string; refunded: string },
): Promise<void> {
  await notifyOperator(deps, tx, {
    about: `double:${subscriptionId}`,
    title: `A double payment was refunded: ${refunded}`,
    before: [
      'A customer paid for the same plan twice. The older payment was refunded, and its subscription was cancelled.',
    ],
    facts: [
      ['Customer', email],
      ['Cancelled', subscriptionId],
      ['Running', insteadOf],
    ],
  })
}

/** Reports several subscriptions without a checkout; their creator must choose which one stays. */
export async function reportSeveralSubscriptions(
  deps: Deps,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
): Promise<void> {
  const ids = subscriptions.map(({ id }) => id).sort()
  await notifyOperator(deps, tx, {
    about: `several:${ids.join(',')}`,
    title: 'A customer pays for several subscriptions',
    before: [
      'The newest one did not come from a checkout, so none was cancelled. Cancel the surplus ones at the processor.',
    ],
    facts: [
      ['Customer', await findEmail(tx, userId)],
      ['Subscriptions', ids.join(', ')],
    ],
  })
}

/** Reports a customer who pays for a price that no plan has. */
export async function reportUnknownPrice(
  deps: Deps,
  tx: Db,
  userId: string,
  { id, priceIds }: SubscriptionFacts,
): Promise<void> {
  await notifyOperator(deps, tx, {
    about: `price:${priceIds.join(',')}`,
    title: 'A subscription has a price that belongs to no plan',
    before: [
      'Its subscribers keep the plan they had before, or get none. If the price is yours, add it to the settings of its plan.',
    ],
    facts: [
      ['Price', priceIds.join(', ')],
      ['Subscription', id],
      ['Customer', await findEmail(tx, userId)],
    ],
  })
}

async function findEmail(tx: Db, userId: string | null): Promise<string> {
  return (userId !== null && (await findUser(tx, userId))?.email) || 'unknown'
}

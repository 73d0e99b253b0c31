/** Emails from billing to the operator. Each is about a case that a person must decide. */
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
      `The bank holds the money until it decides. ${sold === 'subscription' ? 'The plan is closed and nothing is charged meanwhile.' : 'Downloads are closed meanwhile.'} Answer the dispute at the processor, or accept it there.`,
  },
  won: {
    title: 'A dispute is won',
    before: (sold) =>
      `The money is yours again, and ${sold === 'subscription' ? 'the plan' : 'the purchase'} is open.`,
  },
  lost: {
    title: 'A dispute is lost',
    before: (sold) =>
      sold === 'subscription'
        ? 'The money is gone. The plan is closed, the subscription is cancelled, and the card is not charged again.'
        : 'The money is gone. The license is revoked.',
  },
}

/** Once for each state of a dispute. `due`: Unix seconds until which the bank takes an answer. */
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

/** A customer paid one plan twice and has one payment back. */
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
      'A customer paid for the same plan twice. The older payment was refunded and its subscription cancelled.',
    ],
    facts: [
      ['Customer', email],
      ['Cancelled', subscriptionId],
      ['Running', insteadOf],
    ],
  })
}

/** None was begun by a checkout of ours, so which one is to stay is for whoever made it to say. */
export async function reportSeveralSubscriptions(
  deps: Deps,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
): Promise<void> {
  const ids = subscriptions.map(({ id }) => id).sort()
  await notifyOperator(deps, tx, {
    about: `several:${ids.join(',')}`,
    title: 'A customer pays several subscriptions',
    before: [
      'The newest was not begun by a checkout, so none was cancelled. Cancel at the processor what is too much.',
    ],
    facts: [
      ['Customer', await findEmail(tx, userId)],
      ['Subscriptions', ids.join(', ')],
    ],
  })
}

/** Somebody pays, and gets nothing for it, or what they had. */
export async function reportUnknownPrice(
  deps: Deps,
  tx: Db,
  userId: string,
  { id, priceIds }: SubscriptionFacts,
): Promise<void> {
  await notifyOperator(deps, tx, {
    about: `price:${priceIds.join(',')}`,
    title: 'A subscription has a price that no plan has',
    before: [
      'Whoever subscribes to it gets the plan they had before, or none. If it is a price of yours, name it in the settings of its plan.',
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

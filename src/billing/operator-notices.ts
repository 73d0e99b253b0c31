/** What billing tells the operator by mail: each needs a decision that no rule of ours can take. */
import type { Stripe } from 'stripe'
import { findUser } from '#identity/users.ts'
import { tellOperator } from '#mail/operator.ts'
import type { Db } from '#platform/db/db.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { BillingDeps } from './deps.ts'
import type { SubscriptionFacts } from './subscription-state.ts'

type Deps = Pick<BillingDeps, 'config' | 'jobs' | 'clock'>

/** A bank holds money back, and decides without us unless it is answered in time. */
export async function tellOfDispute(
  deps: Deps,
  tx: Db,
  { id, amount, currency, reason, evidence_details }: Stripe.Dispute,
  { payment, userId }: { payment: string; userId: string | null },
): Promise<void> {
  const due = evidence_details?.due_by
  await tellOperator(deps, tx, {
    about: `dispute:${id}`,
    title: `A payment is disputed: ${formatMoney(inUnits(amount, currency), currency)}`,
    before: ['A bank has taken a payment back until it is decided. Answer it at the processor, or accept it there.'],
    facts: [
      ['Dispute', id],
      ['Payment', payment],
      ['Customer', await addressOf(tx, userId)],
      ['Reason', reason ?? 'not told'],
      ...(due ? [['Answer by', new Date(due * 1000).toISOString()] as [string, string]] : []),
    ],
  })
}

/** None was begun by a checkout of ours, so which one is to stay is for whoever made it to say. */
export async function tellOfSeveral(
  deps: Deps,
  tx: Db,
  userId: string,
  subscriptions: readonly SubscriptionFacts[],
): Promise<void> {
  const ids = subscriptions.map(({ id }) => id).sort()
  await tellOperator(deps, tx, {
    about: `several:${ids.join(',')}`,
    title: 'A customer pays several subscriptions',
    before: [
      'The newest was not begun by a checkout, so none was cancelled. Cancel at the processor what is too much.',
    ],
    facts: [
      ['Customer', await addressOf(tx, userId)],
      ['Subscriptions', ids.join(', ')],
    ],
  })
}

/** Somebody pays, and gets nothing for it, or what they had. */
export async function tellOfUnknownPrice(
  deps: Deps,
  tx: Db,
  userId: string,
  { id, priceIds }: SubscriptionFacts,
): Promise<void> {
  await tellOperator(deps, tx, {
    about: `price:${priceIds.join(',')}`,
    title: 'A subscription has a price that no plan has',
    before: [
      'Whoever subscribes to it gets the plan they had before, or none. If it is a price of yours, name it in the settings of its plan.',
    ],
    facts: [
      ['Price', priceIds.join(', ')],
      ['Subscription', id],
      ['Customer', await addressOf(tx, userId)],
    ],
  })
}

async function addressOf(tx: Db, userId: string | null): Promise<string> {
  return (userId !== null && (await findUser(tx, userId))?.email) || 'unknown'
}

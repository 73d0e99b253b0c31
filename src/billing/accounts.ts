/**
 * Rows that link a user to customers at the processor and order concurrent reads of their state.
 */
import type { Selectable } from 'kysely'
import { lockUser } from '#identity/users.ts'
import { type Clock, type Instant, plus } from '#platform/clock.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import { countCheckout } from './metrics/checkout-days.ts'
import type { SubscriptionDetails, SubscriptionFacts } from './subscription-state.ts'
import type { BillingAccountsTable } from './tables.ts'

export type Account = Selectable<BillingAccountsTable>

type Deps = { db: Db; clock: Clock }

export async function findAccount(db: Db, userId: string): Promise<Account | null> {
  return (
    (await db
      .selectFrom('billing_accounts')
      .selectAll()
      .where('user_id', '=', userId)
      .executeTakeFirst()) ?? null
  )
}

export async function hasAnyAccount(db: Db): Promise<boolean> {
  return (
    (await db.selectFrom('billing_accounts').select('user_id').limit(1).executeTakeFirst()) !==
    undefined
  )
}

/**
 * Returns the user's row, inserted if missing and locked until the transaction ends. Locks the user
 * first, as a deletion does: this prevents deadlocks and rows that outlive their user.
 * @throws Error when the user was deleted.
 */
export async function lockAccount(tx: Db, userId: string): Promise<Account> {
  const hasUser = await lockUser(tx, userId)
  const inserted = await tx
    .insertInto('billing_accounts')
    .values({
      user_id: userId,
      customer_id: null,
      customer_email: null,
      customer_generation: 0,
      version: 0,
      synced_at: null,
      event_at: null,
      ended_subscription_id: null,
      checkout_at: null,
      subscription_id: null,
      subscription_created_at: null,
      price_id: null,
      period_end_at: null,
      is_cancel_at_period_end: false,
      processor_status: null,
      granted_tier: null,
      past_due_at: null,
      is_grace_over: false,
      payment_status: null,
      payment_error: null,
      payment_due_cents: null,
      pending_price_id: null,
      pending_payment_status: null,
      is_pending_newer: false,
      trial_end_at: null,
      price_cents: null,
      currency: null,
      interval: null,
      next_price_id: null,
      pauses_at: null,
      ends_at: null,
      ended_at: null,
      card_last4: null,
      card_expires_at: null,
      offers_at: null,
    })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('user_id')
    .executeTakeFirst()
  if (inserted && !hasUser) throw new Error('the user was deleted')
  return forUpdate(
    tx,
    tx.selectFrom('billing_accounts').selectAll().where('user_id', '=', userId),
  ).executeTakeFirstOrThrow()
}

export async function updateAccount(
  tx: Db,
  userId: string,
  changes: Partial<Omit<Account, 'user_id'>>,
): Promise<void> {
  await tx.updateTable('billing_accounts').set(changes).where('user_id', '=', userId).execute()
}

export function buildSnapshot(subscription: SubscriptionFacts | null): Partial<Account> {
  return {
    subscription_id: subscription?.id ?? null,
    subscription_created_at: subscription ? toInstant(subscription.created) : null,
    price_id: subscription?.priceIds[0] ?? null,
    period_end_at: subscription?.periodEnd ? toInstant(subscription.periodEnd) : null,
    is_cancel_at_period_end: subscription?.cancelAtPeriodEnd ?? false,
    processor_status: subscription?.status ?? null,
    ...(subscription?.details === undefined ? {} : buildDetails(subscription.details)),
  }
}

function buildDetails(details: SubscriptionDetails): Partial<Account> {
  const at = (seconds: number | null) => (seconds === null ? null : toInstant(seconds))
  return {
    trial_end_at: at(details.trialEnd),
    price_cents: details.priceCents,
    currency: details.currency,
    interval: details.interval,
    next_price_id: details.nextPriceId,
    pauses_at: at(details.pausesAt),
    ends_at: at(details.endsAt),
    ended_at: at(details.endedAt),
    card_last4: details.card?.last4 ?? null,
    card_expires_at: at(details.card?.expiresAt ?? null),
  }
}

export async function recordCheckout({ db, clock }: Deps, userId: string): Promise<void> {
  await transaction(db, async (tx) => {
    const account = await lockAccount(tx, userId)
    const now = clock.now()
    await updateAccount(tx, userId, { checkout_at: now })
    // Users who return to an open checkout count once.
    if (!isAwaitingCheckout(account, now)) await countCheckout(tx, 'subscription', now)
  })
}

/** For this time after a checkout, the success page may read the processor. */
const CHECKOUT_FRESH_MS = 60 * 60_000

/**
 * Returns true for up to an hour after a checkout was opened, until a subscription that began after
 * it is recorded.
 */
export function isAwaitingCheckout(account: Account | null, now: Instant): boolean {
  if (!account?.checkout_at || plus(account.checkout_at, CHECKOUT_FRESH_MS) < now) return false
  // The processor counts whole seconds: a subscription of the checkout's own second began after it.
  return (
    account.subscription_created_at === null ||
    account.subscription_created_at < `${account.checkout_at.slice(0, 19)}.000Z`
  )
}

/** Returns users with a customer who were not read since `before`, the longest unread first. */
export async function listStaleUsers(db: Db, before: Instant, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('billing_accounts')
    .select('user_id')
    // Not correlated: the two tables may be on different servers.
    .where('user_id', 'in', ({ selectFrom }) =>
      selectFrom('billing_customers').select('billing_customers.user_id'),
    )
    .where((e) => e.or([e('synced_at', 'is', null), e('synced_at', '<', before)]))
    .orderBy('synced_at', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute()
  return rows.map(({ user_id }) => user_id)
}

/** Returns users with a customer, the most recently read first. */
export async function listRecentUsers(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('billing_accounts')
    .select('user_id')
    .where('user_id', 'in', ({ selectFrom }) =>
      selectFrom('billing_customers').select('billing_customers.user_id'),
    )
    .orderBy('synced_at', (order) => order.desc().nullsLast())
    .orderBy('user_id')
    .limit(limit)
    .execute()
  return rows.map(({ user_id }) => user_id)
}

/** Returns users whose payment failed before `before` and whose plan is still open. */
export async function listUsersPastGrace(db: Db, before: Instant): Promise<string[]> {
  const rows = await db
    .selectFrom('billing_accounts')
    .select('user_id')
    .where('past_due_at', '<=', before)
    .where('is_grace_over', '=', false)
    .orderBy('past_due_at')
    .limit(1_000)
    .execute()
  return rows.map(({ user_id }) => user_id)
}

export const toInstant = (unixSeconds: number): Instant =>
  new Date(unixSeconds * 1000).toISOString()

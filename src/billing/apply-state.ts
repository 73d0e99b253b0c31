/**
 * Writes the outcome of a user's subscriptions: the account's snapshot of the effective
 * subscription, and the user's status and tier. A failed payment keeps the tier for
 * PAST_DUE_GRACE_DAYS; then a job reads the processor once more and closes the plan. The first
 * payment after a trial has no grace period.
 */
import { recordAudit } from '#audit/audit.ts'
import { FREE, type Tier } from '#catalogue/catalogue.ts'
import { setSubscription } from '#identity/subscription.ts'
import { findUser } from '#identity/users.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import {
  type Account,
  buildSnapshot,
  listUsersPastGrace,
  lockAccount,
  updateAccount,
} from './accounts.ts'
import { saveCancellation } from './cancellations.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import { hasPaid } from './money/payments.ts'
import { sendDueNotices } from './notices.ts'
import { writeSlices } from './paid-slices.ts'
import { findTier, type SubscriptionState, type SubscriptionStatus } from './subscription-state.ts'

/** The job has no user id: it finds due users by their accounts. */
export const GRACE_JOB = 'billing.end-graces'

export type Applied = {
  /** Start of the state, as far as known; the grace period is counted from it. */
  at: Instant
  /**
   * Set when an invoice event is the only source: it reveals that a payment failed and nothing
   * else.
   */
  isInvoice?: boolean
}

/** Requires the account's lock. */
export async function applyState(
  deps: Pick<BillingDeps, 'config' | 'clock' | 'jobs' | 'secrets'>,
  tx: Db,
  account: Account,
  state: SubscriptionState,
  { at, isInvoice = false }: Applied,
): Promise<void> {
  const { user_id: userId } = account
  const user = await findUser(tx, userId)
  if (!user) return
  const { subscription } = state
  const isSame = account.subscription_id === null || account.subscription_id === subscription.id

  // Subscribers at an old price keep their tier, also after a pause or a failed payment.
  const before = user.processor_tier === FREE ? null : user.processor_tier
  const prices = await readPrices(deps, tx, userId)
  const bought: Tier | null =
    findTier(subscription.priceIds, prices) ?? (isSame ? account.granted_tier : null) ?? before
  const pastDueAt = computeFailureStart(
    isSame ? account.past_due_at : null,
    subscription.status,
    at,
  )
  const graceEnd = pastDueAt && plus(pastDueAt, deps.config.pastDueGraceDays * DAY_MS)
  const hasGrace = subscription.hadTrial !== true || (await hasPaid(tx, userId))
  const isGraceOver = graceEnd !== null && (!hasGrace || graceEnd <= deps.clock.now())

  const change = {
    ...(isInvoice ? { processor_status: subscription.status } : buildSnapshot(subscription)),
    granted_tier: bought,
    past_due_at: pastDueAt,
    is_grace_over: isGraceOver,
  }
  await updateAccount(tx, userId, change)
  await saveCancellation(tx, userId, subscription, bought)
  if (graceEnd && !isGraceOver && pastDueAt !== account.past_due_at) {
    await deps.jobs.enqueue(tx, GRACE_JOB, {}, { runAt: graceEnd, key: `${GRACE_JOB}:${graceEnd}` })
  }

  const isOpen = state.tier !== FREE && !isGraceOver
  await setStatus(deps, tx, userId, {
    status: state.status,
    tier: isOpen ? (bought ?? user.processor_tier) : FREE,
  })
  await sendDueNotices(deps, tx, { ...account, ...change }, account)
}

/** `unpaid` follows `past_due` and may return to it: the grace period does not restart. */
function computeFailureStart(before: Instant | null, status: string, at: Instant): Instant | null {
  return status === 'past_due' || status === 'unpaid' ? (before ?? at) : null
}

/** Writes the user's status and tier, if they changed, and the paid part of the allowance. */
export async function setStatus(
  deps: Pick<BillingDeps, 'config' | 'clock'>,
  tx: Db,
  userId: string,
  state: { status: SubscriptionStatus; tier: Tier },
): Promise<void> {
  await writeStatus(deps, tx, userId, state)
  await writeSlices(deps, tx, userId)
}

async function writeStatus(
  { clock }: Pick<BillingDeps, 'clock'>,
  tx: Db,
  userId: string,
  { status, tier }: { status: SubscriptionStatus; tier: Tier },
): Promise<void> {
  const user = await findUser(tx, userId)
  if (!user || (user.subscription_status === status && user.processor_tier === tier)) return

  const now = clock.now()
  await setSubscription(tx, userId, { status, tier }, now)
  await recordAudit(tx, {
    actorId: null,
    action: 'subscription.changed',
    subject: `user:${userId}`,
    data: { status, tier, from: { status: user.subscription_status, tier: user.processor_tier } },
    at: now,
  })
}

/**
 * Closes plans whose grace period is over. `sync` first reads the processor, which may have
 * received a payment.
 * @throws AggregateError after all others were closed, when some could not be read.
 */
export async function endGracePeriods(
  deps: Pick<BillingDeps, 'config' | 'db' | 'clock' | 'processor' | 'jobs' | 'secrets'>,
  sync: (userId: string) => Promise<unknown>,
): Promise<void> {
  const { db, clock, config } = deps
  const before = plus(clock.now(), -config.pastDueGraceDays * DAY_MS)
  const failures: unknown[] = []
  for (const userId of await listUsersPastGrace(db, before)) {
    try {
      if (deps.processor) await sync(userId)
    } catch (error) {
      failures.push(error)
      continue
    }
    await transaction(db, async (tx) => {
      const account = await lockAccount(tx, userId)
      if (account.past_due_at === null || account.past_due_at > before || account.is_grace_over)
        return
      await updateAccount(tx, userId, { is_grace_over: true })
      await setStatus(deps, tx, userId, { status: 'past_due', tier: FREE })
      await sendDueNotices(deps, tx, { ...account, is_grace_over: true }, account)
    })
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} failed payments could not be read`)
}

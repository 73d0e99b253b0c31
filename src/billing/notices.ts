/**
 * Emails to subscribers. The account's row and the clock alone determine the notices due, and each
 * is sent once. Idempotent: duplicate, late or missing events never change which emails are sent.
 */
import './tables.ts'
import './money/tables.ts'
import { FREE, type Tier } from '#catalogue/catalogue.ts'
import { findUser, type User } from '#identity/users.ts'
import {
  cancellingEmail,
  cardExpiresEmail,
  endedEmail,
  formatPlanPrice,
  pausingEmail,
  paymentConfirmEmail,
  paymentFailedEmail,
  paymentReceivedEmail,
  planChangedEmail,
  planStartedEmail,
  planSuspendedEmail,
  renewalEmail,
  reopenedEmail,
  trialEndsEmail,
  winBackEmail,
} from '#mail/billing-emails.ts'
import type { Email } from '#mail/email.ts'
import { sendMail } from '#mail/mail.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { formatDate } from '#platform/locale.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import { type Account, lockAccount } from './accounts.ts'
import { readPrices } from './deals.ts'
import { buildUnsubscribeLinks } from './offers.ts'

type Deps = Pick<Platform, 'config' | 'jobs' | 'clock' | 'secrets'>

export const NOTICE_KINDS = [
  'trial_ends',
  'renewal',
  'card_expires',
  'payment_failed',
  'payment_reminder',
  'payment_last',
  'payment_confirm',
  'plan_closed',
  'payment_cured',
  'plan_changed',
  'pausing',
  'reopened',
  'cancelling',
  'ended',
  'win_back',
] as const
export type NoticeKind = (typeof NOTICE_KINDS)[number]
/** `about` is the notice's key: each key is sent once. */
export type Notice = { kind: NoticeKind; about: string }

/**
 * A failed payment and its confirmation share a key: after one of the two emails the other is
 * skipped.
 */
const SHARED_KEYS: Partial<Record<NoticeKind, NoticeKind>> = { payment_confirm: 'payment_failed' }

const TRIAL_AHEAD_MS = 3 * DAY_MS
/** Some laws require notice 15 to 45 days ahead. */
const RENEWAL_AHEAD_MS = 30 * DAY_MS
const CARD_AHEAD_MS = 30 * DAY_MS
/** An end that is found later than this is not emailed. */
const NEWS_MS = 7 * DAY_MS
const WIN_BACK_AFTER_MS = 14 * DAY_MS
const WIN_BACK_UNTIL_MS = 30 * DAY_MS

/**
 * The part of a notice's key that distinguishes notices of one kind and subscription, such as the
 * start of a failure; empty if there is only one. False: not due.
 */
type Matter = string | false
type Matters<K extends NoticeKind> = Record<K, Matter>

/**
 * Returns the notices due now, including those already sent. `before` is the row before its last
 * change: some notices are about the change itself. Pure.
 */
export function findDueNotices(
  account: Account,
  before: Account,
  now: Instant,
  graceDays: number,
): Notice[] {
  const { subscription_id: id } = account
  if (id === null) return []
  // Another subscription's row says nothing about a change of this one.
  const previous = before.subscription_id === id ? before : null
  const due: Matters<NoticeKind> = {
    ...findUpcomingPayments(account, now),
    ...findMissingPayments(account, previous, now, graceDays),
    ...findPlanChanges(account, previous),
    ...findEnds(account, now),
  }
  return NOTICE_KINDS.flatMap((kind) => {
    const matter = due[kind]
    return matter === false
      ? []
      : { kind, about: [SHARED_KEYS[kind] ?? kind, id, matter].filter(Boolean).join(':') }
  })
}

const isPaid = ({ processor_status: status }: Account): boolean =>
  status === 'active' || status === 'trialing'

const hasPassed = (at: Instant | null, delayMs: number, now: Instant): boolean =>
  at !== null && plus(at, delayMs) <= now

function findUpcomingPayments(
  account: Account,
  now: Instant,
): Matters<'trial_ends' | 'renewal' | 'card_expires'> {
  const { period_end_at: end, trial_end_at: trialEnd, card_expires_at: expires } = account
  const isContinuing =
    isPaid(account) && !account.is_cancel_at_period_end && account.pauses_at === null
  if (!isContinuing) return { trial_ends: false, renewal: false, card_expires: false }
  const isAhead = (at: Instant, aheadMs: number) => hasPassed(at, -aheadMs, now) && now < at
  const isYearly = account.processor_status === 'active' && account.interval === 'year'
  const expiresBeforePayment = expires !== null && end !== null && expires <= end
  return {
    trial_ends: trialEnd !== null && isAhead(trialEnd, TRIAL_AHEAD_MS) && trialEnd,
    renewal: isYearly && end !== null && isAhead(end, RENEWAL_AHEAD_MS) && end,
    card_expires: expiresBeforePayment && hasPassed(expires, -CARD_AHEAD_MS, now) && expires,
  }
}

function findMissingPayments(
  account: Account,
  previous: Account | null,
  now: Instant,
  graceDays: number,
): Matters<
  | 'payment_failed'
  | 'payment_confirm'
  | 'payment_reminder'
  | 'payment_last'
  | 'plan_closed'
  | 'payment_cured'
> {
  const { processor_status: status, payment_status: payment, past_due_at: failedAt } = account
  const isClosed = status === 'unpaid' || (status === 'past_due' && account.is_grace_over)
  const isInGrace = status === 'past_due' && !account.is_grace_over
  const failure: Matter = isInGrace && failedAt !== null && failedAt
  const reminder: Matter = payment !== 'processing' && failure
  const isLastDay = graceDays > 1 && hasPassed(failedAt, (graceDays - 1) * DAY_MS, now)
  const isMidway = graceDays > 3 && hasPassed(failedAt, (graceDays / 2) * DAY_MS, now)
  return {
    payment_failed: payment !== 'requires_action' && reminder,
    payment_confirm: payment === 'requires_action' && failure,
    payment_reminder: isMidway && !isLastDay && reminder,
    payment_last: isLastDay && reminder,
    plan_closed: isClosed && `${failedAt}`,
    payment_cured: isPaid(account) && failedAt === null && (previous?.past_due_at ?? false),
  }
}

function findPlanChanges(
  account: Account,
  previous: Account | null,
): Matters<'plan_changed' | 'pausing' | 'reopened'> {
  if (!isPaid(account)) return { plan_changed: false, pausing: false, reopened: false }
  const { granted_tier: tier, pauses_at: pausesAt, period_end_at: end } = account
  const pausing: Matter = pausesAt !== null && pausesAt
  if (previous === null) return { plan_changed: false, pausing, reopened: false }
  const hasNewTier = previous.granted_tier !== null && previous.granted_tier !== tier
  const hasReopened =
    previous.processor_status === 'paused' || (previous.pauses_at !== null && pausesAt === null)
  return {
    plan_changed: hasNewTier && `${tier}:${account.price_id}:${end}`,
    pausing,
    reopened: hasReopened && `${previous.pauses_at ?? previous.period_end_at}:${end}`,
  }
}

function findEnds(account: Account, now: Instant): Matters<'cancelling' | 'ended' | 'win_back'> {
  const { ends_at: endsAt, ended_at: endedAt } = account
  const isOver = account.processor_status === 'canceled'
  const isWinBackTime =
    hasPassed(endedAt, WIN_BACK_AFTER_MS, now) && !hasPassed(endedAt, WIN_BACK_UNTIL_MS, now)
  return {
    cancelling:
      isPaid(account) && account.is_cancel_at_period_end && `${endsAt ?? account.period_end_at}`,
    ended: isOver && !hasPassed(endedAt, NEWS_MS, now) && '',
    win_back: isOver && account.offers_at !== null && isWinBackTime && '',
  }
}

/** Sends the notices in the transaction that wrote the account. */
export async function sendDueNotices(
  deps: Deps,
  tx: Db,
  account: Account,
  before: Account = account,
): Promise<void> {
  await sendReceipt(deps, tx, account.user_id)
  const due = findDueNotices(account, before, deps.clock.now(), deps.config.pastDueGraceDays)
  if (due.length === 0) return
  const user = await findUser(tx, account.user_id)
  if (!user?.is_active) return
  const isNextNamed = account.next_price_id !== null && due.some(({ kind }) => kind === 'renewal')
  const prices = isNextNamed ? await readPrices(deps, tx, user.id) : null
  const next = prices?.get(account.next_price_id ?? '')?.tier ?? null
  for (const { kind, about } of due) {
    await sendNotice(deps, tx, user.id, about, composeNotice(deps, kind, { user, account, next }))
  }
}

/** Sends the email unless its key was sent before. */
export async function sendNotice(
  deps: Pick<Deps, 'jobs' | 'clock'>,
  tx: Db,
  userId: string,
  about: string,
  email: Email,
) {
  if (await markSent(deps, tx, userId, about)) await sendMail(deps, tx, email, { isNotice: true })
}

/** Marks a key as sent; returns false if it was sent before. */
export async function markSent(
  { clock }: Pick<Deps, 'clock'>,
  tx: Db,
  userId: string,
  about: string,
) {
  const fresh = await tx
    .insertInto('billing_notices')
    .values({ user_id: userId, about, sent_at: clock.now() })
    .onConflict((conflict) => conflict.columns(['user_id', 'about']).doNothing())
    .returning('about')
    .executeTakeFirst()
  return fresh !== undefined
}

/** Returns the user's notices for their data export. */
export function listNotices(db: Db, userId: string) {
  return db
    .selectFrom('billing_notices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('sent_at')
    .execute()
}

const BATCH_SIZE = 500

/**
 * Sends notices that become due by time, without an event.
 * @throws AggregateError after all others were sent, when some failed.
 */
export async function sendScheduledNotices(deps: Deps & Pick<Platform, 'db'>): Promise<void> {
  const failures: unknown[] = []
  let users: string[]
  let after = ''
  do {
    users = await listScheduledUsers(deps, after)
    for (const userId of users) {
      await transaction(deps.db, async (tx) =>
        sendDueNotices(deps, tx, await lockAccount(tx, userId)),
      ).catch((error) => failures.push(error))
    }
    after = users.at(-1) ?? ''
  } while (users.length === BATCH_SIZE)
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} subscribers could not be notified`)
}

/**
 * Returns users who may have a notice due. The time windows are those of `findDueNotices`, or
 * wider.
 */
export async function listScheduledUsers(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  after: string,
): Promise<string[]> {
  const now = clock.now()
  const computeRange = (from: number, to: number) => [plus(now, from), plus(now, to)] as const
  const rows = await db
    .selectFrom('billing_accounts')
    .select('user_id')
    .where((e) => {
      const isInside = (
        column: 'trial_end_at' | 'period_end_at' | 'card_expires_at' | 'ended_at',
        [a, b]: readonly [string, string],
      ) => e.and([e(column, '>=', a), e(column, '<=', b)])
      return e.or([
        isInside('trial_end_at', computeRange(0, TRIAL_AHEAD_MS)),
        e.and([
          e('interval', '=', 'year'),
          isInside('period_end_at', computeRange(0, RENEWAL_AHEAD_MS)),
        ]),
        e.and([e('past_due_at', 'is not', null), e('is_grace_over', '=', false)]),
        isInside('card_expires_at', computeRange(-2 * CARD_AHEAD_MS, CARD_AHEAD_MS)),
        e.and([
          e('offers_at', 'is not', null),
          isInside('ended_at', computeRange(-WIN_BACK_UNTIL_MS, -WIN_BACK_AFTER_MS)),
        ]),
      ])
    })
    .where('user_id', '>', after)
    .orderBy('user_id')
    .limit(BATCH_SIZE)
    .execute()
  return rows.map(({ user_id }) => user_id)
}

function composeNotice(
  deps: Pick<Deps, 'config' | 'secrets'>,
  kind: NoticeKind,
  { user, account, next }: { user: User; account: Account; next: Tier | null },
): Email {
  const { config } = deps
  const { granted_tier: tier, period_end_at: end, past_due_at: failedAt } = account
  const findPlanName = (planTier: Tier) =>
    config.catalogue.plans.find((plan) => plan.tier === planTier)?.name ?? planTier
  const plan = findPlanName(tier ?? FREE)
  const locale = user.locale ?? config.brand.language
  const amount = formatPlanPrice(account, locale)
  const formatDay = (at: Instant | null) => formatDate(at, locale)
  const closesOn = formatDay(failedAt && plus(failedAt, config.pastDueGraceDays * DAY_MS))
  switch (kind) {
    case 'trial_ends':
      return trialEndsEmail(config, { user, plan, amount, on: formatDay(account.trial_end_at) })
    case 'renewal':
      return renewalEmail(config, {
        user,
        plan,
        next: next && findPlanName(next),
        amount,
        on: formatDay(end),
      })
    case 'card_expires':
      return cardExpiresEmail(config, {
        user,
        plan,
        last4: account.card_last4,
        renewsOn: formatDay(end),
      })
    case 'payment_failed':
      return paymentFailedEmail(config, { user, plan, closesOn, failure: account, step: 'first' })
    case 'payment_reminder':
      return paymentFailedEmail(config, {
        user,
        plan,
        closesOn,
        failure: account,
        step: 'reminder',
      })
    case 'payment_last':
      return paymentFailedEmail(config, { user, plan, closesOn, failure: account, step: 'last' })
    case 'plan_changed':
      return planChangedEmail(config, { user, plan, amount })
    case 'pausing':
      return pausingEmail(config, { user, plan, on: formatDay(account.pauses_at) })
    case 'reopened':
      return reopenedEmail(config, { user, plan })
    case 'payment_confirm':
      return paymentConfirmEmail(config, { user, plan, closesOn })
    case 'plan_closed':
      return planSuspendedEmail(config, { user, plan })
    case 'payment_cured':
      return paymentReceivedEmail(config, { user, plan })
    case 'cancelling':
      return cancellingEmail(config, { user, plan, on: formatDay(account.ends_at ?? end) })
    case 'ended':
      return endedEmail(config, { user, plan })
    case 'win_back':
      return winBackEmail(config, { user, plan, ...buildUnsubscribeLinks(deps, user.id) })
  }
}

/**
 * Confirms the first payment of each subscription, once. A payment that is found late is not
 * confirmed.
 */
export async function sendReceipt(deps: Deps, tx: Db, userId: string): Promise<void> {
  const paid = await tx
    .selectFrom('invoices')
    .select([
      'subscription_id',
      'number',
      'paid_cents',
      'currency',
      'tier',
      'paid_at',
      'created_at',
    ])
    .where('user_id', '=', userId)
    .where('subscription_id', 'is not', null)
    .where('status', '=', 'paid')
    .where('paid_cents', '>', 0)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const user = paid.length === 0 ? null : await findUser(tx, userId)
  if (!user?.is_active) return
  const isNews = plus(deps.clock.now(), -NEWS_MS)
  for (const [id, [first]] of Map.groupBy(paid, ({ subscription_id }) => subscription_id)) {
    if (!first || (first.paid_at ?? first.created_at) < isNews) continue
    const plan =
      deps.config.catalogue.plans.find(({ tier }) => tier === first.tier)?.name ?? first.tier ?? ''
    const paidAmount = formatMoney(inUnits(first.paid_cents, first.currency), first.currency, {
      locale: user.locale ?? deps.config.brand.language,
    })
    const email = planStartedEmail(deps.config, {
      user,
      plan,
      paid: paidAmount,
      invoice: first.number,
    })
    await sendNotice(deps, tx, userId, `started:${id}`, email)
  }
}

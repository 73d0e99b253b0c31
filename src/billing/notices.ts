/**
 * What subscribers are written about. What is due follows from the account's row and the clock alone, and is told once for each matter: so
 * events that come twice, late or never make no letter more or less.
 */
import './tables.ts'
import './money/tables.ts'
import { FREE, type Tier } from '#catalogue/catalogue.ts'
import { findUser } from '#identity/users.ts'
import {
  cancellingEmail,
  cardExpiresEmail,
  endedEmail,
  pausingEmail,
  paymentConfirmEmail,
  paymentCuredEmail,
  paymentFailedEmail,
  planChangedEmail,
  planClosedEmail,
  planStartedEmail,
  renewalEmail,
  reopenedEmail,
  trialEndsEmail,
  winBackEmail,
} from '#mail/billing-emails.ts'
import type { Email } from '#mail/email.ts'
import { sendMail } from '#mail/mail.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { formatMoney, inUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import { type Account, lockAccount } from './accounts.ts'
import { readPrices } from './deals.ts'
import { unsubscribeLinks } from './offers.ts'

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
/** `about` names the matter: the same one is never told twice. */
export type Notice = { kind: NoticeKind; about: string }

/** A payment that fails after its bank was asked, or is asked about when it is tried again, has been written about. */
const ONE_MATTER: Partial<Record<NoticeKind, NoticeKind>> = { payment_confirm: 'payment_failed' }

const TRIAL_AHEAD_MS = 3 * DAY_MS
/** Some laws ask for a notice of 15 to 45 days. */
const RENEWAL_AHEAD_MS = 30 * DAY_MS
const CARD_AHEAD_MS = 30 * DAY_MS
/** An end that is found out about later is no news. */
const NEWS_MS = 7 * DAY_MS
const WIN_BACK_AFTER_MS = 14 * DAY_MS
const WIN_BACK_UNTIL_MS = 30 * DAY_MS

/** The letters due now, told or not. `before` is the row as it was, for what only a change says. Pure. */
export function findDueNotices(
  account: Account,
  before: Account,
  now: Instant,
  graceDays: number,
): Notice[] {
  const {
    subscription_id: id,
    processor_status: status,
    period_end_at: end,
    past_due_at: failedAt,
  } = account
  if (id === null) return []
  const isWithin = (at: Instant | null, ms: number) =>
    at !== null && plus(at, -ms) <= now && now < at
  const hasPassed = (at: Instant | null, ms: number) => at !== null && plus(at, ms) <= now
  const isPaid = status === 'active' || status === 'trialing'
  const goesOn = isPaid && !account.is_cancel_at_period_end && account.pauses_at === null
  const wasFailing = before.subscription_id === id ? before.past_due_at : null
  const expires = account.card_expires_at
  const isOver = status === 'canceled'
  const isOwed = status === 'past_due' && failedAt !== null && !account.is_grace_over
  const isAsked = account.payment_status === 'requires_action'
  const isReminded = isOwed && account.payment_status !== 'processing'
  const isLastDay = graceDays > 1 && hasPassed(failedAt, (graceDays - 1) * DAY_MS)
  const isMidway = graceDays > 3 && hasPassed(failedAt, (graceDays / 2) * DAY_MS)
  const isSame = before.subscription_id === id
  const wasClosed = isSame && before.processor_status === 'paused'
  const wasPausing = isSame && before.pauses_at !== null && account.pauses_at === null
  const due: Record<NoticeKind, string | false> = {
    trial_ends:
      goesOn && isWithin(account.trial_end_at, TRIAL_AHEAD_MS) && `${account.trial_end_at}`,
    renewal:
      goesOn &&
      status === 'active' &&
      account.interval === 'year' &&
      isWithin(end, RENEWAL_AHEAD_MS) &&
      `${end}`,
    card_expires:
      goesOn &&
      expires !== null &&
      end !== null &&
      expires <= end &&
      hasPassed(expires, -CARD_AHEAD_MS) &&
      expires,
    payment_failed: isOwed && !isAsked && account.payment_status !== 'processing' && failedAt,
    payment_confirm: isOwed && isAsked && failedAt,
    payment_reminder: isReminded && isMidway && !isLastDay && failedAt,
    payment_last: isReminded && isLastDay && failedAt,
    plan_changed:
      isPaid &&
      isSame &&
      before.granted_tier !== null &&
      before.granted_tier !== account.granted_tier &&
      `${account.granted_tier}:${account.price_id}:${end}`,
    pausing: isPaid && account.pauses_at !== null && account.pauses_at,
    reopened:
      isPaid && (wasClosed || wasPausing) && `${before.pauses_at ?? before.period_end_at}:${end}`,
    plan_closed:
      (status === 'unpaid' || (status === 'past_due' && account.is_grace_over)) && `${failedAt}`,
    payment_cured: isPaid && failedAt === null && wasFailing !== null && wasFailing,
    cancelling: isPaid && account.is_cancel_at_period_end && `${account.ends_at ?? end}`,
    ended: isOver && !hasPassed(account.ended_at, NEWS_MS) && '',
    win_back:
      isOver &&
      account.offers_at !== null &&
      hasPassed(account.ended_at, WIN_BACK_AFTER_MS) &&
      !hasPassed(account.ended_at, WIN_BACK_UNTIL_MS) &&
      '',
  }
  return NOTICE_KINDS.flatMap((kind) => {
    const matter = due[kind]
    return matter === false
      ? []
      : { kind, about: [ONE_MATTER[kind] ?? kind, id, matter].filter(Boolean).join(':') }
  })
}

/** With the transaction that wrote the account. */
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

/** Sends it unless the matter was told before. */
export async function sendNotice(
  deps: Pick<Deps, 'jobs' | 'clock'>,
  tx: Db,
  userId: string,
  about: string,
  email: Email,
) {
  if (await markSent(deps, tx, userId, about)) await sendMail(deps, tx, email, { isNotice: true })
}

/** False where it was sent. */
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

/** For the export of all that is held of a user. */
export function listNotices(db: Db, userId: string) {
  return db
    .selectFrom('billing_notices')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('sent_at')
    .execute()
}

const BATCH_SIZE = 500

/** What falls due by the clock, with no event to tell. @throws when somebody could not be written to; the others were. */
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
    throw new AggregateError(failures, `${failures.length} subscribers could not be written to`)
}

/** Whose letter may be due: the windows are those of `dueLetters`, or wider. */
async function listScheduledUsers(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  after: string,
): Promise<string[]> {
  const now = clock.now()
  const between = (from: number, to: number) => [plus(now, from), plus(now, to)] as const
  const rows = await db
    .selectFrom('billing_accounts')
    .select('user_id')
    .where((e) => {
      const inside = (
        column: 'trial_end_at' | 'period_end_at' | 'card_expires_at' | 'ended_at',
        [a, b]: readonly [string, string],
      ) => e.and([e(column, '>=', a), e(column, '<=', b)])
      return e.or([
        inside('trial_end_at', between(0, TRIAL_AHEAD_MS)),
        e.and([e('interval', '=', 'year'), inside('period_end_at', between(0, RENEWAL_AHEAD_MS))]),
        e.and([e('past_due_at', 'is not', null), e('is_grace_over', '=', false)]),
        inside('card_expires_at', between(-2 * CARD_AHEAD_MS, CARD_AHEAD_MS)),
        e.and([
          e('offers_at', 'is not', null),
          inside('ended_at', between(-WIN_BACK_UNTIL_MS, -WIN_BACK_AFTER_MS)),
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
  {
    user,
    account,
    next,
  }: {
    user: { id: string; email: string; full_name: string | null }
    account: Account
    next: Tier | null
  },
): Email {
  const { config } = deps
  const {
    granted_tier: tier,
    trial_end_at: trialEnd,
    period_end_at: end,
    past_due_at: failedAt,
  } = account
  const findPlanName = (one: Tier) =>
    config.catalogue.plans.find((plan) => plan.tier === one)?.name ?? one
  const plan = findPlanName(tier ?? FREE)
  const amount = formatPrice(account)
  const closesOn = formatDay(failedAt && plus(failedAt, config.pastDueGraceDays * DAY_MS))
  switch (kind) {
    case 'trial_ends':
      return trialEndsEmail(config, { user, plan, amount, on: formatDay(trialEnd) })
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
      return paymentFailedEmail(config, {
        user,
        plan,
        closesOn,
        facts: listPaymentFacts(account),
        step: 'first',
      })
    case 'payment_reminder':
      return paymentFailedEmail(config, {
        user,
        plan,
        closesOn,
        facts: listPaymentFacts(account),
        step: 'reminder',
      })
    case 'payment_last':
      return paymentFailedEmail(config, {
        user,
        plan,
        closesOn,
        facts: listPaymentFacts(account),
        step: 'last',
      })
    case 'plan_changed':
      return planChangedEmail(config, { user, plan, amount })
    case 'pausing':
      return pausingEmail(config, { user, plan, on: formatDay(account.pauses_at) })
    case 'reopened':
      return reopenedEmail(config, { user, plan })
    case 'payment_confirm':
      return paymentConfirmEmail(config, { user, plan, closesOn })
    case 'plan_closed':
      return planClosedEmail(config, { user, plan })
    case 'payment_cured':
      return paymentCuredEmail(config, { user, plan })
    case 'cancelling':
      return cancellingEmail(config, { user, plan, on: formatDay(account.ends_at ?? end) })
    case 'ended':
      return endedEmail(config, { user, plan })
    case 'win_back':
      return winBackEmail(config, { user, plan, ...unsubscribeLinks(deps, user.id) })
  }
}

/** What is due, from which card, and why it was not paid. */
function listPaymentFacts({
  payment_due_cents: cents,
  currency,
  card_last4,
  payment_error,
}: Account): [string, string][] {
  return [
    ...(cents !== null && currency !== null
      ? [['Amount due', formatMoney(inUnits(cents, currency), currency)] as [string, string]]
      : []),
    ...(card_last4 === null
      ? []
      : [['Card or account', `ending in ${card_last4}`] as [string, string]]),
    ...(payment_error === null ? [] : [['Reason', payment_error] as [string, string]]),
  ]
}

/** The first payment of each subscription is confirmed, once. One that is found later is no news. */
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
    const paidAmount = formatMoney(inUnits(first.paid_cents, first.currency), first.currency)
    const email = planStartedEmail(deps.config, {
      user,
      plan,
      paid: paidAmount,
      invoice: first.number,
    })
    await sendNotice(deps, tx, userId, `started:${id}`, email)
  }
}

export const formatDay = (at: Instant | null): string => at?.slice(0, 10) ?? ''

/** `$29.00 a month`; null where the price has no plain amount. */
export function formatPrice({
  price_cents: cents,
  currency,
  interval,
}: Pick<Account, 'price_cents' | 'currency' | 'interval'>) {
  if (cents === null || currency === null || interval === null) return null
  return `${formatMoney(inUnits(cents, currency), currency)} a ${interval}`
}

/**
 * Computes the allowances that a customer's payments bought, in monthly slices.
 *
 * Rules: each line of a paid invoice buys its plan's allowance for its period, and each credited
 * line takes it back. A month is one slice, a year twelve, a trial one. So an upgrade adds the
 * difference for the rest of its slice, and switching back and forth adds nothing. A line counts
 * while its payment stays: a fully refunded or disputed payment buys nothing. A later purchase
 * replaces the remaining slices of an earlier one. A bank debit may be paid days after its period
 * began; slices of the earlier purchase that began until then still count their use.
 */
import { type AllowanceSlice, FREE, isUsableSlice, type Tier } from '#catalogue/catalogue.ts'
import { setSubscription } from '#identity/subscription.ts'
import { findUser, lockUser } from '#identity/users.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { findAccount } from './accounts.ts'
import { readPrices } from './deals.ts'
import type { BillingDeps } from './deps.ts'
import './money/tables.ts'

/** A line of a paid invoice. `isKept`: its payment is neither fully refunded nor disputed. */
export type PaidLine = {
  subscriptionId: string | null
  tier: Tier | null
  cents: number
  start: Instant
  end: Instant
  paidAt: Instant
  isProration: boolean
  isKept: boolean
}

/** Returns all slices, the oldest first. */
export function buildSlices(lines: readonly PaidLine[]): AllowanceSlice[] {
  const wholes = lines
    .filter(({ isProration, tier }) => !isProration && tier !== null)
    .sort(byStart)
  const replaces = compareBySubscription(wholes)
  const slices = new Map<Instant, AllowanceSlice>()
  for (const whole of wholes) {
    const next = wholes.find((line) => replaces(line, whole))
    // A proration lasts until the end of the period that it changes.
    const changes = lines.filter(
      (line) =>
        line.isProration && line.subscriptionId === whole.subscriptionId && line.end === whole.end,
    )
    for (const month of splitMonths(whole)) {
      const isReplaced = next !== undefined && month.start >= next.start
      if (isReplaced && month.start >= next.paidAt) break
      const slice: AllowanceSlice = {
        ...buildSlice(month, whole, changes),
        ...(isReplaced ? { isReplaced } : {}),
      }
      const same = slices.get(month.start)
      slices.set(month.start, same === undefined ? slice : mergeSlices(same, slice))
    }
  }
  return [...slices.values()].sort(byStart)
}

/**
 * Returns a function that decides whether a line replaces another: it was paid later, and belongs
 * to a newer subscription or to a later period of the same one.
 */
function compareBySubscription(wholes: readonly PaidLine[]) {
  const begins = new Map<string | null, Instant>()
  for (const { subscriptionId, start } of wholes)
    if (!begins.has(subscriptionId)) begins.set(subscriptionId, start)
  const findBegin = ({ subscriptionId, start }: PaidLine) => begins.get(subscriptionId) ?? start
  return (line: PaidLine, earlier: PaidLine): boolean => {
    if (!line.isKept || line.cents <= 0 || line.start >= earlier.end) return false
    if (line.subscriptionId === earlier.subscriptionId) return line.start > earlier.start
    return findBegin(line) > findBegin(earlier) && line.paidAt >= earlier.paidAt
  }
}

function buildSlice(month: Span, whole: PaidLine, changes: readonly PaidLine[]): AllowanceSlice {
  const shares: Record<Tier, number> = {}
  const add = (tier: Tier | null, share: number) => {
    if (tier !== null && share !== 0) shares[tier] = (shares[tier] ?? 0) + share
  }
  // A free line is a trial.
  const isTrial = whole.cents === 0
  if (whole.isKept) add(whole.tier, 1)
  let isReduced = !whole.isKept
  for (const { tier, cents, isKept, ...span } of changes) {
    const share = computeOverlap(month, span)
    if (isKept) add(tier, cents < 0 ? -share : share)
    // Regardless of the times: calls may use a slice until the service reads of the change.
    if ((cents < 0 || !isKept) && share > 0) isReduced = true
  }
  return { ...month, shares, ...(isTrial ? { isTrial } : {}), ...(isReduced ? { isReduced } : {}) }
}

/**
 * Merges slices that began in the same second: two subscriptions share one slice, and a paid month
 * replaces a trial.
 */
function mergeSlices(first: AllowanceSlice, second: AllowanceSlice): AllowanceSlice {
  if (first.isTrial !== second.isTrial) return first.isTrial ? second : first
  const shares = { ...first.shares }
  for (const [tier, share] of Object.entries(second.shares))
    shares[tier] = (shares[tier] ?? 0) + share
  const { isReduced = second.isReduced, isReplaced, ...slice } = first
  return {
    ...slice,
    shares,
    ...(isReduced ? { isReduced } : {}),
    ...(isReplaced && second.isReplaced ? { isReplaced } : {}),
  }
}

type Span = { start: Instant; end: Instant }
const byStart = (a: Span, b: Span) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0)

/** Returns the part of a month that the other span covers, from 0 to 1. */
function computeOverlap(month: Span, other: Span): number {
  const [start, end] = [Date.parse(month.start), Date.parse(month.end)]
  const common = Math.min(end, Date.parse(other.end)) - Math.max(start, Date.parse(other.start))
  return end <= start ? 0 : Math.max(0, common) / (end - start)
}

const MONTH_MS = 30.44 * DAY_MS

/** A trial is one month, however long it lasts. */
function splitMonths({ start, end, cents }: PaidLine): Span[] {
  const count =
    cents === 0 ? 1 : Math.max(1, Math.round((Date.parse(end) - Date.parse(start)) / MONTH_MS))
  const starts = Array.from({ length: count }, (_, index) => addMonths(start, index))
  return starts.map((from, index) => ({ start: from, end: starts[index + 1] ?? end }))
}

/** One month after January 31 is the last day of February. */
function addMonths(instant: Instant, months: number): Instant {
  const from = new Date(instant)
  const to = new Date(from)
  to.setUTCMonth(from.getUTCMonth() + months)
  if (to.getUTCDate() < from.getUTCDate()) to.setUTCDate(0)
  return to.toISOString()
}

/** How long a payment can be taken back. */
const LOOKED_BACK_MS = 400 * DAY_MS

/**
 * Selects the slices that limit spending from now on: the present one, later ones, and earlier ones
 * that were reduced.
 */
export function selectRelevantSlices(
  slices: readonly AllowanceSlice[],
  now: Instant,
): AllowanceSlice[] {
  const present = slices.findLastIndex((slice) => slice.start <= now && isUsableSlice(slice))
  const reduced = slices.findIndex(
    ({ isReduced, end }) => isReduced && end > plus(now, -LOOKED_BACK_MS),
  )
  const first = reduced === -1 ? present : present === -1 ? reduced : Math.min(present, reduced)
  return slices.slice(Math.max(0, first))
}

type Deps = Pick<BillingDeps, 'config' | 'clock'>

/** Writes the user's current slices; null when the user has no paid plan. */
export async function writeSlices({ config, clock }: Deps, tx: Db, userId: string): Promise<void> {
  if (!(await lockUser(tx, userId))) return
  const user = await findUser(tx, userId)
  if (!user) return
  const slices =
    user.processor_tier === FREE
      ? null
      : selectRelevantSlices(buildSlices(await readPaidLines({ config }, tx, userId)), clock.now())
  if (JSON.stringify(slices) === JSON.stringify(user.slices_json)) return
  await setSubscription(tx, userId, { slices }, clock.now())
}

async function readPaidLines(
  { config }: Pick<Deps, 'config'>,
  tx: Db,
  userId: string,
): Promise<PaidLine[]> {
  const rows = await tx
    .selectFrom('invoices')
    .leftJoin('payments', 'payments.id', 'invoices.payment_id')
    .select(['invoices.lines_json', 'invoices.paid_at', 'payments.is_refunded', 'payments.dispute'])
    .where('invoices.user_id', '=', userId)
    .where('invoices.status', '=', 'paid')
    .where('invoices.subscription_id', 'is not', null)
    .execute()
  const prices = await readPrices({ config }, tx, userId)
  // A price that left the catalogue keeps its tier.
  const known = (await findAccount(tx, userId))?.granted_tier ?? null
  return rows.flatMap(({ lines_json: lines, paid_at, is_refunded, dispute }) =>
    (lines ?? []).map(({ price_id, subscription_id, ...line }) => ({
      ...line,
      subscriptionId: subscription_id,
      tier: prices.get(price_id ?? '')?.tier ?? known,
      paidAt: paid_at ?? line.start,
      isProration: line.is_proration,
      isKept: !is_refunded && (dispute === null || dispute === 'won'),
    })),
  )
}

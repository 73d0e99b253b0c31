// Computes the budget of a plan's user: the slice (billing period) of their last payment, or the
// calendar month on a free plan. A slice allows the shares of its plans, but at most the amount of the
// current plan. A refunded payment reduces its slice afterwards; overuse of that slice is then
// subtracted from later slices.
import './tables.ts'
import { type AllowanceSlice, FREE, isUsableSlice, type Tier } from '#catalogue/catalogue.ts'
import type { Instant } from '#platform/clock.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import type { BudgetTx } from './budgets.ts'
import { computeSpan, namePeriods } from './periods.ts'
import { toNanos } from './record.ts'

/** Limits in tokens and in nanodollars; null: no limit in this unit. */
type Limits = { tokens: number | null; nanos: number | null }

/** `name` is the period of the budget's row. `earlier` lists slices with possible overuse, oldest first. */
export type PlanBudget = Limits & {
  name: string
  start: Instant
  end: Instant
  isPaid: boolean
  /** True for the allowance of the free plan, which each mailbox has once. */
  isFree: boolean
  earlier: Earlier[]
}
type Earlier = Limits & { name: string }

export type PlanBudgets = (caller: Pick<Caller, 'tier' | 'slices'>, at: Instant) => PlanBudget

export function createPlanBudgets({
  catalogue,
  budgets,
}: Pick<Platform['config'], 'catalogue' | 'budgets'>): PlanBudgets {
  const plans = new Map<Tier, { month: Limits; trial: Limits }>()
  for (const { tier, allowanceUsd, trialAllowanceUsd } of catalogue.plans) {
    const month = {
      tokens: budgets.get(tier) ?? null,
      nanos: allowanceUsd === null ? null : toNanos(allowanceUsd),
    }
    // A trial has the same share of the plan's tokens as of its dollars.
    const share =
      allowanceUsd && trialAllowanceUsd !== null ? Math.min(1, trialAllowanceUsd / allowanceUsd) : 1
    const trial = {
      tokens: month.tokens === null ? null : Math.floor(month.tokens * share),
      nanos: trialAllowanceUsd === null ? null : toNanos(trialAllowanceUsd),
    }
    plans.set(tier, { month, trial })
  }
  const findMonthLimits = (tier: Tier): Limits => plans.get(tier)?.month ?? NO_LIMITS

  const computeLimit = (unit: keyof Limits, { shares, isTrial }: AllowanceSlice): number | null => {
    let limit = 0
    for (const [tier, share] of Object.entries(shares)) {
      const whole = (isTrial ? plans.get(tier)?.trial : findMonthLimits(tier))?.[unit] ?? null
      if (whole === null && share > 0) return null
      limit += share * (whole ?? 0)
    }
    return Math.max(0, Math.floor(limit))
  }
  const computeLimits = (slice: AllowanceSlice): Limits => ({
    tokens: computeLimit('tokens', slice),
    nanos: computeLimit('nanos', slice),
  })

  return ({ tier, slices }, at) => {
    const month = findMonthLimits(tier)
    const calendar = { name: namePeriods(at).month, ...computeSpan('month', at), earlier: [] }
    // Slices of an earlier subscription do not limit the free plan.
    const isFree = tier === FREE && month.nanos !== null
    if (slices === null || isFree) return { ...calendar, ...month, isPaid: false, isFree }
    const begun = slices.filter(({ start }) => start <= at)
    const current = begun.findLast(isUsableSlice)
    if (current === undefined)
      return { ...calendar, ...chooseLower(NOTHING, month), isPaid: true, isFree }
    const { start, end, isTrial } = current
    const otherSlices = begun.filter((one) => one !== current)
    const reduced = otherSlices.findIndex(({ isReduced }) => isReduced === true)
    return {
      name: sliceName(start),
      start,
      end,
      isPaid: true,
      isFree,
      ...(isTrial ? computeLimits(current) : chooseLower(computeLimits(current), month)),
      earlier:
        reduced === -1
          ? []
          : otherSlices
              .slice(reduced)
              .map((one) => ({ name: sliceName(one.start), ...computeLimits(one) })),
    }
  }
}

const NO_LIMITS: Limits = { tokens: null, nanos: null }
const NOTHING: Limits = { tokens: 0, nanos: 0 }

/** Returns the lower limit of each unit. If the plan has no limit in a unit, its slices have none. */
function chooseLower(bought: Limits, plan: Limits): Limits {
  const computeUnit = (unit: keyof Limits) =>
    plan[unit] === null ? null : Math.min(plan[unit], bought[unit] ?? Number.POSITIVE_INFINITY)
  return { tokens: computeUnit('tokens'), nanos: computeUnit('nanos') }
}

const sliceName = (start: Instant) => `${start}/slice`

/** Subtracts the overuse of earlier slices from the budget. */
export async function subtractOveruse(
  { db, run }: BudgetTx,
  userId: string,
  plan: PlanBudget,
): Promise<PlanBudget> {
  const { earlier, tokens, nanos } = plan
  if (earlier.length === 0) return plan
  const query = db
    .selectFrom('usage_budgets')
    .select(['period', 'used_tokens', 'used_nanos'])
    .where('user_id', '=', userId)
    .where('scope', '=', '')
    .where(
      'period',
      'in',
      earlier.map(({ name }) => name),
    )
  const { rows } = await run(query.compile())
  const over = { tokens: 0, nanos: 0 }
  for (const slice of earlier) {
    const used = rows.find(({ period }) => period === slice.name)
    over.tokens = computeExcess(over.tokens + Number(used?.used_tokens ?? 0), slice.tokens)
    over.nanos = computeExcess(over.nanos + Number(used?.used_nanos ?? 0), slice.nanos)
  }
  return {
    ...plan,
    tokens: tokens === null ? null : Math.max(0, tokens - over.tokens),
    nanos: nanos === null ? null : Math.max(0, nanos - over.nanos),
  }
}

const computeExcess = (used: number, limit: number | null) =>
  limit === null ? 0 : Math.max(0, used - limit)

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
  earlier: (Limits & { name: string })[]
}

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
  const computeLimit = (unit: keyof Limits, { shares, isTrial }: AllowanceSlice): number | null => {
    let limit = 0
    for (const [tier, share] of Object.entries(shares)) {
      const whole = plans.get(tier)?.[isTrial ? 'trial' : 'month'][unit] ?? null
      if (whole === null && share > 0) return null
      limit += share * (whole ?? 0)
    }
    return Math.max(0, Math.floor(limit))
  }
  const computeLimits = (slice: AllowanceSlice) =>
    computeEachUnit((unit) => computeLimit(unit, slice))

  return ({ tier, slices }, at) => {
    const month = plans.get(tier)?.month ?? { tokens: null, nanos: null }
    const calendar = { name: namePeriods(at).month, ...computeSpan('month', at), earlier: [] }
    // Slices of an earlier subscription do not limit the free plan.
    const isFree = tier === FREE && month.nanos !== null
    if (slices === null || isFree) return { ...calendar, ...month, isPaid: false, isFree }
    const begun = slices.filter(({ start }) => start <= at)
    const current = begun.findLast(isUsableSlice)
    if (current === undefined)
      return { ...calendar, ...chooseLower({ tokens: 0, nanos: 0 }, month), isPaid: true, isFree }
    const { start, end, isTrial } = current
    const otherSlices = begun.filter((one) => one !== current)
    const reduced = otherSlices.findIndex(({ isReduced }) => isReduced === true)
    const overused = reduced === -1 ? [] : otherSlices.slice(reduced)
    return {
      name: sliceName(start),
      start,
      end,
      isPaid: true,
      isFree,
      ...(isTrial ? computeLimits(current) : chooseLower(computeLimits(current), month)),
      earlier: overused.map((one) => ({ name: sliceName(one.start), ...computeLimits(one) })),
    }
  }
}

const computeEachUnit = (compute: (unit: keyof Limits) => number | null): Limits => ({
  tokens: compute('tokens'),
  nanos: compute('nanos'),
})

/** Returns the lower limit of each unit. If the plan has no limit in a unit, its slices have none. */
const chooseLower = (bought: Limits, plan: Limits): Limits =>
  computeEachUnit((unit) => {
    const limit = plan[unit]
    return limit === null ? null : Math.min(limit, bought[unit] ?? Number.POSITIVE_INFINITY)
  })

const sliceName = (start: Instant) => `${start}/slice`

/** Subtracts the overuse of earlier slices from the budget. */
export async function subtractOveruse(
  { db, run }: BudgetTx,
  userId: string,
  plan: PlanBudget,
): Promise<PlanBudget> {
  const { earlier } = plan
  if (earlier.length === 0) return plan
  const names = earlier.map(({ name }) => name)
  const query = db
    .selectFrom('usage_budgets')
    .select(['period', 'used_tokens as tokens', 'used_nanos as nanos'])
    .where('user_id', '=', userId)
    .where('scope', '=', '')
    .where('period', 'in', names)
  const { rows } = await run(query.compile())
  const computeRest = (unit: keyof Limits) => {
    let over = 0
    for (const { name, [unit]: limit } of earlier) {
      const used = rows.find(({ period }) => period === name)?.[unit] ?? 0
      over = limit === null ? 0 : Math.max(0, over + used - limit)
    }
    return plan[unit] === null ? null : Math.max(0, plan[unit] - over)
  }
  return { ...plan, ...computeEachUnit(computeRest) }
}

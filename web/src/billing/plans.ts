// Plans as the API tells them; nothing here knows one by its name.
import type { Entitlement, Plan } from '../api/types.ts'

export function isFree({ price, price_monthly, price_yearly }: Plan): boolean {
  return price === 0 && !price_monthly && !price_yearly
}

/** The plan to point at: the lowest that is paid for. */
export function featuredPlan(plans: readonly Plan[]): Plan | undefined {
  return plans.find((plan) => !isFree(plan))
}

/** True while more is open than to everybody; also what the free plan grants can be something. */
export function hasPaidPlan(
  plans: readonly Plan[],
  tier: string,
  entitlements: readonly Entitlement[],
): boolean {
  return entitlements.length > 0 && !plans.some((plan) => plan.tier === tier && isFree(plan))
}

/** A plan's name; of one that is not on offer any more, the tier with a capital letter. */
export function planName(plans: readonly Plan[], tier: string): string {
  return (
    plans.find((plan) => plan.tier === tier)?.name ?? tier.charAt(0).toUpperCase() + tier.slice(1)
  )
}

/** The names of the plans that have all of it, the lowest first. */
export function findPlans(plans: readonly Plan[], ...entitlements: Entitlement[]): string[] {
  const hasAll = ({ grants }: Plan) => entitlements.every((one) => grants.includes(one))
  return plans.filter(hasAll).map(({ name }) => name)
}

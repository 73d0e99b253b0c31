// Helpers for the plans of the API. No plan is hard-coded.
import type { Entitlement, Plan } from '../api/types.ts'

export function isFree({ price, price_monthly, price_yearly }: Plan): boolean {
  return price === 0 && !price_monthly && !price_yearly
}

/** Returns the plan to highlight: the lowest paid one. */
export function featuredPlan(plans: readonly Plan[]): Plan | undefined {
  return plans.find((plan) => !isFree(plan))
}

/** Returns whether the user has more than the free plan, which may grant something too. */
export function hasPaidPlan(
  plans: readonly Plan[],
  tier: string,
  entitlements: readonly Entitlement[],
): boolean {
  return entitlements.length > 0 && !plans.some((plan) => plan.tier === tier && isFree(plan))
}

/** Returns a plan's name, or the capitalized tier of a plan that is no longer sold. */
export function planName(plans: readonly Plan[], tier: string): string {
  return (
    plans.find((plan) => plan.tier === tier)?.name ?? tier.charAt(0).toUpperCase() + tier.slice(1)
  )
}

/** Returns the lowest plan with all entitlements. */
export function findPlan(plans: readonly Plan[], ...entitlements: Entitlement[]): Plan | undefined {
  const hasAll = ({ grants }: Plan) => entitlements.every((one) => grants.includes(one))
  return plans.find(hasAll)
}

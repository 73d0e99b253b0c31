import { useQuery } from '@tanstack/react-query'
import { plansQuery } from '../api/queries.ts'
import type { Plan } from '../api/types.ts'
import { t } from '../language/text.ts'
import { findPlan, isFree } from './plans.ts'

/** Returns the plans; empty until they have loaded and after a failure. */
export function usePlans(): Plan[] {
  return useQuery(plansQuery).data?.plans ?? []
}

/** Returns the plan for sentences such as `API keys are part of …`. */
export function useFullPlan(): string {
  return findPlan(usePlans(), 'ai', 'rag', 'api_keys')?.name ?? t('a paid plan')
}

/** Returns whether a free plan lets people ask something. */
export function useFreeTry(): boolean {
  return usePlans().some((plan) => isFree(plan) && plan.grants.includes('home'))
}

import { useQuery } from '@tanstack/react-query'
import { plansQuery } from '../api/queries.ts'
import type { Plan } from '../api/types.ts'
import { findPlans } from './plans.ts'

/** Returns the plans; empty until they have loaded and after a failure. */
export function usePlans(): Plan[] {
  return useQuery(plansQuery).data?.plans ?? []
}

/** Returns the plan for sentences such as `Chat, documents and API keys are part of …`. */
export function useFullPlan(): string {
  return findPlans(usePlans(), 'ai', 'rag', 'api_keys')[0] ?? 'a paid plan'
}

import { useQuery } from '@tanstack/react-query'
import { plansQuery } from '../api/queries.ts'
import type { Plan } from '../api/types.ts'
import { findPlans } from './plans.ts'

/** Empty until they have come, and while they cannot be had. */
export function usePlans(): Plan[] {
  return useQuery(plansQuery).data?.plans ?? []
}

/** For sentences such as `Chat, documents and API keys come with …`. */
export function useFullPlan(): string {
  return findPlans(usePlans(), 'ai', 'rag', 'api_keys')[0] ?? 'a paid plan'
}

import { useQuery } from '@tanstack/react-query'
import { subscriptionQuery } from '../api/queries.ts'
import { describeRenewal } from './describe-renewal.ts'

/** Returns when an allowance renews, or ends with its plan. */
export function useRenewal(renewsAt: string | null): string {
  const { data } = useQuery(subscriptionQuery)
  const end = data?.trial_ends_at ?? data?.current_period_end ?? null
  return describeRenewal(renewsAt, data?.cancel_at_period_end ? end : null)
}

import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keysQuery } from '../api/queries.ts'
import type { Entitlement, GetUsageResponse } from '../api/types.ts'
import { hasPaidPlan } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { documentsQuery } from '../documents/documents-query.ts'
import { useUser } from '../session/user.ts'

export type Step = {
  done: boolean
  label: string
  hint: string
  to: '/account' | '/pricing' | '/documents' | '/ask' | '/api-keys'
}

/** The newcomer's steps; null until it is known which are done, so that they never show for a moment to who has done them all. */
export function useSteps(usage: UseQueryResult<GetUsageResponse>): Step[] | null {
  const user = useUser()
  const { entitlements } = user
  const isPaid = hasPaidPlan(usePlans(), user.subscription_tier, entitlements)
  const hasDocuments = entitlements.includes('rag')
  const hasKeys = entitlements.includes('api_keys')
  const documents = useQuery({ ...documentsQuery(1), enabled: hasDocuments })
  const keys = useQuery({ ...keysQuery, enabled: hasKeys })
  if (usage.isPending || (hasDocuments && documents.isPending) || (hasKeys && keys.isPending))
    return null

  const steps: (Step & { needs?: Entitlement })[] = [
    {
      done: user.is_verified,
      label: 'Verify your email address',
      hint: 'Open the link that we sent you',
      to: '/account',
    },
    {
      done: isPaid,
      label: 'Take a plan',
      hint: 'Opens the models, documents and keys',
      to: '/pricing',
    },
    {
      needs: 'rag',
      done: (documents.data?.total ?? 0) > 0,
      label: 'Bring a document',
      hint: 'PDF, Word or text, or paste some',
      to: '/documents',
    },
    {
      needs: 'rag',
      done: (usage.data?.totals.requests ?? 0) > 0,
      label: 'Ask a question',
      hint: 'And see the passages behind the answer',
      to: '/ask',
    },
    {
      needs: 'api_keys',
      done: (keys.data?.length ?? 0) > 0,
      label: 'Make an API key',
      hint: 'For your own programs',
      to: '/api-keys',
    },
  ]
  // What the plan does not have is no step of its user.
  return steps.filter(
    ({ needs }) => entitlements.length === 0 || needs === undefined || entitlements.includes(needs),
  )
}

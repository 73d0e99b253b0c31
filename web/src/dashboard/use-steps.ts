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

/** Steps for new users; null until their state is loaded, so that completed steps never flash. */
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
      hint: 'Open the link we emailed you',
      to: '/account',
    },
    {
      done: isPaid,
      label: 'Choose a plan',
      hint: 'Get models, documents and API keys',
      to: '/pricing',
    },
    {
      needs: 'rag',
      done: (documents.data?.total ?? 0) > 0,
      label: 'Upload a document',
      hint: 'PDF, Word or text, or paste text',
      to: '/documents',
    },
    {
      needs: 'rag',
      done: (usage.data?.totals.requests ?? 0) > 0,
      label: 'Ask a question',
      hint: 'See the passages behind the answer',
      to: '/ask',
    },
    {
      needs: 'api_keys',
      done: (keys.data?.length ?? 0) > 0,
      label: 'Create an API key',
      hint: 'For your own programs',
      to: '/api-keys',
    },
  ]
  // Skip steps that the plan does not include.
  return steps.filter(
    ({ needs }) => entitlements.length === 0 || needs === undefined || entitlements.includes(needs),
  )
}

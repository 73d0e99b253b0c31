import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { keysQuery } from '../api/queries.ts'
import type { Usage } from '../api/types.ts'
import { documentsQuery } from '../documents/documents-query.ts'
import { useUser } from '../session/user.ts'

export type Step = {
  done: boolean
  label: string
  hint: string
  to: '/account' | '/pricing' | '/documents' | '/ask' | '/api-keys'
}

/** The newcomer's steps; null until it is known which are done, so that they never show for a moment to who has done them all. */
export function useSteps(usage: UseQueryResult<Usage>): Step[] | null {
  const user = useUser()
  const paid = user.subscription_tier !== 'free'
  const documents = useQuery({ ...documentsQuery(1), enabled: paid })
  const keys = useQuery({ ...keysQuery, enabled: paid })
  if (usage.isPending || (paid && (documents.isPending || keys.isPending))) return null

  return [
    {
      done: user.is_verified,
      label: 'Verify your email address',
      hint: 'Open the link that we sent you',
      to: '/account',
    },
    { done: paid, label: 'Take a plan', hint: 'Opens the models, documents and keys', to: '/pricing' },
    {
      done: (documents.data?.total ?? 0) > 0,
      label: 'Bring a document',
      hint: 'PDF, Word or text, or paste some',
      to: '/documents',
    },
    {
      done: (usage.data?.totals.requests ?? 0) > 0,
      label: 'Ask a question',
      hint: 'And see the passages behind the answer',
      to: '/ask',
    },
    { done: (keys.data?.length ?? 0) > 0, label: 'Make an API key', hint: 'For your own programs', to: '/api-keys' },
  ]
}

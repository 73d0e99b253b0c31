import { useQuery } from '@tanstack/react-query'
import { isClosedInView } from '../api/problem.ts'
import { keysQuery } from '../api/queries.ts'
import type { Entitlement } from '../api/types.ts'
import { hasPaidPlan } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { t } from '../language/text.ts'
import { recentFilesQuery } from '../library/files-query.ts'
import { useUser } from '../session/user.ts'
import { recentConversationsQuery } from './queries.ts'

export type Step = {
  done: boolean
  label: string
  hint: string
  to: '/account' | '/pricing' | '/library' | '/home' | '/api-keys'
}

/** Steps for new users; null until their state is loaded, so that completed steps never flash. */
export function useSteps(): Step[] | null {
  const user = useUser()
  const { entitlements } = user
  const isPaid = hasPaidPlan(usePlans(), user.subscription_tier, entitlements)
  const has = (one: Entitlement) => entitlements.includes(one)
  const conversations = useQuery({ ...recentConversationsQuery, enabled: has('home') })
  const files = useQuery({ ...recentFilesQuery, enabled: has('library') })
  const keys = useQuery({ ...keysQuery, enabled: has('api_keys') })
  const isFirstLoad = [conversations, files, keys].some(
    ({ isFetched, isFetching }) => isFetching && !isFetched,
  )
  if (isFirstLoad) return null
  // A view of the account does not show what its user has done.
  if (isClosedInView(conversations.error ?? files.error)) return []

  const steps: (Step & { needs?: Entitlement })[] = [
    {
      done: user.is_verified,
      label: t('Verify your email address'),
      hint: t('Open the link we emailed you'),
      to: '/account',
    },
    {
      needs: 'library',
      done: (files.data?.total ?? 0) > 0,
      label: t('Upload a document'),
      hint: t('PDF, Word or text, or paste text'),
      to: '/library',
    },
    {
      needs: 'home',
      done: (conversations.data?.conversations.length ?? 0) > 0,
      label: t('Ask a question'),
      hint: t('See the sentence behind the answer'),
      to: '/home',
    },
    {
      done: isPaid,
      label: t('Choose a plan'),
      hint: t('A larger allowance, and an API'),
      to: '/pricing',
    },
    {
      needs: 'api_keys',
      done: (keys.data?.length ?? 0) > 0,
      label: t('Create an API key'),
      hint: t('For your own programs'),
      to: '/api-keys',
    },
  ]
  // Skip steps that the plan does not include.
  return steps.filter(({ needs }) => needs === undefined || has(needs))
}

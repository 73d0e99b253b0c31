import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { readQuery } from '../api/queries.ts'
import { readSpan } from '../usage/days.ts'

export const FAILURE_DAYS = 7
const FAILURES_SHOWN = 5

/** Its key begins as that of the side menu's list, so that both are invalidated together. */
export const recentConversationsQuery = readQuery(['conversations', 'recent'], '/api/conversations')

export const recentFailuresQuery = queryOptions({
  queryKey: ['calls', 'failed'],
  queryFn: ({ signal }) => {
    const query = { ...readSpan(FAILURE_DAYS), outcome: 'failed', limit: FAILURES_SHOWN } as const
    return api.get('/api/usage/calls', { query, signal })
  },
})

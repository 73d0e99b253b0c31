import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { listDays } from '../usage/days.ts'

export const FAILURE_DAYS = 7
const FAILURES_SHOWN = 5

/** Its key begins as that of the side menu's list, so that both are invalidated together. */
export const recentConversationsQuery = queryOptions({
  queryKey: ['conversations', 'recent'],
  queryFn: ({ signal }) => api.get('/api/conversations', { signal }),
})

export const recentFailuresQuery = queryOptions({
  queryKey: ['calls', 'failed'],
  queryFn: ({ signal }) => {
    const days = listDays(new Date(), FAILURE_DAYS)
    const query = {
      from: days[0],
      to: days.at(-1),
      outcome: 'failed' as const,
      limit: FAILURES_SHOWN,
    }
    return api.get('/api/usage/calls', { query, signal })
  },
})

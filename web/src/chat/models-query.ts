import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

/**
 * Which vendors the service has and which models they offer, in the order in which to show them. Unknown while loading, and when
 * it failed: the chat works without it, with what the service takes by itself.
 */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.get('/api/ai/models', { signal }),
  staleTime: 10 * 60_000,
})

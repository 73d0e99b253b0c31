import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

/**
 * Vendors and models in display order. The chat works without them, with the service's default
 * model.
 */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal }) => api.get('/api/ai/models', { signal }),
  staleTime: 10 * 60_000,
})

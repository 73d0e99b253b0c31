import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

export const setupQuery = queryOptions({
  queryKey: ['setup'],
  queryFn: ({ signal }) => api.get('/api/admin/setup', { signal }),
  staleTime: 0,
})

import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'

/** Its key begins as that of the side menu's list, so that both are invalidated together. */
export const recentConversationsQuery = queryOptions({
  queryKey: ['conversations', 'recent'],
  queryFn: ({ signal }) => api.get('/api/conversations', { signal }),
})

import { queryOptions } from '@tanstack/react-query'
import { api, request } from '../api/client.ts'
import type { Reply } from '../api/operation.ts'

const ADDRESS = '/api/rag/documents'
export const PAGE_SIZE = 20

/** Shares the list's key prefix, so that both are invalidated together. */
export const storageQuery = queryOptions({
  queryKey: ['documents', 'storage'],
  queryFn: ({ signal }) => api.get('/api/rag/storage', { signal }),
})

/** One page of the user's documents, newest first, and their total. Pages start at 1. */
export function documentsQuery(page: number) {
  return queryOptions({
    queryKey: ['documents', page],
    queryFn: async ({ signal }) => {
      const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }
      const response = await request('GET', ADDRESS, { query, signal })
      const documents = (await response.json()) as Reply<'GET', typeof ADDRESS>
      return { documents, total: Number(response.headers.get('x-total-count') ?? documents.length) }
    },
  })
}

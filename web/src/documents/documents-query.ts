import { queryOptions } from '@tanstack/react-query'
import { request } from '../api/client.ts'
import type { StoredDocument } from '../api/types.ts'

export const PAGE_SIZE = 20

/** One page of the caller's documents, newest first, and how many there are in all. Pages count from 1. */
export function documentsQuery(page: number) {
  return queryOptions({
    queryKey: ['documents', page],
    queryFn: async ({ signal }) => {
      const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }
      const response = await request('GET', '/api/rag/documents', { query, signal })
      const documents = (await response.json()) as StoredDocument[]
      return { documents, total: Number(response.headers.get('x-total-count') ?? documents.length) }
    },
  })
}

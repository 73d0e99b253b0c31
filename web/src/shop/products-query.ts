import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'

/** Products on sale in display order, then the retired ones. */
export const productsQuery = queryOptions({
  queryKey: ['shop', 'products'],
  queryFn: ({ signal }) => api.get('/api/admin/products', { signal }),
})

export function reloadProducts(): Promise<void> {
  return queries.invalidateQueries({ queryKey: productsQuery.queryKey })
}

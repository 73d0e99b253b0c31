import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { formatTier } from './amount.ts'

/** Products on sale in display order, then the retired ones. */
export const productsQuery = queryOptions({
  queryKey: ['shop', 'products'],
  queryFn: ({ signal }) => api.get('/api/admin/products', { signal }),
})

export function reloadProducts(): Promise<void> {
  return queries.invalidateQueries({ queryKey: productsQuery.queryKey })
}

/** Returns a function that names a tier; one that the shop no longer knows has no other name. */
export function useTierNames(): (tier: string) => string {
  const { data } = useQuery(productsQuery)
  const names = new Map(data?.products.map(({ tier, name }) => [tier, name]))
  return (tier) => names.get(tier) ?? formatTier(tier)
}

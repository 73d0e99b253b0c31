import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { StoreProduct } from '../api/types.ts'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { formatTier } from './amount.ts'

/** Products on sale in display order, then the retired ones. */
export const productsQuery = queryOptions({
  queryKey: ['shop', 'products'],
  queryFn: ({ signal }) => api.get('/api/admin/products', { signal }),
})

export function reloadProducts(): Promise<void> {
  return queries.invalidateQueries({ queryKey: productsQuery.queryKey })
}

/** Moves a product by one place in the shop. */
export async function moveProduct({ product, by }: Move, products: readonly StoreProduct[]) {
  const { tier, revision, retired_at, is_for_sale, ...form } = product
  const position = products.indexOf(product) + by
  await api.put('/api/admin/products/{tier}', { ...form, revision, position }, { path: { tier } })
  await reloadProducts()
  showToast(t('{0} is now in place {1}', product.name, position + 1))
}

export type Move = { product: StoreProduct; by: 1 | -1 }

/** Returns a function that names a tier; one that the shop no longer knows has no other name. */
export function useTierNames(): (tier: string) => string {
  const { data } = useQuery(productsQuery)
  const names = new Map(data?.products.map(({ tier, name }) => [tier, name]))
  return (tier) => names.get(tier) ?? formatTier(tier)
}

import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { reloadProducts } from './products-query.ts'

/** A product's releases, newest first. */
export function releasesQuery(tier: string) {
  return queryOptions({
    queryKey: ['shop', 'releases', tier],
    queryFn: ({ signal }) =>
      api.get('/api/admin/products/{tier}/releases', { path: { tier }, signal }),
  })
}

/** A product is for sale once it has a published release. */
export async function reloadReleases(tier: string): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: releasesQuery(tier).queryKey }),
    reloadProducts(),
  ])
}

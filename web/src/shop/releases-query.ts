import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'

/** A product's releases, newest first. */
export function releasesQuery(tier: string) {
  return queryOptions({
    queryKey: ['shop', 'releases', tier],
    queryFn: ({ signal }) =>
      api.get('/api/admin/products/{tier}/releases', { path: { tier }, signal }),
  })
}

export function reloadReleases(tier: string): Promise<void> {
  return queries.invalidateQueries({ queryKey: releasesQuery(tier).queryKey })
}

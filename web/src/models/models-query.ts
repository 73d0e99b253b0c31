import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { Switch } from '../api/types.ts'

/** Circuits and switches change by themselves. */
const REFRESH_MS = 10_000

export const modelsQuery = queryOptions({
  queryKey: ['admin', 'models'],
  queryFn: ({ signal }) => api.get('/api/admin/models', { signal }),
  refetchInterval: REFRESH_MS,
})

export const switchesQuery = queryOptions({
  queryKey: ['admin', 'switches'],
  queryFn: ({ signal }) => api.get('/api/admin/switches', { signal }),
  refetchInterval: REFRESH_MS,
})

/** Shows the new states, and no effect that was computed before the change. */
export async function refreshModels(): Promise<void> {
  queries.removeQueries({ queryKey: ['admin', 'switch-effect'] })
  await Promise.all([
    queries.invalidateQueries({ queryKey: modelsQuery.queryKey }),
    queries.invalidateQueries({ queryKey: switchesQuery.queryKey }),
  ])
}

export async function switchOn({ kind, subject }: Pick<Switch, 'kind' | 'subject'>): Promise<void> {
  await api.delete('/api/admin/switches', undefined, { query: { kind, subject } })
  await refreshModels()
}

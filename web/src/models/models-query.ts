import { api } from '../api/client.ts'
import { queries, readQuery } from '../api/queries.ts'
import type { Switch } from '../api/types.ts'

/** Circuits and switches change by themselves. */
const REFRESH_MS = 10_000

export const modelsQuery = {
  ...readQuery(['admin', 'models'], '/api/admin/models'),
  refetchInterval: REFRESH_MS,
}

export const switchesQuery = {
  ...readQuery(['admin', 'switches'], '/api/admin/switches'),
  refetchInterval: REFRESH_MS,
}

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

import { api, request } from '../api/client.ts'
import { endlessQuery } from '../api/endless-query.ts'
import { readQuery } from '../api/queries.ts'
import type { UsageOutcome } from '../api/types.ts'
import { saveFile } from '../components/save-file.ts'
import { readSpan } from '../usage/days.ts'
import { parseSearch } from './parse-search.ts'

export type CallFilters = {
  days: number
  outcome?: UsageOutcome | undefined
  model?: string | undefined
  key?: string | undefined
  q?: string | undefined
}

const PAGE = 50

function buildQuery({ days, outcome, model, key, q }: CallFilters) {
  return { ...readSpan(days), outcome, model, key, ...(q === undefined ? {} : parseSearch(q)) }
}

/** Pages of calls of the last `days` days including today, newest first. */
export function callsQuery(filters: CallFilters) {
  const query = buildQuery(filters)
  return endlessQuery(['calls', query], (cursor, signal) =>
    api.get('/api/usage/calls', { query: { ...query, limit: PAGE, cursor }, signal }),
  )
}

/** An ended call never changes. */
export function callQuery(id: string) {
  return {
    ...readQuery(['call', id], '/api/usage/calls/{id}', { path: { id } }),
    staleTime: Number.POSITIVE_INFINITY,
  }
}

export async function downloadCalls(filters: CallFilters): Promise<void> {
  await saveFile(
    await request('GET', '/api/usage/calls', { query: buildQuery(filters), accept: 'text/csv' }),
    'calls.csv',
  )
}

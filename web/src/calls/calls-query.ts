import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api, request } from '../api/client.ts'
import type { UsageOutcome } from '../api/types.ts'
import { saveFile } from '../components/save-file.ts'
import { listDays } from '../usage/days.ts'
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
  const span = listDays(new Date(), days)
  return {
    from: span[0],
    to: span.at(-1),
    outcome,
    model,
    key,
    ...(q === undefined ? {} : parseSearch(q)),
  }
}

/** Pages of calls of the last `days` days including today, newest first. */
export function callsQuery(filters: CallFilters) {
  const query = buildQuery(filters)
  return infiniteQueryOptions({
    queryKey: ['calls', query],
    queryFn: ({ signal, pageParam }) =>
      api.get('/api/usage/calls', { query: { ...query, limit: PAGE, cursor: pageParam }, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
  })
}

/** An ended call never changes. */
export function callQuery(id: string) {
  return queryOptions({
    queryKey: ['call', id],
    queryFn: ({ signal }) => api.get('/api/usage/calls/{id}', { path: { id }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export async function downloadCalls(filters: CallFilters): Promise<void> {
  await saveFile(
    await request('GET', '/api/usage/calls', { query: buildQuery(filters), accept: 'text/csv' }),
    'calls.csv',
  )
}

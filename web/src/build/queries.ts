import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { readSpan } from '../usage/days.ts'

/** The days of the overview, as many as its list of failed calls has. */
export { FAILURE_DAYS as DAYS } from '../overview/queries.ts'

export function durationsQuery(days: number) {
  const query = readSpan(days)
  return queryOptions({
    queryKey: ['usage', 'durations', query],
    queryFn: ({ signal }) => api.get('/api/usage/durations', { query, signal }),
  })
}

export const planModelsQuery = queryOptions({
  queryKey: ['models', 'plans'],
  queryFn: ({ signal }) => api.get('/api/ai/plan-models', { signal }),
  staleTime: 60_000,
})

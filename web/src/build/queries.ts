import { readQuery } from '../api/queries.ts'
import { readSpan } from '../usage/days.ts'

/** The days of the overview, as many as its list of failed calls has. */
export { FAILURE_DAYS as DAYS } from '../overview/queries.ts'

export function durationsQuery(days: number) {
  const query = readSpan(days)
  return readQuery(['usage', 'durations', query], '/api/usage/durations', { query })
}

export const planModelsQuery = {
  ...readQuery(['models', 'plans'], '/api/ai/plan-models'),
  staleTime: 60_000,
}

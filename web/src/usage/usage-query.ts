import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { UsageGrouping } from '../api/types.ts'
import { listDays } from './days.ts'

export const allowanceQuery = queryOptions({
  queryKey: ['usage', 'allowance'],
  queryFn: ({ signal }) => api.get('/api/usage/allowance', { signal }),
})

export type Grouping = UsageGrouping

/** Usage of the last `days` UTC days, including today. */
export function usageQuery(days: number, group_by: Grouping) {
  const span = listDays(new Date(), days)
  const from = span[0]
  const to = span.at(-1)
  return queryOptions({
    queryKey: ['usage', from, to, group_by],
    queryFn: ({ signal }) => api.get('/api/usage', { query: { from, to, group_by }, signal }),
  })
}

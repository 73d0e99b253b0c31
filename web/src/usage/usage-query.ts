import { queryOptions } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import type { UsageGrouping } from '../api/types.ts'
import { readSpan } from './days.ts'

export const allowanceQuery = queryOptions({
  queryKey: ['usage', 'allowance'],
  queryFn: ({ signal }) => api.get('/api/usage/allowance', { signal }),
})

/** Usage of the last `days` UTC days, including today. */
export function usageQuery(days: number, group_by: UsageGrouping) {
  const query = { ...readSpan(days), group_by }
  return queryOptions({
    queryKey: ['usage', query],
    queryFn: ({ signal }) => api.get('/api/usage', { query, signal }),
  })
}

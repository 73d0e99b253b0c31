import { readQuery } from '../api/queries.ts'
import type { UsageGrouping } from '../api/types.ts'
import { readSpan } from './days.ts'

export const allowanceQuery = readQuery(['usage', 'allowance'], '/api/usage/allowance')

/** Usage of the last `days` UTC days, including today. */
export function usageQuery(days: number, group_by: UsageGrouping) {
  const query = { ...readSpan(days), group_by }
  return readQuery(['usage', query], '/api/usage', { query })
}

/** Calls, one by one and as sums of days. A day that goes leaves its sums, without a person, in its month. */

import { sql } from 'kysely'
import type { Tables } from '#platform/db/tables.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import type { Config } from '#src/config.ts'
import './tables.ts'
import { archiveDays } from './archive.ts'

export function agedUsage({ retention }: Pick<Config, 'retention'>): Aged[] {
  const kept = { days: retention.usageDays, setting: 'RETENTION_USAGE_DAYS' }
  return [
    byAge({ ...kept, what: 'calls', table: 'usage_records', key: ['user_id', 'id'], at: 'created_at' }),
    {
      ...{ ...kept, what: 'days of usage', table: 'usage_days' },
      removeSlice: (db, before) => archiveDays(db, sql`day < ${before.slice(0, 10)}`),
    },
    // Emptied with the days of users, which go first.
    byAge({
      ...{ ...kept, what: 'sums of everybody’s days', table: 'usage_totals', at: 'day', isText: true },
      key: ['day', 'slot', 'model', 'vendor', 'tier', 'outcome'],
    }),
    past('usage_budgets', 'budgets of past months', ['user_id', 'scope', 'period']),
    past('usage_alerts', 'alerts of past months', ['user_id', 'period', 'percent', 'limit_nanos']),
  ]
}

/** Periods begin with their first day, so their text is in the order of time. */
function past<T extends 'usage_budgets' | 'usage_alerts'>(
  table: T,
  what: string,
  key: readonly (keyof Tables[T] & string)[],
): Aged {
  return byAge({ what, days: 62, setting: null, table, key, at: 'period' as keyof Tables[T] & string, isText: true })
}

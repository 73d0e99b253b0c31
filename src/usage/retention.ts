/** Retention of calls and of their sums by day. A removed day is added to its anonymous monthly sums. */

import { sql } from 'kysely'
import type { Config } from '#config/config.ts'
import type { Tables } from '#platform/db/tables.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'
import { archiveDays } from './archive.ts'

export function agedUsage({ retention }: Pick<Config, 'retention'>): Aged[] {
  const age = { days: retention.usageDays, setting: 'RETENTION_DAYS' }
  return [
    byAge({
      ...age,
      what: 'calls',
      table: 'usage_records',
      key: ['user_id', 'id'],
      at: 'created_at',
    }),
    {
      ...age,
      what: 'days of usage',
      table: 'usage_days',
      removeSlice: (db, before) => archiveDays(db, sql`day < ${before.slice(0, 10)}`),
    },
    // The rows of users' days are removed first, which subtracts them from these sums.
    byAge({
      ...age,
      what: 'sums of all users’ days',
      table: 'usage_totals',
      at: 'day',
      isText: true,
      key: ['day', 'slot', 'model', 'vendor', 'tier', 'outcome'],
    }),
    // The use of a billing period counts for as long as its payment can be refunded.
    removeOldPeriods('usage_budgets', 'budgets of past periods', 400, [
      'user_id',
      'scope',
      'period',
    ]),
    removeOldPeriods('usage_alerts', 'alerts of past periods', 62, [
      'user_id',
      'period',
      'percent',
      'limit_nanos',
    ]),
  ]
}

/** Compares periods as texts, because their names begin with their first day. */
function removeOldPeriods<T extends 'usage_budgets' | 'usage_alerts'>(
  table: T,
  what: string,
  days: number,
  key: readonly (keyof Tables[T] & string)[],
): Aged {
  return byAge({
    what,
    days,
    setting: null,
    table,
    key,
    at: 'period' as keyof Tables[T] & string,
    isText: true,
  })
}

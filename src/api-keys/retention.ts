import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/** A revoked key stays as long as the records of its calls, which refer to it. */
export function agedKeys({ retention }: Pick<Config, 'retention'>): Aged[] {
  const period = { days: retention.usageDays, setting: 'RETENTION_DAYS' }
  return [
    byAge({
      ...period,
      what: 'revoked keys',
      table: 'api_keys',
      key: ['user_id', 'id'],
      at: 'revoked_at',
    }),
  ]
}

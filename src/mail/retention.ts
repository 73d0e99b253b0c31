import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/** A case that is found again after this time is reported again. */
export function agedMail({ retention }: Pick<Config, 'retention'>): Aged[] {
  const period = { days: retention.eventsDays, setting: 'RETENTION_DAYS' }
  return [
    byAge({
      ...period,
      what: 'notices to the operator',
      table: 'operator_notices',
      key: ['subject'],
      at: 'sent_at',
    }),
    byAge({ ...period, what: 'emails', table: 'emails', key: ['owner', 'id'], at: 'created_at' }),
  ]
}

import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/** A matter that comes up again so much later is told again. */
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
  ]
}

import './tables.ts'
import type { Config } from '#config/config.ts'
import { type Aged, byAge } from '../retention.ts'

export const agedOutages = ({ retention }: Pick<Config, 'retention'>): Aged[] => [
  byAge({
    days: retention.eventsDays,
    setting: 'RETENTION_DAYS',
    what: 'outages of the service',
    table: 'service_outages',
    key: ['part', 'began_at'],
    at: 'ended_at',
  }),
]

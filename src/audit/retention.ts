import type { Config } from '#config/config.ts'
import type { Aged } from '#platform/retention.ts'
import { cutChainsSlice } from './audit.ts'

export function agedAudit({ retention }: Pick<Config, 'retention'>): Aged[] {
  const period = { days: retention.auditDays, setting: 'RETENTION_DAYS' }
  return [{ ...period, what: 'security events', table: 'audit_log', removeSlice: cutChainsSlice }]
}

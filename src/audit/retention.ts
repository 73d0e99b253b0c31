import type { Aged } from '#platform/retention.ts'
import type { Config } from '#src/config.ts'
import { cutChainsSlice } from './audit.ts'

export function agedAudit({ retention }: Pick<Config, 'retention'>): Aged[] {
  const kept = { days: retention.auditDays, setting: 'RETENTION_AUDIT_DAYS' }
  return [{ ...kept, what: 'security events', table: 'audit_log', removeSlice: cutChainsSlice }]
}

import type { Instant } from '#platform/clock.ts'

type AuditLogTable = {
  position: number
  at: Instant
  actor: string | null
  action: string
  subject: string | null
  /** Salted hash of `details`; what the chain covers, so that details can be erased and the chain still holds. */
  commitment: string
  salt: string | null
  details: string | null
  previous: string
  hash: string
}

type AuditHeadTable = { id: number; position: number; hash: string }

type AuditPersonsTable = { user_id: string; pseudonym: string }

declare module '#platform/db/tables.ts' {
  interface Tables {
    audit_log: AuditLogTable
    audit_head: AuditHeadTable
    audit_persons: AuditPersonsTable
  }
}

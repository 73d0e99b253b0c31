import type { Instant } from '#platform/clock.ts'

type AuditLogTable = {
  chain: number
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

/** Where a chain ends, and after which entry it begins, once its older ones were taken away. */
type AuditHeadsTable = {
  chain: number
  position: number
  hash: string
  start: number
  start_hash: string
  start_seal: string
}

type AuditPersonsTable = { user_id: string; pseudonym: string }

declare module '#platform/db/tables.ts' {
  interface Tables {
    audit_log: AuditLogTable
    audit_heads: AuditHeadsTable
    audit_persons: AuditPersonsTable
  }
}

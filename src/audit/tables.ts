import type { Generated } from 'kysely'
import type { Instant } from '#platform/clock.ts'

type AuditLogTable = {
  chain: number
  /** In the order in which a process wrote them. */
  id: string
  /** In its chain; null until the entry is linked into it. */
  position: Generated<number | null>
  at: Instant
  actor: string | null
  action: string
  subject: string | null
  /** Salted hash of `details`; what the mark covers, so that details can be erased and the chain still holds. */
  commitment: string
  salt: string | null
  details: string | null
  /** Keyed hash of the entry alone. */
  mark: string
  /** Keyed hash of the entry and of the one before it; null until it is linked. */
  hash: Generated<string | null>
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

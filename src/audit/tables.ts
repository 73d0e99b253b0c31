import type { Generated } from 'kysely'
import type { Instant } from '#platform/clock.ts'

type AuditLogTable = {
  chain: number
  /** Sorts in the order in which a process wrote the entries. */
  id: string
  /** The position in its chain; null until the entry is linked. */
  position: Generated<number | null>
  at: Instant
  actor: string | null
  action: string
  subject: string | null
  /**
   * Salted hash of `details`. The mark covers this hash, so that details can be erased while the
   * chain stays valid.
   */
  commitment: string
  salt: string | null
  details: string | null
  /** Keyed hash of the entry itself. */
  mark: string
  /** Keyed hash of the entry and of the one before it; null until it is linked. */
  hash: Generated<string | null>
}

/** The end of a chain, and the entry after which it begins when older ones were removed. */
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

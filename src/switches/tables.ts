import type { Instant } from '#platform/clock.ts'

export type SwitchKind = 'user' | 'key' | 'model' | 'vendor'

/** One row per switched-off item; none for an item that is on. */
type SwitchesTable = {
  kind: SwitchKind
  /** The id of a user or a key, the name of a vendor, or a model's name or pattern. */
  subject: string
  /** The user, for switches of a user or a key; otherwise null. */
  user_id: string | null
  /** The reason shown to rejected callers. */
  reason: string
  set_at: Instant
}

declare module '#platform/db/tables.ts' {
  interface Tables {
    switches: SwitchesTable
  }
}

export type { SwitchesTable }

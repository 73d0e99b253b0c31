import type { Json } from './db/tables.ts'
import type { Lane } from './jobs/lanes.ts'

type JobsTable = {
  id: string
  kind: string
  /**
   * The lane of the job's kind, for commands, which have no handlers. Null for jobs that a command
   * enqueued.
   */
  lane: Lane | null
  payload_json: Json<object>
  dedupe_key: string | null
  status: 'queued' | 'dead'
  run_at: string
  leased_until: string | null
  lease_token: string | null
  attempts: number
  last_error: string | null
  /** The trace that enqueued the job, as W3C's `traceparent`. */
  trace_parent: string | null
  created_at: string
}

type InboxTable = {
  source: string
  event_id: string
  payload_json: Json<object>
  received_at: string
  handled_at: string | null
}

type SecretsTable = { name: string; value: Uint8Array; created_at: string }

/** The kind of a name. Each kind is a separate namespace. */
export type LookupKind = 'email' | 'oauth' | 'passkey' | 'license' | 'payment'

type LookupsTable = { name: string; kind: LookupKind; owner: string }

/** One row, written to check that the database accepts writes. */
type WriteProbeTable = { id: number; written_at: string }

/** The newest complete backup of each place. */
type BackupsTable = { place: string; made_at: string }

declare module './db/tables.ts' {
  interface Tables {
    jobs: JobsTable
    inbox: InboxTable
    secrets: SecretsTable
    lookups: LookupsTable
    write_probe: WriteProbeTable
    backups: BackupsTable
  }
}

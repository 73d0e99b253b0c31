import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/** A user's next upload deletes older jobs; this covers users without one. */
export function agedRag(): Aged[] {
  const rule = { what: 'finished ingest jobs', days: 7, setting: null }
  return [byAge({ ...rule, table: 'rag_jobs', key: ['user_id', 'id'], at: 'finished_at' })]
}

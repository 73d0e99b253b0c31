import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/** What became of an upload is asked for while it is new; whoever uploads again takes older ones away themselves. */
export function agedRag(): Aged[] {
  const kept = { what: 'finished ingest jobs', days: 7, setting: null }
  return [byAge({ ...kept, table: 'rag_jobs', key: ['user_id', 'id'], at: 'finished_at' })]
}

import { type Aged, byAge } from '#platform/retention.ts'
import './tables.ts'

/**
 * Clients poll the result of an upload while it is new. A user's next upload deletes older jobs, so
 * this only covers users without a further upload.
 */
export function agedRag(): Aged[] {
  const rule = { what: 'finished ingest jobs', days: 7, setting: null }
  return [byAge({ ...rule, table: 'rag_jobs', key: ['user_id', 'id'], at: 'finished_at' })]
}

// Whether the tables are spread over many servers (Citus), where a statement may lock rows of one of them only.
import { sql } from 'kysely'
import type { Run } from './adapter.ts'
import { type Db, findDialect } from './db.ts'

/** By the database's adapter: laid out before the first start, and never while a service runs. */
const known = new WeakMap<object, boolean>()

export async function isCluster(db: Db, run: Run): Promise<boolean> {
  if (findDialect(db) !== 'postgres') return false
  const { adapter } = db.getExecutor()
  const cached = known.get(adapter)
  if (cached !== undefined) return cached
  const { rows } = await run(sql`select 1 from pg_extension where extname = 'citus'`.compile(db))
  known.set(adapter, rows.length > 0)
  return rows.length > 0
}

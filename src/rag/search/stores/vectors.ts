import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { ByteVectors, type ByteVectorsOptions } from './bytes.ts'
import { openPgvector, type PgvectorOptions } from './pgvector.ts'
import type { VectorStore } from './vector-store.ts'

/** Opens pgvector where the database has it, else the byte store. */
export async function openVectors(
  { db }: { db: Db },
  options: PgvectorOptions & ByteVectorsOptions = {},
): Promise<VectorStore> {
  const pgvector = await openPgvector({ db }, options)
  if (pgvector === undefined) return new ByteVectors({ db }, options)
  // From a copy of SQLite, or a server without pgvector; the rebuild never reads them.
  const { rows } = await sql`select from rag_vectors limit 1`.execute(db)
  if (rows.length > 0) await sql`truncate table rag_vectors`.execute(db)
  return pgvector
}

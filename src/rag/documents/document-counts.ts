/** Counts of all users' documents, for the operator. */
import { sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { formatUtcDay } from '#platform/db/time.ts'
import '../tables.ts'

/** Counts the documents that were added on each UTC day, without those deleted since. */
export async function countDocumentsByDay(
  db: Db,
  { from, before }: { from: Instant; before: Instant },
): Promise<{ day: string; documents: number }[]> {
  const rows = await db
    .selectFrom('rag_documents')
    .select((e) => [
      formatUtcDay(db, 'created_at').as('day'),
      e.fn.countAll<number>().as('documents'),
    ])
    .where('created_at', '>=', from)
    .where('created_at', '<', before)
    .groupBy(sql`1`)
    .execute()
  return rows.map(({ day, documents }) => ({ day, documents: Number(documents) }))
}

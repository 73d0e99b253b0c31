/** The documents of all users for the operator, without names, metadata and texts. */
import { sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { encodeCursor, readCursor } from '#platform/http/keyset.ts'
import '../tables.ts'

export type ListedDocument = {
  user_id: string
  id: string
  created_at: Instant
  characters: number
  /** Of the stored file; null for a text. */
  file_bytes: number | null
  chunks: number
}

/** Returns documents added in the span, newest first. @throws Problem 422 for an invalid cursor */
export async function listNewDocuments(
  db: Db,
  { from, before }: { from: Instant; before: Instant },
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<{ documents: ListedDocument[]; next_cursor: string | null }> {
  const after = cursor === undefined ? null : readPlace(cursor)
  const rows = await db
    .selectFrom('rag_documents as d')
    .leftJoin('rag_originals as o', (join) =>
      join.onRef('o.user_id', '=', 'd.user_id').onRef('o.id', '=', 'd.original_id'),
    )
    .select(['d.user_id', 'd.id', 'd.created_at', 'd.characters', 'd.chunks', 'o.bytes'])
    .where('d.created_at', '>=', from)
    .where('d.created_at', '<', before)
    .$if(after !== null, (query) =>
      query
        // The index is by time only.
        .where('d.created_at', '<=', after?.at ?? '')
        .where(
          sql<boolean>`(d.created_at, d.user_id, d.id) < (${after?.at}, ${after?.userId}, ${after?.id})`,
        ),
    )
    .orderBy('d.created_at', 'desc')
    .orderBy('d.user_id', 'desc')
    .orderBy('d.id', 'desc')
    .limit(limit)
    .execute()
  const last = rows.length < limit ? undefined : rows.at(-1)
  return {
    documents: rows.map(({ characters, chunks, bytes, ...row }) => ({
      ...row,
      characters: Number(characters),
      file_bytes: bytes === null ? null : Number(bytes),
      chunks: Number(chunks),
    })),
    next_cursor: last === undefined ? null : formatPlace(last),
  }
}

/** The ids of documents are unique for each user only. */
const formatPlace = ({
  created_at,
  user_id,
  id,
}: Pick<ListedDocument, 'created_at' | 'user_id' | 'id'>) =>
  encodeCursor({ at: created_at, id: `${user_id}/${id}` })

function readPlace(cursor: string): { at: Instant; userId: string; id: string } {
  const { at, id: both } = readCursor(cursor)
  const [userId = '', id = ''] = both.split('/')
  return { at, userId, id }
}

/** The list of a user's conversations: the pinned ones, then the newest first. */
import { sql } from 'kysely'
import { type Db, findDialect } from '#platform/db/db.ts'
import { isAfterCursor, nextCursor } from '#platform/http/keyset.ts'
import { type Conversation, openConversation, type StoreDeps } from './conversation-store.ts'
import { listRunning } from './message-store.ts'

export const PAGE_SIZE = 50

export type ListFilter = { collection?: string | undefined; isArchived: boolean }

export type Listed = Conversation & { isRunning: boolean }

/** The first page also has all pinned conversations, whose number is limited. */
export async function listConversations(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  filter: ListFilter,
  cursor?: string,
): Promise<{ conversations: Listed[]; next_cursor: string | null }> {
  const { db } = deps
  const pinned =
    cursor === undefined
      ? await select(db, userId, filter).where('pinned_at', 'is not', null).execute()
      : []
  const rows = await select(db, userId, filter)
    .where('pinned_at', 'is', null)
    .where(isAfterCursor(cursor, ['updated_at', 'id']))
    .limit(PAGE_SIZE)
    .execute()
  const running = await listRunning(db, userId)
  return {
    conversations: [...pinned, ...rows].map((row) => ({
      ...openConversation(deps, row),
      isRunning: running.has(row.id),
    })),
    next_cursor: nextCursor(
      rows.map(({ updated_at: at, id }) => ({ at, id })),
      PAGE_SIZE,
    ),
  }
}

function select(db: Db, userId: string, { collection, isArchived }: ListFilter) {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('archived_at', isArchived ? 'is not' : 'is', null)
    .$if(collection !== undefined, (query) => query.where(hasCollection(db, collection ?? '')))
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
}

function hasCollection(db: Db, id: string) {
  return findDialect(db) === 'postgres'
    ? sql<boolean>`collection_ids_json @> ${JSON.stringify([id])}::jsonb`
    : sql<boolean>`exists (select 1 from json_each(collection_ids_json) where value = ${id})`
}

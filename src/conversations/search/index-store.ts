/** SQL for the index of a user's conversations. */
import '../tables.ts'
import { sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { type Conversation, openConversation, type StoreDeps } from '../conversation-store.ts'
import { type Message, openMessage } from '../message-store.ts'

export type IndexedConversation = Pick<
  Conversation,
  'id' | 'title' | 'archived_at' | 'collection_ids' | 'updated_at'
>

/** Returns the ids of all conversations, and those that changed after the revision `since`. */
export async function listIndexed(
  { db, secrets }: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  since: number,
): Promise<{ ids: string[]; changed: IndexedConversation[] }> {
  const all = await db
    .selectFrom('conversations')
    .select('id')
    .where('user_id', '=', userId)
    .execute()
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('revision', '>', since)
    .execute()
  return {
    ids: all.map(({ id }) => id),
    changed: rows.map((row) => {
      const { id, title, archived_at, collection_ids, updated_at } = openConversation(
        { secrets },
        row,
      )
      return { id, title, archived_at, collection_ids, updated_at }
    }),
  }
}

type IndexedNode = { conversation_id: string; id: string; bytes: number }

/** Returns the ended messages of these conversations, without their content. */
export function listConversationNodes(
  db: Db,
  userId: string,
  conversationIds: readonly string[],
): Promise<IndexedNode[]> {
  return db
    .selectFrom('conversation_messages')
    .select(['conversation_id', 'id'])
    .select(sql<number>`length(parts_sealed)`.as('bytes'))
    .where('user_id', '=', userId)
    .where('conversation_id', 'in', conversationIds)
    .where('outcome', '<>', 'running')
    .execute()
}

export async function readIndexedMessages(
  { db, secrets }: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  nodes: readonly Omit<IndexedNode, 'bytes'>[],
): Promise<(Message & { conversationId: string })[]> {
  const rows = await db
    .selectFrom('conversation_messages')
    .selectAll()
    .where('user_id', '=', userId)
    .where('conversation_id', 'in', [...new Set(nodes.map((node) => node.conversation_id))])
    .where(
      'id',
      'in',
      nodes.map(({ id }) => id),
    )
    .execute()
  return rows.map((row) => ({
    ...openMessage({ secrets }, row),
    conversationId: row.conversation_id,
  }))
}

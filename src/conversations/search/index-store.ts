/** SQL for the index of a user's conversations. */
import '../tables.ts'
import { type Conversation, openConversation, type StoreDeps } from '../conversation-store.ts'

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

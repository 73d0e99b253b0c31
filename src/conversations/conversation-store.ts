// SQL of conversations and of a user's settings. Every statement starts with the user. Writers lock
// the conversation before they increase the user's revision.
import './tables.ts'
import type { Selectable } from 'kysely'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { ConversationOptions } from './content.ts'
import { conversationProblem } from './problems.ts'
import { openJson, sealJson } from './sealing.ts'
import type { ConversationsTable, TitleBy } from './tables.ts'

export type StoreDeps = Pick<Platform, 'db' | 'clock' | 'secrets'>
type Sealing = Pick<Platform, 'secrets'>
type Row = Selectable<ConversationsTable>

export type Conversation = Omit<
  Row,
  'user_id' | 'title_sealed' | 'settings_sealed' | 'collection_ids_json' | 'source_hash'
> & { title: string; settings: ConversationOptions; collection_ids: string[] }

export type ConversationChange = {
  title?: { text: string; by: TitleBy }
  settings?: ConversationOptions
  collectionIds?: string[]
} & Partial<
  Pick<Row, 'model' | 'pinned_at' | 'archived_at' | 'leaf_id' | 'revision' | 'updated_at'>
>

const titlePlace = (userId: string, id: string) => ({ userId, name: `title of ${id}` })
const settingsPlace = (userId: string, id: string) => ({ userId, name: `settings of ${id}` })

/** Returns a conversation, or null where the user has none with this id. */
export async function findConversation(
  { db, secrets }: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  id: string,
): Promise<Conversation | null> {
  const row = await selectConversation(db, userId, id).executeTakeFirst()
  return row === undefined ? null : openConversation({ secrets }, row)
}

/** Returns conversations by id; unknown ids are left out. */
export async function readConversations(
  { db, secrets }: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, Conversation>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', 'in', ids)
    .execute()
  return new Map(rows.map((row) => [row.id, openConversation({ secrets }, row)]))
}

/** Blocks the conversation's other changes until the commit. @throws conversation_not_found */
export async function lockConversation(
  tx: Db,
  { secrets }: Sealing,
  userId: string,
  id: string,
): Promise<Conversation> {
  const row = await forUpdate(tx, selectConversation(tx, userId, id)).executeTakeFirst()
  if (row === undefined) throw conversationProblem('conversation_not_found')
  return openConversation({ secrets }, row)
}

/** Blocks a conversation's other changes. @returns false where the user has none with this id */
export async function tryLockConversation(tx: Db, userId: string, id: string): Promise<boolean> {
  const row = await forUpdate(
    tx,
    tx.selectFrom('conversations').select('id').where('user_id', '=', userId).where('id', '=', id),
  ).executeTakeFirst()
  return row !== undefined
}

function selectConversation(db: Db, userId: string, id: string) {
  return db
    .selectFrom('conversations')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
}

export function openConversation({ secrets }: Sealing, row: Row): Conversation {
  const { user_id, title_sealed, settings_sealed, collection_ids_json, source_hash, ...rest } = row
  return {
    ...rest,
    title: openJson<string>(secrets, titlePlace(user_id, row.id), title_sealed),
    settings: openJson(secrets, settingsPlace(user_id, row.id), settings_sealed),
    collection_ids: collection_ids_json,
  }
}

/** @returns false where the user has already imported a conversation with this source */
export async function insertConversation(
  tx: Db,
  { secrets }: Sealing,
  userId: string,
  { title, settings, collection_ids, ...row }: Conversation,
  sourceHash: string | null = null,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('conversations')
    .values({
      ...row,
      user_id: userId,
      title_sealed: sealJson(secrets, titlePlace(userId, row.id), title),
      settings_sealed: sealJson(secrets, settingsPlace(userId, row.id), settings),
      collection_ids_json: collection_ids,
      source_hash: sourceHash,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'source_hash']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export async function updateConversation(
  tx: Db,
  { secrets }: Sealing,
  userId: string,
  id: string,
  { title, settings, collectionIds, ...columns }: ConversationChange,
): Promise<void> {
  await tx
    .updateTable('conversations')
    .set({
      ...columns,
      ...(title && {
        title_sealed: sealJson(secrets, titlePlace(userId, id), title.text),
        title_by: title.by,
      }),
      ...(settings && { settings_sealed: sealJson(secrets, settingsPlace(userId, id), settings) }),
      ...(collectionIds && { collection_ids_json: collectionIds }),
    })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .execute()
}

/** Increases the user's revision, blocking other increases: they become visible in order. */
export async function bumpRevision(tx: Db, userId: string): Promise<number> {
  const { revision } = await tx
    .insertInto('conversation_settings')
    .values({ user_id: userId, is_keeping: true, revision: 1 })
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet((e) => ({ revision: e('conversation_settings.revision', '+', 1) })),
    )
    .returning('revision')
    .executeTakeFirstOrThrow()
  return revision
}

export type UserSettings = { is_keeping: boolean; revision: number }

export async function readUserSettings(db: Db, userId: string): Promise<UserSettings> {
  const row = await db
    .selectFrom('conversation_settings')
    .select(['is_keeping', 'revision'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row ?? { is_keeping: true, revision: 0 }
}

/** @throws Problem conversations_not_kept */
export async function requireKeeping(db: Db, userId: string): Promise<void> {
  if (!(await readUserSettings(db, userId)).is_keeping)
    throw conversationProblem('conversations_not_kept')
}

export async function writeKeeping(db: Db, userId: string, isKeeping: boolean): Promise<void> {
  await db
    .insertInto('conversation_settings')
    .values({ user_id: userId, is_keeping: isKeeping, revision: 0 })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ is_keeping: isKeeping }))
    .execute()
}

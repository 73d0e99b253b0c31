/** SQL of messages. Every statement starts with the user, except the search for abandoned answers. */
import './tables.ts'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { type Selectable, sql } from 'kysely'
import type { Db } from '#platform/db/db.ts'
import { databaseNow } from '#platform/db/time.ts'
import type { Platform } from '#platform/platform.ts'
import type { MessageContent } from './content.ts'
import type { StoreDeps } from './conversation-store.ts'
import { openJson, sealJson } from './sealing.ts'
import type { ConversationMessagesTable } from './tables.ts'

type Row = Selectable<ConversationMessagesTable>
export type MessageKey = { userId: string; conversationId: string; id: string }

export type Message = Pick<
  Row,
  'id' | 'parent_id' | 'role' | 'model' | 'outcome' | 'created_at' | 'updated_at'
> & { usage: Row['usage_json'] } & MessageContent

/** A message without its content. `bytes`: the size of the content. */
export type MessageNode = Pick<Row, 'id' | 'parent_id' | 'role' | 'outcome' | 'created_at'> & {
  bytes: number
}

const describePlace = ({ userId, conversationId, id }: MessageKey) => ({
  userId,
  name: `message ${id} of ${conversationId}`,
})

export function sealContent(
  { secrets }: Pick<Platform, 'secrets'>,
  key: MessageKey,
  { parts, sources, citations, tools, reasoning, events, problem }: MessageContent,
): Uint8Array {
  const content = { parts, sources, citations, tools, reasoning, events, problem }
  return sealJson(secrets, describePlace(key), content)
}

export async function insertMessages(
  tx: Db,
  deps: Pick<StoreDeps, 'secrets' | 'clock'>,
  { userId, conversationId }: Omit<MessageKey, 'id'>,
  messages: readonly Omit<Message, 'updated_at'>[],
): Promise<void> {
  if (messages.length === 0) return
  const updated_at = databaseNow(tx, deps.clock)
  const toRow = (message: Omit<Message, 'updated_at'>) => ({
    user_id: userId,
    conversation_id: conversationId,
    id: message.id,
    parent_id: message.parent_id,
    role: message.role,
    model: message.model,
    outcome: message.outcome,
    usage_json: message.usage,
    created_at: message.created_at,
    updated_at,
    parts_sealed: sealContent(deps, { userId, conversationId, id: message.id }, message),
  })
  for (let from = 0; from < messages.length; from += ROWS_PER_INSERT) {
    const rows = messages.slice(from, from + ROWS_PER_INSERT).map(toRow)
    await tx.insertInto('conversation_messages').values(rows).execute()
    // Sealing thousands of messages would delay other requests.
    if (from + ROWS_PER_INSERT < messages.length) await yieldToEventLoop()
  }
}

export function openMessage({ secrets }: Pick<Platform, 'secrets'>, row: Row): Message {
  const {
    user_id: userId,
    conversation_id: conversationId,
    usage_json,
    parts_sealed,
    ...rest
  } = row
  const content = openJson<MessageContent>(
    secrets,
    describePlace({ userId, conversationId, id: row.id }),
    parts_sealed,
  )
  return { ...rest, usage: usage_json, ...content }
}

const ofConversation = (db: Db, { userId, conversationId }: Omit<MessageKey, 'id'>) =>
  db
    .selectFrom('conversation_messages')
    .where('user_id', '=', userId)
    .where('conversation_id', '=', conversationId)

/** Returns every message of a conversation without its content. */
export function listNodes(db: Db, of: Omit<MessageKey, 'id'>): Promise<MessageNode[]> {
  return ofConversation(db, of)
    .select(['id', 'parent_id', 'role', 'outcome', 'created_at'])
    .select(sql<number>`length(parts_sealed)`.as('bytes'))
    .execute()
}

/** PostgreSQL takes 65,535 values per statement, and images make some rows large. */
const ROWS_PER_INSERT = 100
const IDS_PER_READ = 500

/** Returns messages in the order of `ids`; unknown ids are left out. */
export async function readMessages(
  { db, secrets }: Pick<StoreDeps, 'db' | 'secrets'>,
  of: Omit<MessageKey, 'id'>,
  ids: readonly string[],
): Promise<Message[]> {
  const byId = new Map<string, Message>()
  for (let from = 0; from < ids.length; from += IDS_PER_READ) {
    const rows = await ofConversation(db, of)
      .selectAll()
      .where('id', 'in', ids.slice(from, from + IDS_PER_READ))
      .execute()
    for (const row of rows) byId.set(row.id, openMessage({ secrets }, row))
  }
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** `silentMs`: changes only an answer that nobody has written for this long. */
export type RunningChange = { content?: MessageContent; silentMs?: number } & Partial<
  Pick<Message, 'outcome' | 'model' | 'usage'>
>

/** Writes a running answer. @returns false where it has ended or was deleted */
export async function updateRunning(
  tx: Db,
  deps: Pick<StoreDeps, 'secrets' | 'clock'>,
  key: MessageKey,
  { content, outcome, model, usage, silentMs }: RunningChange,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('conversation_messages')
    .set({
      updated_at: databaseNow(tx, deps.clock),
      ...(content && { parts_sealed: sealContent(deps, key, content) }),
      ...(outcome && { outcome }),
      ...(model !== undefined && { model }),
      ...(usage !== undefined && { usage_json: usage }),
    })
    .where('user_id', '=', key.userId)
    .where('conversation_id', '=', key.conversationId)
    .where('id', '=', key.id)
    .where('outcome', '=', 'running')
    .$if(silentMs !== undefined, (query) =>
      query.where('updated_at', '<=', databaseNow(tx, deps.clock, -(silentMs ?? 0))),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Returns the user's conversations that are being answered. */
export async function listRunning(db: Db, userId: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('conversation_messages')
    .select('conversation_id')
    .where('user_id', '=', userId)
    .where('outcome', '=', 'running')
    .execute()
  return new Set(rows.map((row) => row.conversation_id))
}

/** Returns running answers of all users that no node has written for `silentMs`. */
export async function listAbandoned(
  { db, clock }: Pick<StoreDeps, 'db' | 'clock'>,
  silentMs: number,
): Promise<MessageKey[]> {
  const rows = await db
    .selectFrom('conversation_messages')
    .select(['user_id', 'conversation_id', 'id'])
    .where('outcome', '=', 'running')
    .where('updated_at', '<=', databaseNow(db, clock, -silentMs))
    .limit(ABANDONED_MAX)
    .execute()
  return rows.map(({ user_id, conversation_id, id }) => ({
    userId: user_id,
    conversationId: conversation_id,
    id,
  }))
}

const ABANDONED_MAX = 500

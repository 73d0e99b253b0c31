// Imports conversations from a file one after the other, so that a large file neither blocks other
// requests nor fills the memory. A conversation that was imported before is skipped.
import { createHash, randomUUID } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { JsonTooMany } from '#platform/json.ts'
import {
  bumpRevision,
  insertConversation,
  requireKeeping,
  type StoreDeps,
} from '../conversation-store.ts'
import { insertMessages } from '../message-store.ts'
import { MESSAGES_MAX } from '../messages.ts'
import { conversationProblem } from '../problems.ts'
import { MessageTree } from '../tree.ts'
import { readChatGpt } from './chatgpt.ts'
import type {
  ConversationFile,
  Imported,
  ImportedMessage,
  ImportRead,
  SkipReason,
} from './imported.ts'
import { readOwnFormat } from './own-format.ts'
import { parseConversation, TooManyMessages } from './parse.ts'
import { type Slice, splitConversations } from './split.ts'

const CONVERSATIONS_MAX = 1_000
/** Of one user's stored messages. */
const STORED_MEGABYTES_MAX = 500

export type ImportResult = { imported: number; skipped: { title: string; reason: SkipReason }[] }

/** One import per user and process, because it takes CPU. */
export class Importer {
  readonly #deps: StoreDeps
  readonly #running = new Set<string>()

  constructor(deps: StoreDeps) {
    this.#deps = deps
  }

  /**
   * @throws Problem 409 conversations_not_kept, import_running; 413 import_too_large,
   * conversation_storage_full; 422 malformed_json
   */
  async run(userId: string, bytes: Buffer): Promise<ImportResult> {
    if (this.#running.has(userId)) throw conversationProblem('import_running')
    this.#running.add(userId)
    try {
      return await importAll(this.#deps, userId, bytes)
    } finally {
      this.#running.delete(userId)
    }
  }
}

async function importAll(deps: StoreDeps, userId: string, bytes: Buffer): Promise<ImportResult> {
  await requireKeeping(deps.db, userId)
  await requireStorage(deps.db, userId, bytes.length)
  const slices = splitConversations(bytes, CONVERSATIONS_MAX)
  if (slices === null) throw conversationProblem('import_too_large', { max: CONVERSATIONS_MAX })
  const result: ImportResult = { imported: 0, skipped: [] }
  for (const slice of slices) {
    const read = await readConversation(bytes, slice, deps.clock.now())
    const reason = 'skipped' in read ? read.skipped : await store(deps, userId, read)
    if (reason === null) result.imported++
    else result.skipped.push({ title: read.title, reason })
    await yieldToEventLoop()
  }
  return result
}

export async function requireStorage(db: Db, userId: string, bytes: number): Promise<void> {
  const row = await db
    .selectFrom('conversation_messages')
    .select(sql<number | null>`sum(length(parts_sealed))`.as('bytes'))
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (Number(row?.bytes ?? 0) + bytes > STORED_MEGABYTES_MAX * 1024 * 1024)
    throw conversationProblem('conversation_storage_full', { max: STORED_MEGABYTES_MAX })
}

async function readConversation(bytes: Buffer, slice: Slice, now: string): Promise<ImportRead> {
  let members: ConversationFile
  try {
    members = await parseConversation(bytes, slice, MESSAGES_MAX)
  } catch (error) {
    const isTooLong = error instanceof JsonTooMany || error instanceof TooManyMessages
    return { title: '', skipped: isTooLong ? 'too_long' : 'invalid' }
  }
  const isChatGpt = typeof members.mapping === 'object' && members.mapping !== null
  const read = isChatGpt ? readChatGpt(members, now) : readOwnFormat(members, now)
  if ('skipped' in read) return read
  const digest = createHash('sha256')
    .update(bytes.subarray(slice.from, slice.to))
    .digest('base64url')
  return { ...read, sourceId: read.sourceId ?? digest }
}

/** @returns why it was not stored; null where it was */
async function store(deps: StoreDeps, userId: string, read: Imported): Promise<SkipReason | null> {
  if (read.messages.length > MESSAGES_MAX) return 'too_long'
  const { messages, ids } = renameMessages(read.messages)
  if (messages.length === 0) return 'empty'
  const tree = new MessageTree(messages)
  const root = messages.findLast(({ parent_id }) => parent_id === null)?.id ?? ''
  const leaf_id = ids.get(read.leafId ?? '') ?? tree.findLeaf(root)
  const conversationId = randomUUID()
  return await transaction(deps.db, async (tx) => {
    await requireKeeping(tx, userId)
    const { title, title_by, model, settings, collection_ids, pinned_at, archived_at } = read
    const conversation = {
      ...{ title, title_by, model, settings, collection_ids, pinned_at, archived_at },
      id: conversationId,
      leaf_id,
      revision: await bumpRevision(tx, userId),
      created_at: read.createdAt,
      updated_at: read.updatedAt,
    }
    const hash = createHash('sha256').update(`file ${read.sourceId}`).digest('base64url')
    const isNew = await insertConversation(tx, deps, userId, conversation, hash)
    if (!isNew) return 'already_imported'
    await insertMessages(tx, deps, { userId, conversationId }, messages)
    return null
  })
}

/** Gives messages new ids (`ids`), parents first. Circles are left out; orphans become first. */
function renameMessages(read: readonly ImportedMessage[]): {
  messages: ImportedMessage[]
  ids: Map<string, string>
} {
  const byId = new Map(read.map((message) => [message.id, message]))
  const children = Map.groupBy(byId.values(), ({ parent_id }) =>
    parent_id !== null && byId.has(parent_id) ? parent_id : null,
  )
  const ids = new Map<string, string>()
  const messages: ImportedMessage[] = []
  const waiting = [...(children.get(null) ?? [])]
  for (const message of waiting) {
    const id = randomUUID()
    ids.set(message.id, id)
    const { parent_id } = message
    messages.push({
      ...message,
      id,
      parent_id: parent_id === null ? null : (ids.get(parent_id) ?? null),
    })
    for (const child of children.get(message.id) ?? []) waiting.push(child)
  }
  return { messages, ids }
}

/** Copies of shared conversations. */
import { createHash, randomUUID } from 'node:crypto'
import { type Db, transaction } from '#platform/db/db.ts'
import { createContent } from '../content.ts'
import {
  bumpRevision,
  type Conversation,
  findConversation,
  insertConversation,
  requireKeeping,
  type StoreDeps,
} from '../conversation-store.ts'
import { insertMessages } from '../message-store.ts'
import { conversationProblem } from '../problems.ts'
import { type Frozen, removeMarks } from './frozen.ts'
import { openShareRow, type ShareDeps } from './shares.ts'

/**
 * Stores a shared conversation as the caller's own, without sources, since the caller has no
 * documents of the owner. The same state is copied once: a second call returns the first copy.
 * @throws Problem as `openShare`; 409 conversations_not_kept
 */
export async function copyShare(
  deps: ShareDeps,
  userId: string,
  token: string,
): Promise<Conversation> {
  const { key, shared } = await openShareRow(deps, token)
  const source = createHash('sha256').update(`share ${key.id} ${shared.updatedAt}`)
  const sourceHash = source.digest('base64url')
  const now = deps.clock.now()
  const id = randomUUID()
  const messages = copyMessages(shared, now)
  return await transaction(deps.db, async (tx) => {
    await requireKeeping(tx, userId)
    const conversation: Conversation = {
      id,
      title: shared.title,
      title_by: 'person',
      model: null,
      settings: {},
      collection_ids: [],
      pinned_at: null,
      archived_at: null,
      leaf_id: messages.at(-1)?.id ?? null,
      revision: await bumpRevision(tx, userId),
      created_at: now,
      updated_at: now,
    }
    const isNew = await insertConversation(tx, deps, userId, conversation, sourceHash)
    if (!isNew) return await readCopy(tx, deps, userId, sourceHash)
    await insertMessages(tx, deps, { userId, conversationId: id }, messages)
    return conversation
  })
}

function copyMessages({ messages }: Frozen, now: string) {
  let parentId: string | null = null
  return messages.map(({ role, text, model, citations }) => {
    const own = citations.length > 0 ? removeMarks(text) : text
    const message = {
      ...createContent(own === '' ? [] : [{ type: 'text' as const, text: own }]),
      id: randomUUID() as string,
      parent_id: parentId,
      role,
      model,
      outcome: 'ok' as const,
      usage: null,
      created_at: now,
    }
    parentId = message.id
    return message
  })
}

async function readCopy(
  tx: Db,
  { secrets }: Pick<StoreDeps, 'secrets'>,
  userId: string,
  sourceHash: string,
): Promise<Conversation> {
  const { id } = await tx
    .selectFrom('conversations')
    .select('id')
    .where('user_id', '=', userId)
    .where('source_hash', '=', sourceHash)
    .executeTakeFirstOrThrow()
  const copy = await findConversation({ db: tx, secrets }, userId, id)
  if (copy === null) throw conversationProblem('conversation_not_found')
  return copy
}

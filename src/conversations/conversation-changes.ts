/** Creates, reads, changes and deletes conversations. */
import { randomUUID } from 'node:crypto'
import { type Db, transaction } from '#platform/db/db.ts'
import type { ConversationOptions } from './content.ts'
import {
  bumpRevision,
  type Conversation,
  type ConversationChange,
  findConversation,
  insertConversation,
  lockConversation,
  requireKeeping,
  type StoreDeps,
  updateConversation,
} from './conversation-store.ts'
import { listNodes, type Message, readMessages } from './message-store.ts'
import { conversationProblem } from './problems.ts'
import { MessageTree } from './tree.ts'

export const PINS_MAX = 100
const PAGE_MESSAGES = 50
/** Images make some messages large. A page has at least one message. */
const PAGE_BYTES = 8_000_000

type NewConversation = {
  title?: string | undefined
  model?: string | null | undefined
  settings?: ConversationOptions | undefined
  collection_ids?: string[] | undefined
}

/** @throws Problem 409 conversations_not_kept */
export async function createConversation(
  deps: StoreDeps,
  userId: string,
  { title = '', model = null, settings = {}, collection_ids = [] }: NewConversation,
): Promise<Conversation> {
  const now = deps.clock.now()
  return await transaction(deps.db, async (tx) => {
    await requireKeeping(tx, userId)
    const conversation: Conversation = {
      id: randomUUID(),
      title,
      title_by: title === '' ? 'model' : 'person',
      model,
      settings,
      collection_ids,
      pinned_at: null,
      archived_at: null,
      leaf_id: null,
      revision: await bumpRevision(tx, userId),
      created_at: now,
      updated_at: now,
    }
    await insertConversation(tx, deps, userId, conversation)
    return conversation
  })
}

export type MessageView = Message & { sibling_ids: string[] }

export type ConversationPage = {
  conversation: Conversation & { isRunning: boolean }
  /** Oldest first. */
  messages: MessageView[]
  /** The oldest message of the page, to continue before it; null where the branch begins here. */
  before: string | null
}

/** Returns the end of the shown branch, or what comes before `before`. @throws Problem 404 */
export async function readConversationPage(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  id: string,
  before?: string,
): Promise<ConversationPage> {
  const conversation = await findConversation(deps, userId, id)
  if (conversation === null) throw conversationProblem('conversation_not_found')
  const of = { userId, conversationId: id }
  const nodes = await listNodes(deps.db, of)
  const tree = new MessageTree(nodes)
  if (before !== undefined && tree.find(before) === undefined)
    throw conversationProblem('message_not_found')
  const branch = tree.listBranch(before ?? conversation.leaf_id)
  if (before !== undefined) branch.pop()

  let from = branch.length
  for (let bytes = 0; from > 0 && branch.length - from < PAGE_MESSAGES; from--) {
    bytes += branch[from - 1]?.bytes ?? 0
    if (bytes > PAGE_BYTES && from < branch.length) break
  }
  const shown = branch.slice(from)
  const messages = await readMessages(
    deps,
    of,
    shown.map((node) => node.id),
  )
  const siblings = new Map(
    shown.map((node) => [node.id, tree.listSiblings(node).map((sibling) => sibling.id)]),
  )
  return {
    conversation: {
      ...conversation,
      isRunning: nodes.some(({ outcome }) => outcome === 'running'),
    },
    messages: messages.map((message) => ({
      ...message,
      sibling_ids: siblings.get(message.id) ?? [message.id],
    })),
    before: from > 0 ? (shown[0]?.id ?? null) : null,
  }
}

export type PersonsChange = {
  title?: string
  is_pinned?: boolean
  is_archived?: boolean
  /** Any message: the newest branch below it is shown. */
  leaf_id?: string
  model?: string | null
  settings?: ConversationOptions
  collection_ids?: string[]
}

/** @throws Problem 404 conversation_not_found, message_not_found; 409 pin_limit_reached */
export async function changeConversation(
  deps: StoreDeps,
  userId: string,
  id: string,
  wanted: PersonsChange,
): Promise<Conversation> {
  const now = deps.clock.now()
  return await transaction(deps.db, async (tx) => {
    const conversation = await lockConversation(tx, deps, userId, id)
    const { title, is_pinned, is_archived, leaf_id, model, settings, collection_ids } = wanted
    const change: ConversationChange = {
      ...(title !== undefined && { title: { text: title, by: 'person' } }),
      ...(is_pinned !== undefined && { pinned_at: is_pinned ? now : null }),
      ...(is_archived !== undefined && { archived_at: is_archived ? now : null }),
      ...(leaf_id !== undefined && { leaf_id: await findLeaf(tx, userId, id, leaf_id) }),
      ...(model !== undefined && { model }),
      ...(settings !== undefined && { settings }),
      ...(collection_ids !== undefined && { collectionIds: collection_ids }),
    }
    change.revision = await bumpRevision(tx, userId)
    if (is_pinned && conversation.pinned_at === null) await requirePinRoom(tx, userId)
    await updateConversation(tx, deps, userId, id, change)
    return await lockConversation(tx, deps, userId, id)
  })
}

async function findLeaf(tx: Db, userId: string, id: string, messageId: string): Promise<string> {
  const tree = new MessageTree(await listNodes(tx, { userId, conversationId: id }))
  if (tree.find(messageId) === undefined) throw conversationProblem('message_not_found')
  return tree.findLeaf(messageId)
}

async function requirePinRoom(tx: Db, userId: string): Promise<void> {
  const pinned = await tx
    .selectFrom('conversations')
    .select('id')
    .where('user_id', '=', userId)
    .where('pinned_at', 'is not', null)
    .limit(PINS_MAX)
    .execute()
  if (pinned.length >= PINS_MAX) throw conversationProblem('pin_limit_reached', { max: PINS_MAX })
}

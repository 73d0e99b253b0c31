// The life of an answer: it begins beside its question, is written while it runs, and ends once. An
// answer that another process has ended stays as it is.
import { randomUUID } from 'node:crypto'
import { transaction } from '#platform/db/db.ts'
import { invalid } from '#platform/problems.ts'
import { createContent, cutTitle, joinText, type MessageContent, type Part } from './content.ts'
import {
  bumpRevision,
  type Conversation,
  lockConversation,
  requireKeeping,
  type StoreDeps,
  tryLockConversation,
  updateConversation,
} from './conversation-store.ts'
import {
  insertMessages,
  listAbandoned,
  listNodes,
  type Message,
  type MessageKey,
  type MessageNode,
  type RunningChange,
  readMessages,
  updateRunning,
} from './message-store.ts'
import { conversationProblem } from './problems.ts'
import type { TitleBy } from './tables.ts'
import { MessageTree } from './tree.ts'

export const MESSAGES_MAX = 10_000

/**
 * A question, or another answer. `replaces`: the id of an answer, without parts, asks its question
 * again; the id of a question, with parts, puts an edited question beside it. Otherwise the question
 * follows `parentId`, also where that already has a question.
 */
export type Ask = {
  parentId: string | null
  parts: Part[] | null
  replaces: string | null
  model: string | null
}

export type Begun = { conversation: Conversation; questionId: string; answerId: string }

/**
 * Inserts the question, unless it exists, and a running answer, and shows their branch. Names a
 * conversation without a title by the question's first words; `setTitle` may improve that.
 * @throws Problem 404 conversation_not_found, message_not_found; 409 answer_running,
 * conversations_not_kept, conversation_full; 422 where parts and `replaces` do not fit
 */
export async function beginAnswer(
  deps: StoreDeps,
  userId: string,
  conversationId: string,
  ask: Ask,
): Promise<Begun> {
  const of = { userId, conversationId }
  return await transaction(deps.db, async (tx) => {
    const conversation = await lockConversation(tx, deps, userId, conversationId)
    await requireKeeping(tx, userId)
    const nodes = await listNodes(tx, of)
    if (nodes.some(({ outcome }) => outcome === 'running'))
      throw conversationProblem('answer_running')
    if (nodes.length + 2 > MESSAGES_MAX)
      throw conversationProblem('conversation_full', { max: MESSAGES_MAX })

    const place = placeQuestion(new MessageTree(nodes), ask)
    const created_at = deps.clock.now()
    const message = { model: null, usage: null, created_at }
    const answerId = randomUUID()
    const questionId = 'questionId' in place ? place.questionId : randomUUID()
    if ('parts' in place) {
      const question = { id: questionId, parent_id: place.parentId, role: 'user' as const }
      await insertMessages(tx, deps, of, [
        { ...message, ...question, outcome: 'ok', ...createContent(place.parts) },
      ])
    }
    const answer = { id: answerId, parent_id: questionId, role: 'assistant' as const }
    await insertMessages(tx, deps, of, [
      { ...message, ...answer, model: ask.model, outcome: 'running', ...createContent([]) },
    ])
    const title = conversation.title === '' && 'parts' in place ? cutTitle(joinText(place)) : ''
    const change = {
      leaf_id: answerId,
      updated_at: created_at,
      ...(ask.model !== null && { model: ask.model }),
      ...(title !== '' && { title: { text: title, by: 'model' as const } }),
    }
    const revision = await bumpRevision(tx, userId)
    await updateConversation(tx, deps, userId, conversationId, { ...change, revision })
    return {
      conversation: {
        ...conversation,
        leaf_id: answerId,
        updated_at: created_at,
        revision,
        model: ask.model ?? conversation.model,
        title: title === '' ? conversation.title : title,
      },
      questionId,
      answerId,
    }
  })
}

type QuestionPlace = { questionId: string } | { parentId: string | null; parts: Part[] }

function placeQuestion(
  tree: MessageTree<MessageNode>,
  { parentId, parts, replaces }: Ask,
): QuestionPlace {
  const find = (id: string) => {
    const node = tree.find(id)
    if (node === undefined) throw conversationProblem('message_not_found')
    return node
  }
  if (replaces === null) {
    if (parts === null) throw invalid(['body', 'parts'], 'Field required', 'missing')
    return { parentId: parentId === null ? null : find(parentId).id, parts }
  }
  const replaced = find(replaces)
  if (replaced.role === 'user') {
    if (parts === null) throw invalid(['body', 'parts'], 'An edited question needs parts')
    return { parentId: replaced.parent_id, parts }
  }
  if (parts !== null)
    throw invalid(['body', 'parts'], 'Another answer to the same question takes no parts')
  if (replaced.parent_id === null) throw conversationProblem('message_not_found')
  return { questionId: find(replaced.parent_id).id }
}

/** Writes what a running answer has so far. @returns false where it has ended or was deleted */
export function saveAnswer(
  deps: StoreDeps,
  key: MessageKey,
  content: MessageContent,
): Promise<boolean> {
  return updateRunning(deps.db, deps, key, { content })
}

export type AnswerEnd = Pick<Message, 'usage'> & {
  outcome: 'ok' | 'stopped' | 'interrupted' | 'failed'
  /** The model that answered; null: unchanged. */
  model: string | null
  content: MessageContent
}

/** Ends a running answer. @returns false where it had ended or was deleted */
export function finishAnswer(deps: StoreDeps, key: MessageKey, end: AnswerEnd): Promise<boolean> {
  const { model, ...rest } = end
  return endAnswer(deps, key, { ...rest, ...(model !== null && { model }) })
}

async function endAnswer(deps: StoreDeps, key: MessageKey, end: RunningChange): Promise<boolean> {
  const { userId, conversationId } = key
  return await transaction(deps.db, async (tx) => {
    // All writers lock the conversation before its messages.
    if (!(await tryLockConversation(tx, userId, conversationId))) return false
    if (!(await updateRunning(tx, deps, key, end))) return false
    const revision = await bumpRevision(tx, userId)
    const updated_at = deps.clock.now()
    await updateConversation(tx, deps, userId, conversationId, { revision, updated_at })
    return true
  })
}

/** Ends answers that no process has written for `silentMs`. @returns their number */
export async function interruptAnswers(deps: StoreDeps, silentMs: number): Promise<number> {
  let count = 0
  for (const key of await listAbandoned(deps, silentMs))
    if (await endAnswer(deps, key, { outcome: 'interrupted', silentMs })) count++
  return count
}

/** Bounds the memory of an answer; a model gets no messages before these. */
export const BRANCH_MESSAGES_MAX = 1_000

/** Returns the last messages up to `id`, oldest first; empty for an unknown `id`. */
export async function readBranch(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  userId: string,
  conversationId: string,
  id: string,
): Promise<Message[]> {
  const of = { userId, conversationId }
  const branch = new MessageTree(await listNodes(deps.db, of)).listBranch(id)
  return await readMessages(
    deps,
    of,
    branch.slice(-BRANCH_MESSAGES_MAX).map((node) => node.id),
  )
}

/** Returns one message, or null where the user has none with this id. */
export async function readMessage(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  { id, ...of }: MessageKey,
): Promise<Message | null> {
  return (await readMessages(deps, of, [id]))[0] ?? null
}

/** Sets the title. A model's title never replaces a person's. @returns whether it was set */
export async function setTitle(
  deps: StoreDeps,
  userId: string,
  conversationId: string,
  title: { text: string; by: TitleBy },
): Promise<boolean> {
  return await transaction(deps.db, async (tx) => {
    const { title_by } = await lockConversation(tx, deps, userId, conversationId)
    if (title.by === 'model' && title_by === 'person') return false
    const revision = await bumpRevision(tx, userId)
    await updateConversation(tx, deps, userId, conversationId, { title, revision })
    return true
  })
}

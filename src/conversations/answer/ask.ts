/** Asks a model: chooses it, stores the question, and starts the answer. */
import type { CallOrigin } from '#ai/call-origin.ts'
import { chooseRoute, findRouteByName, findRoutes } from '#ai/routing.ts'
import type { Route } from '#models/catalogue.ts'
import type { Caller, Entitlements } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import type { RagDeps } from '#rag/deps.ts'
import { type ConversationOptions, cutTitle, joinText, type Part } from '../content.ts'
import { type Conversation, findConversation } from '../conversation-store.ts'
import { type Begun, beginAnswer, readBranch, readMessage, setTitle } from '../messages.ts'
import { conversationProblem } from '../problems.ts'
import { requireVision } from './abilities.ts'
import type { AnswerLog } from './answer-log.ts'
import { type AnswerTerms, AnswerWriter } from './answer-writer.ts'
import { type DocumentChoice, resolveScope, type Scope } from './document-scope.ts'
import type { ModelSpeeds } from './model-speeds.ts'
import type { RunningAnswers } from './running-answers.ts'
import { writeTitle } from './title.ts'

export type AskDeps = Pick<Platform, 'db' | 'clock' | 'secrets' | 'log'> & {
  rag: RagDeps
  requireGrant: Entitlements['require']
  answers: RunningAnswers
  speeds: ModelSpeeds
}

export type Asker = { caller: Caller; origin: CallOrigin }

export type Question = {
  parentId: string | null
  parts: Part[] | null
  replaces: string | null
  /** A model's name, as under /v1; null: the conversation's. */
  model: string | null
  /** Null: the conversation's. */
  documents: DocumentChoice | null
  /** Collections that are chosen in addition to the documents. */
  collections: readonly string[]
}

/** The answer continues when the client leaves. @throws Problem, with nothing stored */
export async function ask(
  deps: AskDeps,
  asker: Asker,
  conversationId: string,
  question: Question,
): Promise<AnswerLog> {
  const { userId } = asker.caller
  const before = await findConversation(deps, userId, conversationId)
  if (before === null) throw conversationProblem('conversation_not_found')
  const modelName = question.model ?? findUsable(deps, asker.caller, before.model)
  const first = chooseModel(deps, asker.caller, modelName)
  const parts = question.parts ?? (await readQuestion(deps, userId, conversationId, question))
  requireVision(deps.rag.gateway, first, parts)
  const choice = question.documents ?? before.settings.documents ?? 'auto'
  const { parentId, replaces, collections } = question
  const scopeTerms = { choice, parts, collections, usualCollections: before.collection_ids }
  const scope = await resolveScope(readScopeDeps(deps), asker.caller, scopeTerms)

  const place = { parentId, parts: question.parts, replaces, model: modelName }
  const begun = await beginAnswer(deps, userId, conversationId, place)
  const { conversation } = begun
  const isFirst = before.title === '' && conversation.title !== ''
  const terms = {
    ...buildTerms(asker, { first, modelName }, scope, conversation.settings),
    nameConversation: isFirst
      ? () => deps.answers.track(nameConversation(deps, asker.caller, conversation, parts))
      : null,
  }
  return startAnswer(deps, begun, terms)
}

/** @throws Problem 400, 403, 503 for a model that the caller cannot use */
export function chooseModel({ rag }: AskDeps, caller: Caller, name: string | null): Route {
  const { config } = rag.gateway
  const first =
    name === null ? chooseRoute(config, caller, null, null) : findRouteByName(config, caller, name)
  findRoutes(config, caller, first)
  return first
}

/** Returns null for a remembered model that the caller can no longer use. */
function findUsable(deps: AskDeps, caller: Caller, name: string | null): string | null {
  try {
    chooseModel(deps, caller, name)
    return name
  } catch (error) {
    if (error instanceof Problem) return null
    throw error
  }
}

export function buildTerms(
  { caller, origin }: Asker,
  chosen: Pick<AnswerTerms, 'first' | 'modelName'>,
  scope: Scope,
  { instructions, temperature, max_tokens }: ConversationOptions,
): Omit<AnswerTerms, 'signal' | 'turns' | 'nameConversation'> {
  return {
    caller,
    origin,
    ...chosen,
    documents: scope.documents,
    instructions: [scope.instructions, instructions].filter(Boolean).join('\n\n'),
    temperature: temperature ?? null,
    maxTokens: max_tokens ?? null,
  }
}

export function readScopeDeps({ rag, requireGrant }: AskDeps) {
  return { db: rag.db, indexes: rag.indexes, requireGrant }
}

/** Returns the parts of the question that another answer is wanted for. */
async function readQuestion(
  deps: AskDeps,
  userId: string,
  conversationId: string,
  { replaces }: Question,
): Promise<Part[]> {
  const of = { userId, conversationId }
  const answer = replaces === null ? null : await readMessage(deps, { ...of, id: replaces })
  if (answer === null || answer.parent_id === null) return []
  return (await readMessage(deps, { ...of, id: answer.parent_id }))?.parts ?? []
}

/** From here on, a failure is part of the stored answer. */
function startAnswer(
  deps: AskDeps,
  { conversation: { id: conversationId }, questionId, answerId: id }: Begun,
  terms: Omit<AnswerTerms, 'signal' | 'turns'>,
): AnswerLog {
  const { rag, speeds } = deps
  const { userId } = terms.caller
  let writer: AnswerWriter | null = null
  const log = deps.answers.start(
    { userId, conversationId, id },
    {
      requestId: terms.origin.requestId,
      async write(log, signal) {
        const turns = await readBranch(deps, userId, conversationId, questionId)
        writer = new AnswerWriter({ ...rag, speeds }, { ...terms, turns, signal }, log)
        return writer.write()
      },
      summarize: () => writer?.summarize() ?? { model: null, usage: null },
    },
  )
  log.addEvent('message', { id, parent_id: questionId, question_id: questionId })
  return log
}

/** Returns the title, a person's where they have set one. Never rejects. */
async function nameConversation(
  deps: AskDeps,
  caller: Caller,
  { id, title }: Conversation,
  parts: readonly Part[],
): Promise<string> {
  const question = joinText({ parts: [...parts] })
  try {
    const text = await writeTitle(deps.rag.gateway, caller, question, deps.answers.closing)
    if (text === null) return title
    const isSet = await setTitle(deps, caller.userId, id, { text: cutTitle(text), by: 'model' })
    return isSet ? cutTitle(text) : title
  } catch (err) {
    // The conversation may have been deleted meanwhile.
    deps.log.warn({ err }, 'a conversation was not named')
    return title
  }
}

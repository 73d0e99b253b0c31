/** Answers a conversation that the client keeps: nothing is stored, and the answer ends with the client. */
import { randomUUID } from 'node:crypto'
import type { EventStream } from '#platform/http/sse.ts'
import { streamProblem } from '#platform/http/sse.ts'
import type { ConversationOptions } from '../content.ts'
import { requireVision } from './abilities.ts'
import { AnswerLog } from './answer-log.ts'
import { type AnswerTerms, AnswerWriter } from './answer-writer.ts'
import { type AskDeps, type Asker, buildTerms, chooseModel, readScopeDeps } from './ask.ts'
import { type DocumentChoice, resolveScope } from './document-scope.ts'
import type { BranchTurn } from './prompt.ts'
import { sendLog } from './send-log.ts'

export type TemporaryQuestion = {
  turns: readonly BranchTurn[]
  model: string | null
  documents: DocumentChoice
  collections: readonly string[]
  settings: ConversationOptions
}

/** @throws Problem 400, 403, 503 */
export async function prepareTemporary(
  deps: AskDeps,
  asker: Asker,
  { turns, model, documents: choice, collections, settings }: TemporaryQuestion,
): Promise<Omit<AnswerTerms, 'signal'>> {
  const { parts } = turns.at(-1) ?? { parts: [] }
  const first = chooseModel(deps, asker.caller, model)
  requireVision(deps.rag.gateway, first, parts)
  const scopeTerms = { choice, parts, collections, usualCollections: [] }
  const scope = await resolveScope(readScopeDeps(deps), asker.caller, scopeTerms)
  const chosen = { first, modelName: model }
  return { ...buildTerms(asker, chosen, scope, settings), turns, nameConversation: null }
}

export async function sendTemporary(
  deps: AskDeps,
  terms: Omit<AnswerTerms, 'signal'>,
  events: EventStream,
): Promise<void> {
  const signal = AbortSignal.any([events.signal, deps.answers.closing])
  const log = new AnswerLog()
  log.addEvent('message', { id: randomUUID(), parent_id: null, question_id: null })
  const sending = sendLog(events, log, 0)
  const writer = new AnswerWriter({ ...deps.rag, speeds: deps.speeds }, { ...terms, signal }, log)
  try {
    await writer.write()
    log.end('ok')
  } catch (error) {
    const { code, message: detail } = streamProblem(error, terms.origin.requestId)
    if (!signal.aborted && code === 'internal_error')
      deps.log.error({ err: error, reqId: terms.origin.requestId }, 'an answer failed')
    log.end('failed', { code, detail })
  }
  await sending
}

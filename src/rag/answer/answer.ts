/** Answers a question from the user's own chunks. No chunk that is near enough: no vendor is asked, and the answer says so. */
import { type CompletionStream, complete, type GatewayCall, stream } from '#ai/gateway.ts'
import { routeFor, routeForModel } from '#ai/routing.ts'
import type { Usage } from '#ai/vendors/vendor.ts'
import { metered, type RagCall } from '../metering.ts'
import type { Condition } from '../search/filter.ts'
import { type FoundChunk, findChunks, type SearchDeps, search, sizeOf } from '../search/search.ts'
import { NOTHING_FOUND, promptOf, type Turn } from './prompt.ts'

export type Question = {
  question: string
  topK: number
  minScore: number
  history: Turn[]
  conditions: Condition[]
  /** By one name, as under /v1; null: the usual one. */
  model: string | null
}

export type AnswerDeps = SearchDeps

export type Answered = {
  answer: string
  sources: FoundChunk[]
  /** That answered; null, as `usage`, where none was asked. */
  model: string | null
  usage: Usage | null
  headers: Record<string, string>
}

export async function answer(deps: AnswerDeps, call: RagCall, question: Question): Promise<Answered> {
  const sources = await sourcesFor(deps, call, question)
  if (sources.length === 0) return { answer: NOTHING_FOUND, sources, model: null, usage: null, headers: {} }
  const { answer, model, usage, headers } = await complete(deps.gateway, callFor(deps, call, question, sources))
  return { answer: answer.text, sources, model, usage, headers }
}

/** `stream` is null when nothing is near enough. @throws as `answer` does, until the vendor's first piece */
export async function answerStream(
  deps: AnswerDeps,
  call: RagCall,
  question: Question,
): Promise<{ sources: FoundChunk[]; stream: CompletionStream | null }> {
  const sources = await sourcesFor(deps, call, question)
  if (sources.length === 0) return { sources, stream: null }
  return { sources, stream: await stream(deps.gateway, callFor(deps, call, question, sources)) }
}

/** One record a question: the gateway writes it when a vendor answers; a vendor that embeds the question has one of its own. */
async function sourcesFor(
  deps: AnswerDeps,
  call: RagCall,
  { question, topK, minScore, history, conditions }: Question,
): Promise<FoundChunk[]> {
  const query = { queries: queriesFor(question, history), topK, minScore, conditions }
  if (deps.embedder !== null) return search(deps, call, query)

  const sources = await findChunks(deps, call.caller.userId, query, call.signal)
  if (sources.length === 0) await metered(deps, call, sizeOf(query), async () => {})
  return sources
}

/** A question may lean on one that leaned on another: "How long is parental leave?" "Is it paid?" "By whom?" */
const TURNS = 2
/** A pasted page is no question any more. */
const TURN_CHARACTERS = 1_000

/** The question itself, and behind the user's last turns, so that "Is it paid?" is searched with what it is about. Asks no vendor. */
function queriesFor(question: string, history: Turn[]): string[] {
  const turns = history
    .filter(({ role, content }) => role === 'user' && content.trim() !== '')
    .slice(-TURNS)
    .map(({ content }) => content.slice(0, TURN_CHARACTERS))
  const behind = turns.map((_, i) => [...turns.slice(-1 - i), question].join('\n'))
  return [question, ...behind]
}

const ANSWER_TOKENS = 1_000
/** Facts are wanted, not variety. */
const TEMPERATURE = 0.2

function callFor(
  { gateway }: AnswerDeps,
  { caller, route, signal, origin }: RagCall,
  { question, history, model }: Question,
  sources: FoundChunk[],
): GatewayCall {
  return {
    caller,
    route,
    first: model === null ? routeFor(gateway.config, caller, null, null) : routeForModel(gateway.config, caller, model),
    request: { messages: promptOf(question, sources, history), max_tokens: ANSWER_TOKENS, temperature: TEMPERATURE },
    signal,
    origin,
  }
}

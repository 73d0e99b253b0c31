/** Answers a question from the user's own documents, and checks what the answer cites. Nothing near enough: no model is asked to answer, and it says so. */
import { type CompletionStream, complete, type GatewayCall, stream } from '#ai/chat-call.ts'
import { chooseRoute, findRouteByName } from '#ai/routing.ts'
import type { Usage } from '#ai/vendors/vendor.ts'
import { expandRoute, findKnownModel, getVendor, type Route } from '#models/catalogue.ts'
import type { RagDeps } from '../deps.ts'
import { metered, type RagCall } from '../metering.ts'
import type { Condition } from '../search/filter.ts'
import { candidatesOf, reranked } from '../search/rerank.ts'
import {
  countQueryBytes,
  type FoundChunk,
  findChunks,
  findDocuments,
  type Search,
  type SearchDeps,
  type SearchQuery,
  search,
} from '../search/search.ts'
import type { SearchWarning } from '../search/warnings.ts'
import { asksNothing, readMessage } from '../search/words/message.ts'
import { type Citation, type CitationCheck, checkCitations } from './citations.ts'
import { findOverview, introduceOverview, type Overview, readOverviewChunks } from './overview.ts'
import { buildPassages, joinText, type Passage } from './passages.ts'
import {
  type Asked,
  buildPrompt,
  computeRoom,
  NOTHING_FOUND,
  readName,
  type Turn,
  trimHistory,
} from './prompt.ts'
import { readQueries, standalone } from './standalone.ts'

export type Question = {
  question: string
  topK: number
  /** Null: the bound of the model that answers. */
  minScore: number | null
  history: Turn[]
  conditions: Condition[]
  /** By one name, as under /v1; null: the usual one. */
  model: string | null
}

export type AnswerDeps = SearchDeps & Pick<RagDeps, 'followUpModel' | 'secrets' | 'clock'>

/** The sources of an answer. */
export type Evidence = {
  /** As a model put the question to search it; null where none did. */
  searchedAs: string | null
  /** Chosen to describe the documents as a whole, not searched. */
  isOverview: boolean
  sources: Passage[]
  /** Without sources: what came nearest. */
  nearest: FoundChunk[]
  warnings: SearchWarning[]
}

export type Answered = Evidence & {
  answer: string
  citations: Citation[]
  /** The model that answered; null, like `usage`, if none was called. */
  model: string | null
  usage: Usage | null
  headers: Record<string, string>
}

export type AnswerStream = CompletionStream & { check: CitationCheck }

export async function answer(
  deps: AnswerDeps,
  call: RagCall,
  question: Question,
): Promise<Answered> {
  const { evidence, gatewayCall } = await prepared(deps, call, question)
  if (gatewayCall === null) {
    return {
      ...evidence,
      answer: NOTHING_FOUND,
      citations: [],
      model: null,
      usage: null,
      headers: {},
    }
  }
  const { answer, model, usage, headers } = await complete(deps.gateway, gatewayCall)
  const check = createCitationCheck(question, evidence.sources)
  const text = check.push(answer.text) + check.end()
  return { ...evidence, answer: text, citations: check.citations(), model, usage, headers }
}

/** `stream` is null when nothing is near enough. @throws as `answer` does, until the vendor's first piece */
export async function answerStream(
  deps: AnswerDeps,
  call: RagCall,
  question: Question,
): Promise<{ evidence: Evidence; stream: AnswerStream | null }> {
  const { evidence, gatewayCall } = await prepared(deps, call, question)
  if (gatewayCall === null) return { evidence, stream: null }
  const answering = await stream(deps.gateway, gatewayCall)
  return {
    evidence,
    stream: { ...answering, check: createCitationCheck(question, evidence.sources) },
  }
}

function createCitationCheck({ question }: Question, sources: Passage[]): CitationCheck {
  const names = sources.flatMap(({ metadata }) => [
    readName(metadata) ?? '',
    String(metadata.heading ?? ''),
  ])
  const passages = sources.map((source) => {
    const text = joinText(source)
    const head = text.length - source.content.length
    return { text, pieces: source.pieces.map((piece) => ({ ...piece, at: piece.at + head })) }
  })
  return checkCitations(passages, [question, ...names].join('\n'))
}

/** `gatewayCall` is null when nothing is near enough. */
async function prepared(
  deps: AnswerDeps,
  call: RagCall,
  question: Question,
): Promise<{ evidence: Evidence; gatewayCall: GatewayCall | null }> {
  const { config } = deps.gateway
  const { caller } = call
  const first =
    question.model === null
      ? chooseRoute(config, caller, null, null)
      : findRouteByName(config, caller, question.model)
  const minScore = question.minScore ?? findMinScore(deps, first)
  const { found, nearest, warnings, overview, searchedAs } = await findPassages(deps, call, {
    ...question,
    minScore,
  })

  const contextTokens = readContext(deps, first)
  const asked: Asked = {
    question: question.question,
    history: trimHistory(question.history, contextTokens),
    overview: overview && introduceOverview(overview),
  }
  const tokens = Math.max(PASSAGE_TOKENS_MIN, computeRoom(asked, contextTokens, ANSWER_TOKENS))
  const neighbourTokens = overview === null ? NEIGHBOUR_TOKENS_MAX : 0
  const sources = await buildPassages(deps, caller.userId, found, { tokens, neighbourTokens })

  const evidence = { searchedAs, isOverview: overview !== null, sources, nearest, warnings }
  if (sources.length === 0) return { evidence, gatewayCall: null }
  const { route, signal, origin } = call
  const request = {
    messages: buildPrompt(deps.secrets, asked, sources, deps.clock.now()),
    max_tokens: ANSWER_TOKENS,
    temperature: TEMPERATURE,
  }
  return { evidence, gatewayCall: { caller, route, first, request, signal, origin } }
}

const ANSWER_TOKENS = 1_000
/** Facts are wanted, not variety. */
const TEMPERATURE = 0.2
/** However little room a model has: its vendor says what is too long. */
const PASSAGE_TOKENS_MIN = 500
/** They cost on every question, and few answers need more. */
const NEIGHBOUR_TOKENS_MAX = 3_000
/** Of a model that is not known, as behind an address of the operator's own. */
const CONTEXT_TOKENS_UNKNOWN = 8_192

/** From there on a passage answers more often than not. */
export const MIN_SCORE = 0.5
/** A vendor's model reads more than words, and says so where its sources do not answer. */
const MIN_SCORE_OF_VENDORS = 0.3

/** An embedder whose cosines nobody has calibrated may give any passage 0.3. */
function findMinScore({ gateway, embedder }: AnswerDeps, { vendor }: Route): number {
  const isPlayed = getVendor(gateway.config.vendors, vendor).sandboxed
  return isPlayed || embedder?.isCalibrated === false ? MIN_SCORE : MIN_SCORE_OF_VENDORS
}

/** The shortest of those that may answer. */
function readContext({ gateway }: AnswerDeps, first: Route): number {
  const { config } = gateway
  return Math.min(
    ...expandRoute(config, first).map(
      ({ vendor, model }) =>
        findKnownModel(config, vendor, model)?.contextTokens ?? CONTEXT_TOKENS_UNKNOWN,
    ),
  )
}

/** One record a question: the gateway writes it when a vendor answers; a vendor that embeds the question, or makes it stand alone, has its own. */
async function findPassages(
  deps: AnswerDeps,
  call: RagCall,
  { question, topK, minScore, history, conditions }: Question & { minScore: number },
): Promise<Search & { overview: Overview | null; searchedAs: string | null }> {
  const { userId } = call.caller
  const overview = findOverview(
    readMessage(question).subject,
    await findDocuments(deps, userId, conditions),
    history.length > 0,
  )
  if (overview !== null) {
    return {
      found: await readOverviewChunks(deps, userId, overview),
      nearest: [],
      warnings: [],
      overview,
      searchedAs: null,
    }
  }
  if (minScore > 0 && asksNothing(question)) {
    await metered({ ...deps, embedder: null }, call, 0, async () => {})
    return { found: [], nearest: [], warnings: [], overview, searchedAs: null }
  }
  const searchedAs = await standalone(deps, call, question, history)
  const queries = searchedAs === null ? readQueries(question, history) : [searchedAs]
  return {
    ...(await runSearch(deps, call, { queries, topK, minScore, conditions })),
    overview: null,
    searchedAs,
  }
}

async function runSearch(deps: AnswerDeps, call: RagCall, query: SearchQuery): Promise<Search> {
  if (deps.embedder !== null) return search(deps, call, query)
  const wide = { ...query, topK: candidatesOf(deps, query) }
  const found = await findChunks(deps, call.caller.userId, wide, call.signal)
  if (found.found.length === 0) await metered(deps, call, countQueryBytes(query), async () => {})
  return { ...found, ...(await reranked(deps, call, query, found)) }
}

// Answers a question from the user's documents and checks the answer's citations. When no passage
// is near enough, no model is called and the reply says so.
import { type CompletionStream, complete, type GatewayCall, stream } from '#ai/chat-call.ts'
import { chooseRoute, findRouteByName } from '#ai/routing.ts'
import type { Usage } from '#ai/vendors/vendor.ts'
import { expandRoute, findKnownModel, getVendor, type Route } from '#models/catalogue.ts'
import type { RagDeps } from '../deps.ts'
import { meterCall, type RagCall } from '../metering.ts'
import type { Condition } from '../search/filter.ts'
import { countCandidates, rerankChunks } from '../search/rerank.ts'
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
import { isCourtesyOnly, readMessage } from '../search/words/message.ts'
import { createCitationCheck } from './citation-check.ts'
import type { Citation, CitationCheck } from './citations.ts'
import { findOverview, introduceOverview, type Overview, readOverviewChunks } from './overview.ts'
import { buildPassages, type Passage } from './passages.ts'
import {
  buildPrompt,
  computeRoom,
  NOTHING_FOUND,
  type PromptInput,
  type Turn,
  trimHistory,
} from './prompt.ts'
import { readQueries, rewriteFollowUp } from './standalone.ts'

export type Question = {
  question: string
  topK: number
  /** Null: the default minimum of the model that answers. */
  minScore: number | null
  history: Turn[]
  conditions: Condition[]
  /** For the model, such as those of collections; empty: none. */
  instructions: string
  /** A model's name, as under /v1; null: the default model. */
  model: string | null
}

export type AnswerDeps = SearchDeps & Pick<RagDeps, 'followUpModel' | 'secrets' | 'clock'>

/** The sources of an answer. */
export type Evidence = {
  /** The question as a model rewrote it for the search; null where no model did. */
  searchedAs: string | null
  /** True when the sources describe the documents as a whole and were not searched. */
  isOverview: boolean
  sources: Passage[]
  /** The nearest passages when there are no sources. */
  nearest: FoundChunk[]
  warnings: SearchWarning[]
}

export type Answered = Evidence & {
  answer: string
  citations: Citation[]
  /** The model that answered; null, like `usage`, when no model was called. */
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
  const { evidence, gatewayCall } = await prepareAnswer(deps, call, question)
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
  const check = createCitationCheck(question.question, evidence.sources)
  const text = check.push(answer.text) + check.end()
  return { ...evidence, answer: text, citations: check.citations(), model, usage, headers }
}

/** `stream` is null when no passage is near enough. @throws the errors of `answer` */
export async function answerStream(
  deps: AnswerDeps,
  call: RagCall,
  question: Question,
): Promise<{ evidence: Evidence; stream: AnswerStream | null }> {
  const { evidence, gatewayCall } = await prepareAnswer(deps, call, question)
  if (gatewayCall === null) return { evidence, stream: null }
  const answering = await stream(deps.gateway, gatewayCall)
  return {
    evidence,
    stream: { ...answering, check: createCitationCheck(question.question, evidence.sources) },
  }
}

/** `gatewayCall` is null when no passage is near enough. */
export async function prepareAnswer(
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
  const input: PromptInput = {
    question: question.question,
    instructions: question.instructions,
    history: trimHistory(question.history, contextTokens),
    overview: overview && introduceOverview(overview),
  }
  const tokens = Math.max(PASSAGE_TOKENS_MIN, computeRoom(input, contextTokens, ANSWER_TOKENS))
  const neighbourTokens = overview === null ? NEIGHBOUR_TOKENS_MAX : 0
  const sources = await buildPassages(deps, caller.userId, found, { tokens, neighbourTokens })

  const evidence = { searchedAs, isOverview: overview !== null, sources, nearest, warnings }
  if (sources.length === 0) return { evidence, gatewayCall: null }
  const { route, signal, origin } = call
  const request = {
    messages: buildPrompt(deps.secrets, input, sources, deps.clock.now()),
    max_tokens: ANSWER_TOKENS,
    temperature: TEMPERATURE,
  }
  return { evidence, gatewayCall: { caller, route, first, request, signal, origin } }
}

const ANSWER_TOKENS = 1_000
/** Low, because answers need facts, not variety. */
const TEMPERATURE = 0.2
/** The minimum even for models with little room; the vendor rejects prompts that are too long. */
const PASSAGE_TOKENS_MIN = 500
/** Neighbours cost on every question, and few answers need more. */
const NEIGHBOUR_TOKENS_MAX = 3_000
/** Assumed for unknown models, such as those behind the operator's own address. */
const CONTEXT_TOKENS_UNKNOWN = 8_192

/** At this score and above a passage answers more often than not. */
export const MIN_SCORE = 0.5
/** Lower for vendors' models: they report when their sources do not answer the question. */
const MIN_SCORE_OF_VENDORS = 0.3

/** Uses the higher minimum for uncalibrated embedders, which may score any passage at 0.3. */
export function findMinScore(
  { gateway, embedder }: Pick<AnswerDeps, 'gateway' | 'embedder'>,
  { vendor }: Route,
): number {
  const isPlayed = getVendor(gateway.config.vendors, vendor).sandboxed
  return isPlayed || embedder?.isCalibrated === false ? MIN_SCORE : MIN_SCORE_OF_VENDORS
}

/** Returns the smallest context among the models that may answer. */
export function readContext({ gateway }: Pick<AnswerDeps, 'gateway'>, first: Route): number {
  const { config } = gateway
  return Math.min(
    ...expandRoute(config, first).map(
      ({ vendor, model }) =>
        findKnownModel(config, vendor, model)?.contextTokens ?? CONTEXT_TOKENS_UNKNOWN,
    ),
  )
}

/** The gateway records the answer; a vendor that embeds or rewrites has its own record. */
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
  if (minScore > 0 && isCourtesyOnly(question)) {
    await meterCall({ ...deps, embedder: null }, call, 0, async () => {})
    return { found: [], nearest: [], warnings: [], overview, searchedAs: null }
  }
  const searchedAs = await rewriteFollowUp(deps, call, question, history)
  const queries = searchedAs === null ? readQueries(question, history) : [searchedAs]
  return {
    ...(await runSearch(deps, call, { queries, topK, minScore, conditions })),
    overview: null,
    searchedAs,
  }
}

async function runSearch(deps: AnswerDeps, call: RagCall, query: SearchQuery): Promise<Search> {
  if (deps.embedder !== null) return search(deps, call, query)
  const wide = { ...query, topK: countCandidates(deps, query) }
  const found = await findChunks(deps, call.caller.userId, wide, call.signal)
  if (found.found.length === 0) await meterCall(deps, call, countQueryBytes(query), async () => {})
  return { ...found, ...(await rerankChunks(deps, call, query, found)) }
}

// A chat call before and after it is asked: its routes, its place in the budget and among the running calls, its record.
// A prompt's tokens are guessed rather too many; the answer's limit is fitted to what the budget holds.
import { hash } from 'node:crypto'
import type { PlanLimits } from '#catalogue/catalogue.ts'
import { knownModel, ofVendor, type Route } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { Problem } from '#platform/problem.ts'
import type { Reservation } from '#usage/ledger.ts'
import type { CallOrigin } from './call-origin.ts'
import {
  type CallRecord,
  type NewCall,
  NOTHING,
  openCall,
  type RecordDeps,
  type Spent,
} from './call-record.ts'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { type Extras, NO_EXTRAS } from './cost.ts'
import { type Affinity, affinityOf } from './endpoints.ts'
import { guessTokens, jsonTokens, keepsAnHour, promptTokens } from './estimate.ts'
import type { Latencies } from './latencies.ts'
import { guessedMedia, type MediaNeeds, mediaNeeds } from './media.ts'
import { aiProblem } from './problems.ts'
import { fallbackChain, type RoutingConfig } from './routing.ts'
import { orderOf } from './strategies.ts'
import { type ChatRequest, SHORT_ANSWER_TOKENS } from './vendors/chat-request.ts'
import {
  alwaysSearches,
  compacts,
  NO_SEARCHES,
  searchesIn,
  switchesOf,
  WEB_SEARCH,
} from './vendors/extras.ts'
import type { NativeRequest, Usage, Vendor } from './vendors/vendor.ts'

export type GatewayCall = Asked & {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'models' | 'budget'>
  /** As the ledger shall name it: `/api/ai/chat`. */
  route: string
  first: Route
  /** Aborts when the client goes away. */
  signal: AbortSignal
  origin?: CallOrigin | undefined
}

/** What a vendor is asked: in the gateway's words, or in those of a vendor's own API. */
export type Asked =
  | { request: ChatRequest; native?: undefined }
  | { request?: undefined; native: NativeRequest }

export type PreparedCall = {
  /** Whom to ask, in this order. */
  routes: Route[]
  record: CallRecord
  /** The call's request, its length fitted to what the budget holds. */
  asked: Asked
  media: MediaNeeds
  /** What was used, where nobody counted. */
  guess(characters: number): Usage
  /** The conversation, by which one of several equals is chosen. */
  affinity: Affinity
  /** Makes room for the next call. */
  release(): void
}

type Deps = RecordDeps & {
  config: RoutingConfig
  limiter: ConcurrencyLimiter
  latencies: Latencies
  targets: Readonly<Record<string, { vendor: Vendor }>>
  planLimits(tier: string): PlanLimits
}

/**
 * Tokens that a budget holds for an answer whose length the caller did not limit: as many as its model can answer with, so
 * that no limit need be told; where that is not known, as its vendor's longest; and at least these where a budget is short.
 */
const UNLIMITED_TOKENS = { unknown: 32_000, least: 4_096 }
/** The most that a caller may ask of a model whose longest answer is not known. */
const UNKNOWN_MODEL_TOKENS_MAX = 128_000

/** Reserves the budget and waits for a place. @throws Problem 400, 403, 429, 503; the signal's reason */
export async function prepareCall(
  deps: Deps,
  given: GatewayCall,
  isStream: boolean,
): Promise<PreparedCall> {
  const { config, limiter } = deps
  const { caller, route, signal, origin } = given
  const { promptTokens: guessed, limit: told, choices } = sizeOf(given)
  const { outputTokensMax, choicesMax } = deps.planLimits(caller.tier)
  if (choicesMax !== null && choices > choicesMax)
    throw aiProblem('choices_not_allowed', { max: choicesMax }, { extra: { param: 'n' } })
  const affinity = affinityOf(caller, turnsOf(given))
  const planMax = Math.min(
    told ?? Number.POSITIVE_INFINITY,
    outputTokensMax ?? Number.POSITIVE_INFINITY,
  )
  const size = { promptTokens: guessed, completionTokens: planMax * choices }
  const routes = fallbackChain(config, caller, given.first, (alias, open) =>
    orderOf(deps, alias, open, { affinity, isStream, size }),
  )
  const [first] = routes
  const longest = longestOf(config, routes)
  const atMost = told === null ? planMax : Math.min(planMax, longest.ceiling)
  // A plan's ceiling is told where the model could answer longer.
  const isCut =
    atMost !== told &&
    Number.isFinite(atMost) &&
    !(told === null && longest.isSure && longest.answer <= atMost)
  const bounded = isCut ? limitedTo(given, atMost) : given
  const limit = isCut ? atMost : told
  // A vendor refuses what is longer than its model can read.
  const prompt = Math.min(guessed, longest.prompt)
  const wanted =
    limit === null ? longest.answer : Math.min(limit, longest.isSure ? longest.answer : limit)
  const media = mediaNeeds(given)
  const { record, searchesMax } = await opened(deps, given, routes, {
    caller,
    route,
    kind: 'chat',
    first,
    routes,
    promptTokens: prompt,
    keepsAnHour: keepsAnHour(given.request ?? given.native.body),
    completionTokens: wanted * choices,
    completionTokensMin:
      (limit === null ? Math.min(wanted, UNLIMITED_TOKENS.least) : wanted) * choices,
    choices,
    media,
    signal,
    origin,
  })
  let release: () => void
  try {
    const place = limiter.acquire(caller.userId, signal)
    release = place instanceof Promise ? await place : place
  } catch (error) {
    await record.release()
    throw error
  }
  const { reservation } = record
  return {
    routes,
    record,
    asked: named(
      reservation === null
        ? bounded
        : fitted(bounded, reservation, { wanted, choices, searchesMax }),
      safetyIdentifierOf(caller.userId, origin),
    ),
    media,
    guess: (characters) => ({
      ...NOTHING,
      ...guessedMedia(media),
      prompt,
      completion: guessTokens(characters),
    }),
    affinity,
    release,
  }
}

/** How long a prompt and an answer can be at those that may be asked; `isSure`: no answer can be longer; `ceiling`: nor asked to be. */
function longestOf(config: RoutingConfig, routes: readonly Route[]) {
  const longest = { prompt: 0, answer: 0, ceiling: 0, isSure: true }
  for (const { vendor, model } of routes) {
    const known = knownModel(config, vendor, model)
    longest.prompt = Math.max(longest.prompt, known?.contextTokens ?? Number.POSITIVE_INFINITY)
    const own = known?.outputTokensMax ?? null
    const answer = own ?? longestAnswerOf(config, vendor)
    longest.answer = Math.max(longest.answer, answer)
    longest.ceiling = Math.max(longest.ceiling, own ?? Math.max(answer, UNKNOWN_MODEL_TOKENS_MAX))
    if (own === null) longest.isSure = false
  }
  return longest
}

function longestAnswerOf({ vendors }: RoutingConfig, vendor: string): number {
  let longest = 0
  for (const { outputTokensMax } of ofVendor(vendors, vendor).models)
    longest = Math.max(longest, outputTokensMax ?? 0)
  return longest || UNLIMITED_TOKENS.unknown
}

/** What was said up to now, oldest first, in whichever words. */
function turnsOf({ request, native }: Asked): unknown {
  return request?.messages ?? native?.body.messages ?? native?.body.input
}

/** `limit`: the caller's own for one answer, null where there is none. */
function sizeOf({ request, native }: Asked): {
  promptTokens: number
  limit: number | null
  choices: number
} {
  if (native !== undefined)
    return { promptTokens: jsonTokens(native.body), limit: native.limit, choices: 1 }
  const limit = request.max_completion_tokens ?? request.max_tokens ?? null
  return { promptTokens: promptTokens(request), limit, choices: Math.max(1, request.n ?? 1) }
}

/** A budget holds as many searches as are wanted, or, where it is short, one of each tool. @throws as `openCall` */
async function opened(
  deps: Deps,
  call: GatewayCall,
  routes: readonly Route[],
  record: NewCall,
): Promise<{ record: CallRecord; searchesMax: number }> {
  const wanted = extrasOf(deps, call, routes, Number.POSITIVE_INFINITY)
  const least = wanted.searches.calls > 1 ? extrasOf(deps, call, routes, 1) : wanted
  const isTrial = least.searches.calls < wanted.searches.calls
  try {
    const opened = await openCall(deps, { ...record, extras: wanted, isTrial })
    return { record: opened, searchesMax: Number.POSITIVE_INFINITY }
  } catch (error) {
    if (!isTrial || !(error instanceof Problem) || error.status !== 429) throw error
    return { record: await openCall(deps, { ...record, extras: least }), searchesMax: 1 }
  }
}

/** `searchesMax`: as `searchesIn` has it. */
function extrasOf(
  { targets }: Deps,
  { request, native }: GatewayCall,
  routes: readonly Route[],
  searchesMax: number,
): Extras {
  if (native !== undefined) {
    const { api, body } = native
    const switches = switchesOf(api, body)
    const dialect = api === 'messages' ? 'anthropic' : 'openai'
    // A translation has none of a vendor's own tools.
    const isOwn = routes.some(({ vendor, model }) => {
      const own = ofVendor(targets, vendor).vendor.native
      return own?.api === api && own.speaks(model)
    })
    const searches = isOwn ? searchesIn(api, body, searchesMax) : NO_SEARCHES
    const readings = isOwn && compacts(api, body) ? 2 : 1
    if (switches.length === 0 && searches.calls === 0 && readings === 1) return NO_EXTRAS
    return { dialect, switches, searches, readings, untoldSearches: 0 }
  }
  const switches = switchesOf('responses', request)
  const areSearchesAsked = request.web_search_options != null
  const isSearch = areSearchesAsked || routes.some(({ model }) => alwaysSearches(model))
  if (switches.length === 0 && !isSearch) return NO_EXTRAS
  const calls = isSearch ? Math.max(1, request.n ?? 1) : 0
  const searches = { ...WEB_SEARCH, calls }
  return {
    dialect: 'openai',
    switches,
    searches,
    readings: 1,
    untoldSearches: calls,
    areSearchesAsked,
  }
}

/** `wanted`: what the caller wants at most, or the model can say. */
function fitted(
  { request, native }: Asked,
  { completionTokens, held }: Reservation,
  { wanted, choices, searchesMax }: { wanted: number; choices: number; searchesMax: number },
): Asked {
  const fit = Math.max(1, Math.floor(completionTokens / choices))
  const asked = native !== undefined ? { native } : { request }
  const fitting = wanted <= fit ? asked : limitedTo(asked, fit)
  if (fitting.native === undefined || held === null) return fitting
  return { native: { ...fitting.native, searchesMax } }
}

function limitedTo({ request, native }: Asked, tokens: number): Asked {
  if (native !== undefined) return { native: { ...native, limit: tokens } }
  // A limit of ours that leaves no room for long thoughts is no wish of the caller's.
  const wishes =
    tokens > SHORT_ANSWER_TOKENS ? request.wishes : { ...request.wishes, asAsked: false }
  return {
    request: {
      ...request,
      max_tokens: null,
      max_completion_tokens: tokens,
      ...(wishes && { wishes }),
    },
  }
}

/** OpenAI takes 64 characters. An account's id is random and tells nobody who it is; whom its owner asks for is told apart by a digest. */
function safetyIdentifierOf(userId: string, origin: CallOrigin | undefined): string {
  const endUser = origin?.endUser ?? ''
  return endUser === '' ? userId : `${userId}.${hash('sha256', endUser).slice(0, 24)}`
}

function named({ request, native }: Asked, safetyIdentifier: string): Asked {
  if (native !== undefined) return { native: { ...native, safetyIdentifier } }
  return { request: { ...request, wishes: { ...request.wishes, safetyIdentifier } } }
}

/** Of a call without an answer; `told` is what its caller hears of the error. */
export async function settleFailure(
  { record, guess }: PreparedCall,
  { signal }: GatewayCall,
  error: unknown,
  told: unknown,
): Promise<void> {
  const isCancelled = isCallersLeaving(signal, error)
  // A vendor that was asked and then left has read the prompt, and will say so on its bill.
  const hasRead = isCancelled && record.attemptLog.attempts > 0
  const spent: Spent = { model: null, usage: hasRead ? guess(0) : NOTHING, isEstimated: hasRead }
  await record.settle(isCancelled ? 'cancelled' : 'failed', spent, told)
}

/** It ended because nobody listens any more: no fault of the vendor's. */
export function isCallersLeaving(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted || (error instanceof Error && error.name === 'AbortError')
}

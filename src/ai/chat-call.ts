// A chat call before and after it is asked: its routes, its place in the budget and among the running calls, its record.
// A prompt's tokens are guessed rather too many; the answer's limit is fitted to what the budget holds.
import { knownModel, ofVendor, type Route } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Config } from '#src/config.ts'
import type { Reservation } from '#usage/ledger.ts'
import { type CallRecord, NOTHING, openCall, type RecordDeps, type Spent } from './call-record.ts'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { guessTokens, keepsAnHour, promptTokens } from './estimate.ts'
import { fallbackChain } from './routing.ts'
import { type ChatRequest, SHORT_ANSWER_TOKENS } from './vendors/chat-request.ts'
import type { Usage } from './vendors/vendor.ts'

export type GatewayCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'models' | 'budget'>
  /** As the ledger shall name it: `/api/ai/chat`. */
  route: string
  first: Route
  request: ChatRequest
  /** Aborts when the client goes away. */
  signal: AbortSignal
}

export type PreparedCall = {
  /** Whom to ask, in this order. */
  routes: Route[]
  record: CallRecord
  /** The call's request, its length fitted to what the budget holds. */
  request: ChatRequest
  /** What was used, where nobody counted. */
  guess(characters: number): Usage
  /** Makes room for the next call. */
  release(): void
}

type Deps = RecordDeps & { config: Config['ai']; limiter: ConcurrencyLimiter }

/**
 * Tokens that a budget holds for an answer whose length the caller did not limit: as many as its model can answer with, so
 * that no limit need be told; where that is not known, as its vendor's longest; and at least these where a budget is short.
 */
const UNLIMITED_TOKENS = { unknown: 32_000, least: 4_096 }

/** Reserves the budget and waits for a place. @throws Problem 400, 403, 429, 503; the signal's reason */
export async function prepareCall(deps: Deps, call: GatewayCall): Promise<PreparedCall> {
  const { config, limiter } = deps
  const { caller, route, first, request, signal } = call
  const routes = fallbackChain(config, caller, first)
  const longest = longestOf(config, routes)
  // A vendor refuses what is longer than its model can read.
  const prompt = Math.min(promptTokens(request), longest.prompt)
  const limit = request.max_completion_tokens ?? request.max_tokens ?? null
  const asked = limit === null ? longest.answer : Math.min(limit, longest.isSure ? longest.answer : limit)
  const choices = Math.max(1, request.n ?? 1)
  const record = await openCall(deps, {
    caller,
    route,
    kind: 'chat',
    first,
    routes,
    promptTokens: prompt,
    keepsAnHour: keepsAnHour(request),
    completionTokens: asked * choices,
    completionTokensMin: (limit ?? Math.min(asked, UNLIMITED_TOKENS.least)) * choices,
    signal,
  })
  let release: () => void
  try {
    release = await limiter.acquire(caller.userId, signal)
  } catch (error) {
    await record.release()
    throw error
  }
  const { reservation } = record
  return {
    routes,
    record,
    request: reservation === null ? request : fitted(request, reservation, asked),
    guess: (characters) => ({ ...NOTHING, prompt, completion: guessTokens(characters) }),
    release,
  }
}

/** How long a prompt and an answer can be at those that may be asked; `isSure`: no answer can be longer. */
function longestOf(config: Config['ai'], routes: readonly Route[]) {
  const longest = { prompt: 0, answer: 0, isSure: true }
  for (const { vendor, model } of routes) {
    const known = knownModel(config, vendor, model)
    longest.prompt = Math.max(longest.prompt, known?.contextTokens ?? Number.POSITIVE_INFINITY)
    longest.answer = Math.max(longest.answer, known?.outputTokensMax ?? longestAnswerOf(config, vendor))
    if (known?.outputTokensMax == null) longest.isSure = false
  }
  return longest
}

function longestAnswerOf({ vendors }: Config['ai'], vendor: string): number {
  let longest = 0
  for (const { outputTokensMax } of ofVendor(vendors, vendor).models) longest = Math.max(longest, outputTokensMax ?? 0)
  return longest || UNLIMITED_TOKENS.unknown
}

/** `asked`: what the caller wants at most, or the model can. */
function fitted(request: ChatRequest, { completionTokens }: Reservation, asked: number): ChatRequest {
  const fit = Math.max(1, Math.floor(completionTokens / Math.max(1, request.n ?? 1)))
  if (asked <= fit) return request
  // A limit of ours that leaves no room for long thoughts is no wish of the caller's.
  const wishes = fit > SHORT_ANSWER_TOKENS ? request.wishes : { ...request.wishes, asAsked: false }
  return { ...request, max_tokens: null, max_completion_tokens: fit, ...(wishes && { wishes }) }
}

/** Of a call without an answer. */
export async function settleFailure(
  { record, guess }: PreparedCall,
  { signal }: GatewayCall,
  error: unknown,
): Promise<void> {
  const isCancelled = isCallersLeaving(signal, error)
  // A vendor that was asked and then left has read the prompt, and will say so on its bill.
  const hasRead = isCancelled && record.attemptLog.attempts > 0
  const spent: Spent = { model: null, usage: hasRead ? guess(0) : NOTHING, isEstimated: hasRead }
  await record.settle(isCancelled ? 'cancelled' : 'failed', spent)
}

/** It ended because nobody listens any more: no fault of the vendor's. */
export function isCallersLeaving(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted || (error instanceof Error && error.name === 'AbortError')
}

// A chat call before and after it is asked: its routes, its place in the budget and among the running calls, its record.
// A prompt's tokens are guessed rather too many; the answer's limit is fitted to what the budget holds.
import { knownModel, type Route } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Config } from '#src/config.ts'
import type { Reservation } from '#usage/ledger.ts'
import type { CallOrigin } from './call-origin.ts'
import { type CallRecord, NOTHING, openCall, type RecordDeps, type Spent } from './call-record.ts'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import { guessTokens, promptTokens } from './estimate.ts'
import { fallbackChain } from './routing.ts'
import { type ChatRequest, SHORT_ANSWER_TOKENS } from './vendors/chat-request.ts'
import type { Usage } from './vendors/vendor.ts'

export type GatewayCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'models'>
  /** As the ledger shall name it: `/api/ai/chat`. */
  route: string
  first: Route
  request: ChatRequest
  /** Aborts when the client goes away. */
  signal: AbortSignal
  origin?: CallOrigin | undefined
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
 * Tokens that a budget holds for an answer whose length the caller did not limit: as long as its model can answer, within
 * reason, and not so many while other calls hold what is left.
 */
const UNLIMITED_TOKENS = { most: 32_000, least: 4_096 }

/** Reserves the budget and waits for a place. @throws Problem 400, 403, 429, 503; the signal's reason */
export async function prepareCall(deps: Deps, call: GatewayCall): Promise<PreparedCall> {
  const { config, limiter } = deps
  const { caller, route, first, request, signal, origin } = call
  const routes = fallbackChain(config, caller, first)
  const model = knownModel(config, first.vendor, first.model)
  // A vendor refuses what is longer than its model can read.
  const prompt = Math.min(promptTokens(request), model?.contextTokens ?? Number.POSITIVE_INFINITY)
  const limit = request.max_completion_tokens ?? request.max_tokens ?? null
  const asked = limit ?? Math.min(model?.outputTokensMax ?? UNLIMITED_TOKENS.least, UNLIMITED_TOKENS.most)
  const choices = Math.max(1, request.n ?? 1)
  const record = await openCall(deps, {
    caller,
    route,
    kind: 'chat',
    first,
    promptTokens: prompt,
    completionTokens: asked * choices,
    completionTokensMin: (limit ?? UNLIMITED_TOKENS.least) * choices,
    signal,
    origin,
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
    request: reservation === null ? request : fitted(request, reservation, limit),
    guess: (characters) => ({ ...NOTHING, prompt, completion: guessTokens(characters) }),
    release,
  }
}

/** `limit` is the caller's own. */
function fitted(request: ChatRequest, { granted, completionTokens }: Reservation, limit: number | null): ChatRequest {
  const fit = Math.max(1, Math.floor(completionTokens / Math.max(1, request.n ?? 1)))
  if (granted === null || (limit !== null && limit <= fit)) return request
  // A limit of ours that leaves no room for long thoughts is no wish of the caller's.
  const wishes = fit > SHORT_ANSWER_TOKENS ? request.wishes : { ...request.wishes, asAsked: false }
  return { ...request, max_tokens: null, max_completion_tokens: fit, ...(wishes && { wishes }) }
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

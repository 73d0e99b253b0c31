// The gateway to the models: budget, queue, retries and failover, the record of a call, and the words for its failures.
// One thing to know: `complete` and `stream` settle the ledger in any case, also when the client leaves or the vendor
// breaks off; a stream's reader learns of the end only when its record is committed.

import { type Dialect, findModel, ofVendor } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import type { VendorConfig } from '#src/config.ts'
import type { Ledger, Reservation } from '#usage/ledger.ts'
import { attempt, type Trail, type VendorHealth } from './attempts.ts'
import { type Breaker, createBreaker, createRests, type Rests } from './breaker.ts'
import { type CallRecord, NOTHING, openCall, type Spent } from './call-record.ts'
import { createTurnstile, type Turnstile } from './concurrency-limiter.ts'
import { guessTokens, promptTokens } from './estimate.ts'
import { createMeters, type Meters } from './metrics.ts'
import { aiProblem } from './problems.ts'
import { type Candidate, planOf } from './routing.ts'
import { createAnthropic } from './vendors/anthropic.ts'
import { createGemini } from './vendors/gemini.ts'
import { createOpenAi } from './vendors/openai.ts'
import {
  type Answer,
  type ChatRequest,
  CONTEXT_EXCEEDED,
  type FinishReason,
  type Piece,
  SHORT_ANSWER_TOKENS,
  type Usage,
  type Vendor,
  VendorError,
  type VendorOptions,
} from './vendors/vendor.ts'
import { openWire, type Target, targetOf, type Wire } from './vendors/wire.ts'

export type Gateway = {
  config: Platform['config']['ai']
  clock: Clock
  log: Platform['log']
  ledger: Ledger
  wire: Wire
  targets: Readonly<Record<string, Target>>
  breakers: Readonly<Record<string, Breaker>>
  rests: Rests
  turnstile: Turnstile
  meters: Meters
  /** How long a stream may be silent before its client is told that it lives. */
  silenceMs: number
}

export type GatewayCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier'>
  /** As the ledger shall name it: `/api/ai/chat`. */
  route: string
  first: Candidate
  request: ChatRequest
  /** Aborts when the client goes away. */
  signal: AbortSignal
}

/** Response headers that say who answered, and after how many attempts. */
export type AnswerHeaders = { 'x-latchkey-vendor': string; 'x-latchkey-attempts': string }

export type Completion = { answer: Answer; model: string; usage: Usage; headers: AnswerHeaders }

export type CompletionStream = {
  model: string
  headers: AnswerHeaders
  /**
   * Gives the pieces as they come, one batch a network read; what `take` returns is waited for before the next.
   * Resolves when the answer is whole, rejects with a Problem when it was cut.
   */
  each(take: (batch: Piece[]) => Promise<void> | void): Promise<void>
  /** What was used; final when `each` has ended. */
  usage(): Usage
  /** Why the answer ended; known when `each` has ended. */
  finish(): FinishReason
}

/**
 * Tokens that a budget holds for an answer whose length the caller did not limit: as long as its model can answer, within
 * reason, and not so many while other calls hold what is left.
 */
const UNLIMITED_TOKENS = { most: 32_000, least: 4_096 }
const RUNNING_MAX = 2_000
const WAITING_MAX = 10_000
/** Some proxies give up on a reply after 30 seconds without a byte. */
const SILENCE_MS = 10_000

const DIALECTS: Record<Dialect, (apiKey: string, options: VendorOptions) => Vendor> = {
  openai: createOpenAi,
  anthropic: createAnthropic,
  gemini: createGemini,
}

export function openGateway(platform: Pick<Platform, 'config' | 'clock' | 'log' | 'metrics'>, ledger: Ledger): Gateway {
  const { clock, log } = platform
  const config = platform.config.ai
  const perVendor = <T>(make: (vendor: VendorConfig) => T): Record<string, T> =>
    Object.fromEntries(Object.values(config.vendors).map((vendor) => [vendor.name, make(vendor)]))
  const breakers = perVendor(() => createBreaker(clock))
  const rests = createRests(clock)
  const turnstile = createTurnstile({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX })
  return {
    config,
    clock,
    log,
    ledger,
    wire: openWire(config),
    targets: perVendor((vendor) => {
      const { habits, sandboxed: isSandbox } = vendor
      const options = { known: (model: string) => findModel(vendor, model), habits, isSandbox }
      return targetOf(DIALECTS[vendor.dialect](vendor.apiKey ?? '', options), vendor.baseUrl)
    }),
    breakers,
    rests,
    turnstile,
    meters: createMeters(platform.metrics, { breakers, rests, turnstile }),
    silenceMs: SILENCE_MS,
  }
}

/** @throws Problem 400, 404, 429, 502, 503, 504; the signal's reason when the client has gone. */
export async function complete(gateway: Gateway, call: GatewayCall): Promise<Completion> {
  const { wire, targets } = gateway
  const book = await openBook(gateway, call)
  const { trail } = book.record
  let answer: Answer | null = null
  try {
    const { candidate, result } = await attempt(healthOf(gateway), book.plan, call.signal, trail, (candidate) => {
      const target = ofVendor(targets, candidate.vendor)
      const request = target.vendor.shape(candidate.model, book.request, false)
      return wire.send(target, request, call.signal).then(target.vendor.readAnswer)
    })
    answer = result
    const model = answer.model ?? candidate.model
    const usage = answer.usage ?? book.guess(answer.text.length)
    await book.record.settle('ok', { model, usage, isEstimated: answer.usage === null })
    return { answer, model, usage, headers: headersOf(trail) }
  } catch (error) {
    if (answer === null) await settleFailure(book, call, error)
    throw problemOf(gateway, error, trail)
  } finally {
    book.leave()
  }
}

/** Resolves with the vendor's first piece. @throws as `complete`, until then. */
export async function stream(gateway: Gateway, call: GatewayCall): Promise<CompletionStream> {
  const { wire, targets } = gateway
  const book = await openBook(gateway, call)
  const { trail } = book.record
  try {
    const { candidate, result: pieces } = await attempt(
      healthOf(gateway),
      book.plan,
      call.signal,
      trail,
      (candidate) => {
        const target = ofVendor(targets, candidate.vendor)
        return wire.open(target, target.vendor.shape(candidate.model, book.request, true), call.signal)
      },
    )
    book.record.begun()
    let characters = 0
    let finish: FinishReason = 'stop'
    const usage = () => pieces.usage ?? book.guess(characters)

    pieces.onClose(async (failure) => {
      const outcome = failure === null ? 'ok' : isOurs(call, failure) ? 'cancelled' : 'failed'
      // What a cut stream has used is seldom said before its end: then the words that came are counted.
      const said = pieces.usage
      const counted = outcome === 'ok' && said !== null ? said : largest(said, book.guess(characters))
      if (outcome === 'failed') trail.tried.push('cut')
      const model = pieces.model ?? candidate.model
      await book.record.settle(outcome, { model, usage: counted, isEstimated: counted !== said })
      book.leave()
    })

    return {
      model: pieces.model ?? candidate.model,
      headers: headersOf(trail),
      usage,
      finish: () => finish,
      each: (take) =>
        pieces
          .each((batch) => {
            for (const piece of batch) {
              characters += piece.text.length + piece.thought.length
              if (piece.finish !== null) finish = piece.finish
            }
            return take(batch)
          })
          .catch((error) => {
            throw problemOf(gateway, error, trail)
          }),
    }
  } catch (error) {
    await settleFailure(book, call, error)
    book.leave()
    throw problemOf(gateway, error, trail)
  }
}

export function healthOf({ breakers, rests, clock }: Pick<Gateway, 'breakers' | 'rests' | 'clock'>): VendorHealth {
  return { breakers, rests, nowMs: () => clock.ms() }
}

type Book = {
  plan: Candidate[]
  record: CallRecord
  /** The call's request, its length fitted to what the budget holds. */
  request: ChatRequest
  /** What was used, where nobody counted. */
  guess(characters: number): Usage
  /** Makes room for the next call. */
  leave(): void
}

/** Reserves the budget and waits for a turn. */
async function openBook(gateway: Gateway, call: GatewayCall): Promise<Book> {
  const { caller, route, first, request, signal } = call
  const plan = planOf(gateway.config, caller.tier, first)
  const model = findModel(ofVendor(gateway.config.vendors, first.vendor), first.model)
  // A vendor refuses what is longer than its model can read.
  const prompt = Math.min(promptTokens(request), model?.contextTokens ?? Number.POSITIVE_INFINITY)
  const limit = request.max_completion_tokens ?? request.max_tokens ?? null
  const asked = limit ?? Math.min(model?.outputTokensMax ?? UNLIMITED_TOKENS.least, UNLIMITED_TOKENS.most)
  const choices = Math.max(1, request.n ?? 1)
  const record = await openCall(gateway, {
    caller,
    route,
    kind: 'chat',
    first,
    promptTokens: prompt,
    completionTokens: asked * choices,
    completionTokensMin: (limit ?? UNLIMITED_TOKENS.least) * choices,
    signal,
  })
  let leave: () => void
  try {
    leave = await gateway.turnstile.enter(caller.userId, signal)
  } catch (error) {
    await record.release()
    throw error
  }
  const { reservation } = record
  return {
    plan,
    record,
    request: reservation === null ? request : fitted(request, reservation, limit),
    guess: (characters) => ({ ...NOTHING, prompt, completion: guessTokens(characters) }),
    leave,
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

async function settleFailure({ record, guess }: Book, call: GatewayCall, error: unknown): Promise<void> {
  const isCancelled = isOurs(call, error)
  // A vendor that was asked and then left has read the prompt, and will say so on its bill.
  const hasRead = isCancelled && record.trail.attempts > 0
  const spent: Spent = { model: null, usage: hasRead ? guess(0) : NOTHING, isEstimated: hasRead }
  await record.settle(isCancelled ? 'cancelled' : 'failed', spent)
}

function isOurs(call: GatewayCall, error: unknown): boolean {
  return call.signal.aborted || (error instanceof Error && error.name === 'AbortError')
}

function largest(said: Usage | null, guess: Usage): Usage {
  return said === null ? guess : { ...said, completion: Math.max(said.completion, guess.completion) }
}

function headersOf({ vendor, attempts }: Trail): AnswerHeaders {
  return { 'x-latchkey-vendor': vendor ?? '', 'x-latchkey-attempts': String(attempts) }
}

/** The contract's words. What is no vendor's failure passes as it is. */
export function problemOf({ log }: Pick<Gateway, 'log'>, error: unknown, trail: Trail): unknown {
  if (!(error instanceof VendorError)) return error
  const { failure } = error
  const vendor = error.vendor ?? trail.vendor ?? ''
  if (failure !== 'refused' && failure !== 'unknown-model')
    log.warn({ err: error, vendor, tried: trail.tried }, 'a model vendor failed')
  const headers: Record<string, string> = { ...headersOf(trail) }
  const options = { headers, cause: error }
  const reason = error.explanation ?? 'no reason given'
  switch (failure) {
    case 'limited':
      headers['Retry-After'] = String(Math.max(1, Math.ceil((error.retryAfterMs ?? 5_000) / 1_000)))
      return aiProblem('vendor_overloaded', { vendor, seconds: headers['Retry-After'] }, options)
    case 'timeout':
      return aiProblem('vendor_timeout', { vendor }, options)
    case 'unknown-model':
      return aiProblem('model_not_found', { vendor, reason }, options)
    case 'refused': {
      const extra = { reason: error.explanation, ...(error.param === null ? {} : { param: error.param }) }
      return aiProblem(
        error.code === CONTEXT_EXCEEDED ? CONTEXT_EXCEEDED : 'vendor_refused',
        { vendor, reason },
        { ...options, alias: error.code ?? undefined, extra },
      )
    }
    case 'unauthorized':
      // Understood by OpenAI's clients, which otherwise repeat a 502.
      headers['x-should-retry'] = 'false'
      return aiProblem('vendor_unauthorized', { vendor }, options)
    default:
      return aiProblem('vendor_failed', { vendor }, options)
  }
}

// The gateway to the models: every chat, completion and answer asks a vendor through `complete` or `stream`.
// Both settle the call's record in any case, also when the client leaves or the vendor breaks off; a stream's reader learns
// of the end only when the record is committed.
import { type Dialect, findModel, knownModel, type Model, ofVendor } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import type { VendorConfig } from '#src/config.ts'
import type { Ledger } from '#usage/ledger.ts'
import { type AnswerHeaders, answerHeaders } from './attempt-log.ts'
import { attempt } from './attempts.ts'
import { type Breaker, createBreaker, createModelBreakers, type ModelBreakers } from './breaker.ts'
import { type GatewayCall, isCallersLeaving, prepareCall, settleFailure } from './chat-call.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.ts'
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts'
import { vendorProblem } from './vendor-problem.ts'
import { createAnthropic } from './vendors/anthropic.ts'
import { createGemini } from './vendors/gemini.ts'
import { createOpenAi } from './vendors/openai.ts'
import type { FinishReason, Piece } from './vendors/piece.ts'
import type { Answer, Usage, Vendor, VendorOptions } from './vendors/vendor.ts'
import { openWire, type Target, targetOf, type Wire } from './vendors/wire.ts'

export type { GatewayCall } from './chat-call.ts'

export type Gateway = {
  config: Platform['config']['ai']
  clock: Clock
  log: Platform['log']
  ledger: Ledger
  wire: Wire
  targets: Readonly<Record<string, Target>>
  breakers: Readonly<Record<string, Breaker>>
  modelBreakers: ModelBreakers
  limiter: ConcurrencyLimiter
  metrics: GatewayMetrics
  /** How long a stream may be silent before its client is told that it lives. */
  silenceMs: number
}

export type Completion = { answer: Answer; model: string; usage: Usage; costUsd: number; headers: AnswerHeaders }

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
  /** US dollars; known when `each` has ended. */
  costUsd(): number
  /** Why the answer ended; known when `each` has ended. */
  finish(): FinishReason
}

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
  const modelBreakers = createModelBreakers(clock)
  const limiter = createConcurrencyLimiter({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX })
  return {
    config,
    clock,
    log,
    ledger,
    wire: openWire(config),
    targets: perVendor((vendor) => {
      const { habits, sandboxed: isSandbox } = vendor
      const options = { known: (model: string) => knownAt(config, vendor, model), habits, isSandbox }
      return targetOf(DIALECTS[vendor.dialect](vendor.apiKey ?? '', options), vendor.baseUrl)
    }),
    breakers,
    modelBreakers,
    limiter,
    metrics: createGatewayMetrics(platform.metrics, { breakers, modelBreakers, limiter }),
    silenceMs: SILENCE_MS,
  }
}

/** Of a model that this vendor does not list (as a proxy does not), what holds in any dialect. */
function knownAt(config: Platform['config']['ai'], vendor: VendorConfig, id: string): Model | null {
  const own = findModel(vendor, id)
  const known = own ?? knownModel(config, vendor.name, id)
  if (known === null || own !== null) return own
  const { temperature } = known.habits
  return { ...known, habits: temperature === undefined ? {} : { temperature } }
}

/** @throws Problem 400, 403, 404, 429, 502, 503, 504; the signal's reason when the client has gone. */
export async function complete(gateway: Gateway, call: GatewayCall): Promise<Completion> {
  const { wire, targets } = gateway
  const { signal } = call
  const prepared = await prepareCall(gateway, call)
  const { routes, record, guess, release } = prepared
  const { attemptLog } = record
  let answer: Answer | null = null
  try {
    const { route, result } = await attempt(gateway, routes, signal, attemptLog, ({ vendor, model }) => {
      const target = ofVendor(targets, vendor)
      const request = target.vendor.shape(model, prepared.request, false)
      return wire.send(target, request, signal, attemptLog).then(target.vendor.readAnswer)
    })
    answer = result
    const model = answer.model ?? route.model
    const usage = answer.usage ?? guess(answer.text.length)
    const costUsd = await record.settle('ok', { model, usage, isEstimated: answer.usage === null })
    return { answer, model, usage, costUsd, headers: answerHeaders(attemptLog) }
  } catch (error) {
    const told = vendorProblem(gateway, error, attemptLog)
    if (answer === null) await settleFailure(prepared, call, error, told)
    throw told
  } finally {
    release()
  }
}

/** Resolves with the vendor's first piece. @throws as `complete`, until then. */
export async function stream(gateway: Gateway, call: GatewayCall): Promise<CompletionStream> {
  const { wire, targets } = gateway
  const { signal } = call
  const prepared = await prepareCall(gateway, call)
  const { routes, record, guess, release } = prepared
  const { attemptLog } = record
  try {
    const { route, result: pieces } = await attempt(gateway, routes, signal, attemptLog, ({ vendor, model }) => {
      const target = ofVendor(targets, vendor)
      return wire.open(target, target.vendor.shape(model, prepared.request, true), signal, attemptLog)
    })
    record.begun()
    let characters = 0
    let finish: FinishReason = 'stop'
    let costUsd = 0
    const cut: { failure: unknown; told: unknown } = { failure: null, told: null }
    const toldOf = (failure: unknown): unknown => {
      // A failure is logged as it is put into words: once, though the record and the reader are told.
      if (cut.failure !== failure) Object.assign(cut, { failure, told: vendorProblem(gateway, failure, attemptLog) })
      return cut.told
    }
    const usage = () => pieces.usage ?? guess(characters)

    pieces.onClose(async (failure) => {
      const outcome = failure === null ? 'ok' : isCallersLeaving(signal, failure) ? 'cancelled' : 'failed'
      // What a cut stream has used is seldom said before its end: then the words that came are counted.
      const said = pieces.usage
      const counted = outcome === 'ok' && said !== null ? said : largest(said, guess(characters))
      if (outcome === 'failed') attemptLog.steps.push('cut')
      const model = pieces.model ?? route.model
      const spent = { model, usage: counted, isEstimated: counted !== said }
      costUsd = await record.settle(outcome, spent, failure && toldOf(failure))
      release()
    })

    return {
      model: pieces.model ?? route.model,
      headers: answerHeaders(attemptLog),
      usage,
      costUsd: () => costUsd,
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
            throw toldOf(error)
          }),
    }
  } catch (error) {
    const told = vendorProblem(gateway, error, attemptLog)
    await settleFailure(prepared, call, error, told)
    release()
    throw told
  }
}

function largest(said: Usage | null, guess: Usage): Usage {
  return said === null ? guess : { ...said, completion: Math.max(said.completion, guess.completion) }
}

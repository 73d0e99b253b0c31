// The gateway to the models: every chat, completion and answer asks a vendor through `complete` or `stream`.
// Both settle the call's record in any case, also when the client leaves or the vendor breaks off; a stream's reader learns
// of the end only when the record is committed.
import { limitsOf, type PlanLimits } from '#catalogue/catalogue.ts'
import type { VendorConfig } from '#config/config.ts'
import {
  type Dialect,
  findModel,
  knownModel,
  type Model,
  ofVendor,
  type Route,
} from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import type { LiveSwitches } from '#switches/live.ts'
import type { Ledger } from '#usage/ledger.ts'
import { type AnswerHeaders, answerHeaders, newAttemptLog } from './attempt-log.ts'
import { attempt } from './attempts.ts'
import { type Breaker, createBreaker, createModelBreakers, type ModelBreakers } from './breaker.ts'
import type { Spent } from './call-record.ts'
import {
  type GatewayCall,
  isCallersLeaving,
  type PreparedCall,
  prepareCall,
  settleFailure,
} from './chat-call.ts'
import { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.ts'
import type { EndpointHealth } from './endpoints.ts'
import { jsonTokens } from './estimate.ts'
import { createLatencies, type Latencies } from './latencies.ts'
import { requirePricedMedia } from './media.ts'
import { createGatewayMetrics, type GatewayMetrics } from './metrics.ts'
import { patienceOf } from './patience.ts'
import type { ReplyCache } from './reply-cache.ts'
import { fallbackChain, type RoutingConfig } from './routing.ts'
import { createSwitchedOff } from './switched-off.ts'
import { vendorProblem } from './vendor-problem.ts'
import { createAnthropic } from './vendors/anthropic.ts'
import type { ChatRequest } from './vendors/chat-request.ts'
import type { AnswerLimits } from './vendors/exchange.ts'
import { createGemini } from './vendors/gemini.ts'
import { createOpenAi } from './vendors/openai.ts'
import type { FinishReason, Piece } from './vendors/piece.ts'
import { createStopCut, type StopCut } from './vendors/stop-cut.ts'
import type {
  Answer,
  NativeRequest,
  Usage,
  Vendor,
  VendorOptions,
  VendorRequest,
} from './vendors/vendor.ts'
import { openWire, type Target, targetOf, type Wire } from './vendors/wire.ts'

export type { GatewayCall } from './chat-call.ts'

export type Gateway = {
  config: RoutingConfig
  clock: Clock
  tracer: Platform['tracer']
  log: Platform['log']
  ledger: Ledger
  wire: Wire
  /** Each vendor's first endpoint: what its models can is the same at all. */
  targets: Readonly<Record<string, Target>>
  endpoints: Readonly<Record<string, readonly Endpoint[]>>
  /** By the name of an endpoint. */
  breakers: Readonly<Record<string, Breaker>>
  modelBreakers: ModelBreakers
  latencies: Latencies
  limiter: ConcurrencyLimiter
  metrics: GatewayMetrics
  replies: ReplyCache
  /** How long a stream may be silent before its client is told that it lives. */
  silenceMs: number
  /** The longest request. */
  bodyBytesMax: number
  planLimits(tier: string): PlanLimits
}

export type Endpoint = EndpointHealth & { target: Target }

export type Completion = {
  answer: Answer
  model: string
  usage: Usage
  costUsd: number
  headers: AnswerHeaders
  /** The answer's body is in the words of the API that the caller speaks, as the vendor said it. */
  isNative: boolean
  /** At which the answer was cut here; null where it was not. */
  stopSequence: string | null
}

export type CompletionStream = {
  model: string
  headers: AnswerHeaders
  /** The pieces' chunks are events of the API that the caller speaks, as the vendor said them. */
  isNative: boolean
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
  /** At which the answer was cut here; known when `each` has ended. */
  stopSequence(): string | null
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

/** All that is needed to ask a vendor; nothing is recorded. */
export type Vendors = Pick<
  Gateway,
  | 'config'
  | 'clock'
  | 'tracer'
  | 'log'
  | 'wire'
  | 'targets'
  | 'endpoints'
  | 'breakers'
  | 'modelBreakers'
>

export function openVendors(
  platform: Pick<Platform, 'config' | 'clock' | 'log' | 'tracer'>,
  switches: LiveSwitches,
): Vendors {
  const { clock, log, tracer } = platform
  const config = {
    ...platform.config.ai,
    switchedOff: createSwitchedOff(platform.config.ai, switches),
  }
  const perVendor = <T>(make: (vendor: VendorConfig) => T): Record<string, T> =>
    Object.fromEntries(Object.values(config.vendors).map((vendor) => [vendor.name, make(vendor)]))
  const targetAt = (vendor: VendorConfig, baseUrl: string, apiKey: string) => {
    const { habits, sandboxed: isSandbox } = vendor
    const { allowsAccountObjects } = config
    const options = {
      known: (model: string) => knownAt(config, vendor, model),
      habits,
      isSandbox,
      allowsAccountObjects,
    }
    return targetOf(DIALECTS[vendor.dialect](apiKey, options), baseUrl)
  }
  const endpoints = perVendor((vendor) =>
    vendor.endpoints.map(({ name, weight, baseUrl, apiKey }): Endpoint => {
      return {
        name,
        weight,
        breaker: createBreaker(clock),
        target: targetAt(vendor, baseUrl, apiKey),
      }
    }),
  )
  const breakers = Object.fromEntries(
    Object.values(endpoints).flatMap((all) => all.map(({ name, breaker }) => [name, breaker])),
  )
  return {
    config,
    clock,
    tracer,
    log,
    wire: openWire(
      config,
      tracer && { tracer, tellsVendors: platform.config.telemetry.traces?.tellsVendors ?? false },
    ),
    targets: perVendor(
      (vendor) => endpoints[vendor.name]?.[0]?.target ?? targetAt(vendor, vendor.baseUrl, ''),
    ),
    endpoints,
    breakers,
    modelBreakers: createModelBreakers(clock),
  }
}

export function openGateway(
  platform: Pick<Platform, 'config' | 'clock' | 'log' | 'metrics' | 'tracer'>,
  ledger: Ledger,
  replies: ReplyCache,
  switches: LiveSwitches,
): Gateway {
  const vendors = openVendors(platform, switches)
  const { breakers, modelBreakers } = vendors
  const limiter = createConcurrencyLimiter({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX })
  return {
    ...vendors,
    ledger,
    latencies: createLatencies(vendors.config.aliases),
    limiter,
    metrics: createGatewayMetrics(platform.metrics, { breakers, modelBreakers, limiter }),
    replies,
    silenceMs: SILENCE_MS,
    bodyBytesMax: platform.config.maxAiBodyBytes,
    planLimits: (tier) => limitsOf(platform.config.catalogue, tier),
  }
}

/** Of a model that this vendor does not list (as a proxy does not), what holds in any dialect. */
function knownAt(config: RoutingConfig, vendor: VendorConfig, id: string): Model | null {
  const own = findModel(vendor, id)
  const known = own ?? knownModel(config, vendor.name, id)
  if (known === null || own !== null) return own
  const { temperature } = known.habits
  return { ...known, habits: temperature === undefined ? {} : { temperature } }
}

/** @throws Problem 400, 403, 404, 429, 502, 503, 504; the signal's reason when the client has gone. */
export async function complete(gateway: Gateway, call: GatewayCall): Promise<Completion> {
  const { wire, latencies } = gateway
  const { signal } = call
  const prepared = await prepareCall(gateway, call, false)
  const { routes, record, guess, release, affinity } = prepared
  const { attemptLog } = record
  let answer: Answer | null = null
  let isNative = false
  let stopped: StopCut | null = null
  try {
    const ask = (route: Route, { target }: Endpoint, limits: AnswerLimits) => {
      const speaker = speakerFor(gateway, target.vendor, route, prepared)
      isNative = speaker.isNative
      stopped = speaker.cut
      const shaped = speaker.shape(false)
      attemptLog.leftOut = shaped.leftOut ?? []
      return latencies
        .timed(route, false, wire.send(target, shaped, signal, attemptLog, limits))
        .then(speaker.readAnswer)
    }
    const patience = patienceOf(gateway.config, { wantedMs: call.origin?.timeoutMs ?? null })
    const { route, result } = await attempt(
      gateway,
      routes,
      signal,
      attemptLog,
      ask,
      patience,
      affinity,
    )
    answer = result
    const model = answer.model ?? route.model
    const usage = answer.usage ?? guess(answerCharacters(answer))
    const costUsd = await record.settle('ok', { model, usage, isEstimated: answer.usage === null })
    const stopSequence = matchedStop(stopped)
    return {
      answer,
      model,
      usage,
      costUsd,
      headers: answerHeaders(attemptLog),
      isNative,
      stopSequence,
    }
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
  const { wire, latencies } = gateway
  const { signal } = call
  const prepared = await prepareCall(gateway, call, true)
  const { routes, record, guess, release, affinity } = prepared
  const { attemptLog } = record
  let isNative = false
  let stopped: StopCut | null = null
  try {
    const ask = (route: Route, { target }: Endpoint, limits: AnswerLimits) => {
      const speaker = speakerFor(gateway, target.vendor, route, prepared)
      isNative = speaker.isNative
      stopped = speaker.cut
      const shaped = speaker.shape(true)
      attemptLog.leftOut = shaped.leftOut ?? []
      return latencies.timed(
        route,
        true,
        wire.open(target, shaped, speaker.createReader(), signal, attemptLog, limits),
      )
    }
    const patience = patienceOf(gateway.config, {
      isStream: true,
      wantedMs: call.origin?.timeoutMs ?? null,
    })
    const { route, result: pieces } = await attempt(
      gateway,
      routes,
      signal,
      attemptLog,
      ask,
      patience,
      affinity,
    )
    let finish: FinishReason = 'stop'
    let costUsd = 0
    const cut: { failure: unknown; told: unknown } = { failure: null, told: null }
    const toldOf = (failure: unknown): unknown => {
      // A failure is logged as it is put into words: once, though the record and the reader are told.
      if (cut.failure !== failure)
        Object.assign(cut, { failure, told: vendorProblem(gateway, failure, attemptLog) })
      return cut.told
    }
    const usage = () => pieces.usage ?? guess(pieces.characters)
    // What a stream has used is seldom said before its end: until then the words that came are counted.
    const soFar = (): Spent => {
      const usage = largest(pieces.usage, guess(pieces.characters))
      return { model: pieces.model, usage, isEstimated: usage !== pieces.usage }
    }
    record.begun(soFar)

    pieces.onClose(async (failure) => {
      const outcome =
        failure === null ? 'ok' : isCallersLeaving(signal, failure) ? 'cancelled' : 'failed'
      const said = pieces.usage
      if (outcome === 'failed') attemptLog.steps.push('cut')
      const isTold = outcome === 'ok' && said !== null
      const spent = isTold ? { model: pieces.model, usage: said, isEstimated: false } : soFar()
      costUsd = await record.settle(outcome, spent, failure && toldOf(failure))
      release()
    })

    return {
      model: pieces.model ?? route.model,
      headers: answerHeaders(attemptLog),
      isNative,
      usage,
      costUsd: () => costUsd,
      finish: () => finish,
      stopSequence: () => matchedStop(stopped),
      each: (take) =>
        pieces
          .each((batch) => {
            for (const piece of batch) {
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

/** Costs nothing and is no call: the one model is asked, where its vendor counts. @throws as `complete` */
export async function countTokens(
  gateway: Gateway,
  {
    caller,
    first,
    native,
    signal,
  }: Pick<GatewayCall, 'caller' | 'first' | 'signal'> & { native: NativeRequest },
): Promise<number> {
  const { wire, targets, config } = gateway
  const [asked] = fallbackChain(config, caller, first)
  const own = ofVendor(targets, asked.vendor).vendor.native
  const counting = own?.api === native.api && own.speaks(asked.model) ? own.count : undefined
  if (counting === undefined) return jsonTokens(native.body)
  const attemptLog = newAttemptLog(0)
  try {
    const ask = ({ model }: Route, { target }: Endpoint, limits: AnswerLimits) => {
      // With the key of the endpoint that is asked.
      const { shape, readAnswer } = target.vendor.native?.count ?? counting
      return wire.send(target, shape(model, native), signal, undefined, limits).then(readAnswer)
    }
    const { result } = await attempt(gateway, [asked], signal, attemptLog, ask, patienceOf(config))
    return result
  } catch (error) {
    throw vendorProblem(gateway, error, attemptLog)
  }
}

/** What a closure has set is not seen by the compiler. */
const matchedStop = (cut: StopCut | null): string | null => cut?.matched ?? null

type Speaker = Pick<Vendor, 'readAnswer' | 'createReader'> & {
  shape(stream: boolean): VendorRequest
  isNative: boolean
  /** Null: the vendor itself ends at stop sequences. */
  cut: StopCut | null
}

/** Who speaks to a vendor: in the caller's own words where the vendor has them, else in a translation. */
function speakerFor(
  gateway: Gateway,
  vendor: Vendor,
  route: Route,
  { asked: { request, native }, media }: Pick<PreparedCall, 'asked' | 'media'>,
): Speaker {
  const { model } = route
  const priced = (shape: Speaker['shape']): Speaker['shape'] => {
    return (stream) => {
      // An input that the vendor cannot take is refused first.
      const shaped = shape(stream)
      requirePricedMedia(gateway.config, route, media)
      return shaped
    }
  }
  const own = vendor.native
  if (native !== undefined && own?.api === native.api && own.speaks(model)) {
    return {
      ...own,
      shape: priced((stream) => own.shape(model, native, stream)),
      isNative: true,
      cut: null,
    }
  }
  const { readAnswer, createReader } = vendor
  const translated = request ?? translationFor(gateway, vendor, route, native)
  const shape = priced((stream) => {
    const shaped = vendor.shape(model, translated, stream)
    return { ...shaped, leftOut: [...(native?.untranslated ?? []), ...(shaped.leftOut ?? [])] }
  })
  const cut = vendor.ignoresStop?.(model, translated) ? createStopCut(translated) : null
  if (cut === null) return { shape, readAnswer, createReader, isNative: false, cut }
  return {
    shape,
    readAnswer: (body) => cut.cutAnswer(readAnswer(body)),
    createReader: () => cut.wrapReader(createReader()),
    isNative: false,
    cut,
  }
}

/** An agent says the same to every model: as much of it as this one can take. */
function translationFor(
  { config }: Gateway,
  vendor: Vendor,
  { vendor: name, model }: Route,
  { limit, translated, safetyIdentifier }: NativeRequest,
): ChatRequest {
  const { reasoning_effort: effort, ...request } = translated()
  const { thinking } = vendor.capabilities(model)
  const most = knownModel(config, name, model)?.outputTokensMax ?? null
  return {
    ...request,
    max_completion_tokens: limit === null || most === null ? limit : Math.min(limit, most),
    ...(safetyIdentifier && { wishes: { ...request.wishes, safetyIdentifier } }),
    ...(thinking && effort != null ? { reasoning_effort: effort } : {}),
  }
}

function answerCharacters({ text, toolCalls }: Answer): number {
  return toolCalls.reduce(
    (sum, { function: called }) => sum + called.name.length + called.arguments.length,
    text.length,
  )
}

function largest(said: Usage | null, guess: Usage): Usage {
  return said === null
    ? guess
    : { ...said, completion: Math.max(said.completion, guess.completion) }
}

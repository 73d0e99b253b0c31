// A call to a chat model, step by step: authorize, resolve the route, estimate, reserve, attempt,
// stream, settle. A call whose client leaves or whose vendor breaks off is settled as well.
import type { Route } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { Problem } from '#platform/problem.ts'
import { type AnswerHeaders, buildAnswerHeaders } from './attempt-log.ts'
import { type Attempt, attempt } from './attempts.ts'
import { findExtras } from './call-extras.ts'
import type { CallOrigin } from './call-origin.ts'
import { readParameters } from './call-parameters.ts'
import { CallRecord, type NewCall, NOTHING, type Spent } from './call-record.ts'
import { type Affinity, createAffinity } from './endpoints.ts'
import { cachesForHour, guessTokens } from './estimate.ts'
import type { Endpoint, Gateway } from './gateway.ts'
import { guessMediaTokens, type MediaNeeds, measureMedia } from './media.ts'
import {
  addSafetyIdentifier,
  fitToReservation,
  type ModelRequest,
  measureRequest,
  type RequestSize,
  readTurns,
  setOutputLimit,
} from './model-request.ts'
import { limitOutputTokens, measureModels } from './output-limit.ts'
import { createPatience } from './patience.ts'
import { aiProblem } from './problems.ts'
import { authorizeRoutes, resolveRoutes } from './routing.ts'
import { createSpeaker, type Speaker } from './speaker.ts'
import { orderRoutes } from './strategies.ts'
import { vendorProblem } from './vendor-problem.ts'
import type { AnswerChunk, FinishReason } from './vendors/chunk.ts'
import type { ChunkStream } from './vendors/chunk-stream.ts'
import type { AnswerLimits } from './vendors/exchange.ts'
import type { Answer, Usage } from './vendors/vendor.ts'

export type GatewayCall = ModelRequest & {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'models' | 'budget'>
  /** The route as the ledger writes it: `/api/ai/chat`. */
  route: string
  first: Route
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  origin?: CallOrigin | undefined
  /** True: the operator pays. The call counts in no budget and in no ledger. */
  isFree?: boolean
}

export type Completion = {
  answer: Answer
  model: string
  usage: Usage
  costUsd: number
  headers: AnswerHeaders
  /** True when the answer's body is the vendor's, in the format of the caller's API. */
  isNative: boolean
  /** The stop sequence at which the gateway cut the answer; null if it did not. */
  stopSequence: string | null
}

export type CompletionStream = {
  model: string
  headers: AnswerHeaders
  /** True when the chunks' events are the vendor's, in the format of the caller's API. */
  isNative: boolean
  /** Passes each batch (one per network read) to `take` and awaits it. @throws Problem when cut */
  each(take: (batch: AnswerChunk[]) => Promise<void> | void): Promise<void>
  /** Final when `each` has ended. */
  usage(): Usage
  /** US dollars; known when `each` has ended. */
  costUsd(): number
  /** Known when `each` has ended. */
  finish(): FinishReason
  /** The stop sequence at which the gateway cut the answer; known when `each` has ended. */
  stopSequence(): string | null
}

/** @throws Problem 400, 403, 404, 429, 502, 503, 504; the signal's reason */
export async function complete(gateway: Gateway, gatewayCall: GatewayCall): Promise<Completion> {
  const { wire, latencies } = gateway
  const call = await prepareCall(gateway, gatewayCall, false)
  const { attemptLog } = call.record
  const { route, result } = await attemptCall(call, (route, target, speaker, limits) =>
    latencies
      .measure(
        route,
        false,
        wire.send(target, speaker.request, gatewayCall.signal, attemptLog, limits),
      )
      .then(speaker.readAnswer),
  )
  return settleAnswer(call, route, result)
}

/** Resolves when the vendor's first chunk arrives. @throws the errors of `complete` before it */
export async function stream(
  gateway: Gateway,
  gatewayCall: GatewayCall,
): Promise<CompletionStream> {
  const { wire, latencies } = gateway
  const call = await prepareCall(gateway, gatewayCall, true)
  const { attemptLog } = call.record
  const { route, result } = await attemptCall(call, (route, target, speaker, limits) => {
    const reader = speaker.createReader()
    const answer = wire.open(
      target,
      speaker.request,
      reader,
      gatewayCall.signal,
      attemptLog,
      limits,
    )
    return latencies.measure(route, true, answer)
  })
  return streamAnswer(call, route, result)
}

type ChatCall = {
  gateway: Gateway
  gatewayCall: GatewayCall
  isStream: boolean
  affinity: Affinity
  /** In order of preference. */
  routes: readonly Route[]
  estimate: Estimate
  record: CallRecord
  /** The request, limited to the reserved budget. */
  request: ModelRequest
  /** The translator for the vendor of the latest attempt. */
  speaker: Speaker | null
  /** Frees the slot of the call. */
  release(): void
}

/** Runs the steps before the first attempt. @throws Problem 400, 403, 429, 503 */
async function prepareCall(
  gateway: Gateway,
  gatewayCall: GatewayCall,
  isStream: boolean,
): Promise<ChatCall> {
  const size = measureRequest(gatewayCall)
  const affinity = createAffinity(gatewayCall.caller, readTurns(gatewayCall))
  const allowed = authorize(gateway, gatewayCall, size)
  const routes = resolveRoute(gateway, gatewayCall, allowed, { affinity, isStream, size })
  const estimate = estimateTokens(gateway, gatewayCall, size, routes)
  const { record, request } = await reserve(gateway, gatewayCall, isStream, routes, estimate)
  const release = await acquirePlace(gateway, gatewayCall, record)
  const call = {
    gateway,
    gatewayCall,
    isStream,
    affinity,
    routes,
    estimate,
    record,
    request,
    release,
  }
  return { ...call, speaker: null }
}

/** Returns the requested model, or those models of the requested alias that the caller may use. @throws Problem 403 */
function authorize(
  { config, planLimits }: Gateway,
  { caller, first }: GatewayCall,
  { choices }: RequestSize,
): readonly Route[] {
  const { choicesMax } = planLimits(caller.tier)
  if (choicesMax !== null && choices > choicesMax)
    throw aiProblem('choices_not_allowed', { max: choicesMax }, { extra: { param: 'n' } })
  return authorizeRoutes(config, caller, first)
}

/** @throws Problem 400, 503 */
function resolveRoute(
  gateway: Gateway,
  { caller, first }: GatewayCall,
  allowed: readonly Route[],
  { affinity, isStream, size }: { affinity: Affinity; isStream: boolean; size: RequestSize },
): [Route, ...Route[]] {
  const { promptTokens, choices } = size
  const limit = size.limit ?? Number.POSITIVE_INFINITY
  const planMax = gateway.planLimits(caller.tier).outputTokensMax ?? Number.POSITIVE_INFINITY
  const completionTokens = Math.min(limit, planMax) * choices
  const choice = { affinity, isStream, size: { promptTokens, completionTokens } }
  return resolveRoutes(gateway.config, caller, first, allowed, (alias, routes) =>
    orderRoutes(gateway, alias, routes, choice),
  )
}

type Estimate = {
  /** The request, limited to what the plan and the models allow. */
  request: ModelRequest
  /** An estimate that errs high. */
  promptTokens: number
  /** For one answer. */
  answerTokens: number
  answerTokensMin: number
  choices: number
  media: MediaNeeds
}

function estimateTokens(
  { config, planLimits }: Gateway,
  gatewayCall: GatewayCall,
  size: RequestSize,
  routes: readonly Route[],
): Estimate {
  const { outputTokensMax } = planLimits(gatewayCall.caller.tier)
  const lengths = measureModels(config, routes)
  const { limit, reserved, reservedMin } = limitOutputTokens(size.limit, outputTokensMax, lengths)
  const isLimited = limit !== null && limit !== size.limit
  return {
    request: isLimited ? setOutputLimit(gatewayCall, limit) : gatewayCall,
    // Vendors reject a prompt that is longer than the model's context.
    promptTokens: Math.min(size.promptTokens, lengths.promptMax),
    answerTokens: reserved,
    answerTokensMin: reservedMin,
    choices: size.choices,
    media: measureMedia(gatewayCall),
  }
}

/** Reserves all possible searches; on a short budget, one per tool. @throws Problem 429 */
async function reserve(
  gateway: Gateway,
  gatewayCall: GatewayCall,
  isStream: boolean,
  routes: [Route, ...Route[]],
  estimate: Estimate,
): Promise<{ record: CallRecord; request: ModelRequest }> {
  const { caller, route, signal, origin, isFree = false } = gatewayCall
  const { promptTokens, answerTokens, answerTokensMin, choices, media } = estimate
  const call: NewCall = {
    caller,
    route,
    kind: 'chat',
    first: routes[0],
    routes,
    promptTokens,
    cachesForHour: cachesForHour(gatewayCall.request ?? gatewayCall.native.body),
    completionTokens: answerTokens * choices,
    completionTokensMin: answerTokensMin * choices,
    choices,
    media,
    isReserved: !isFree,
    isRecorded: !isFree,
    parameters: readParameters(gatewayCall, isStream),
    signal,
    origin,
  }
  const extras = findExtras(gateway.targets, gatewayCall, routes, Number.POSITIVE_INFINITY)
  const fewest =
    extras.searches.calls > 1 ? findExtras(gateway.targets, gatewayCall, routes, 1) : extras
  const isTrial = fewest.searches.calls < extras.searches.calls
  let searchesMax = Number.POSITIVE_INFINITY
  const record = await CallRecord.open(gateway, { ...call, extras, isTrial }).catch((error) => {
    if (!isTrial || !(error instanceof Problem) || error.status !== 429) throw error
    searchesMax = 1
    return CallRecord.open(gateway, { ...call, extras: fewest })
  })
  const { reservation } = record
  const limits = { answerTokens, choices, searchesMax }
  const fitted =
    reservation === null
      ? estimate.request
      : fitToReservation(estimate.request, reservation, limits)
  return { record, request: addSafetyIdentifier(fitted, caller.userId, origin?.endUser ?? '') }
}

/** @throws Problem 503 when too many calls wait; the signal's reason */
async function acquirePlace(
  { limiter }: Gateway,
  { caller, signal }: GatewayCall,
  record: CallRecord,
): Promise<() => void> {
  try {
    return await limiter.acquire(caller.userId, signal)
  } catch (error) {
    await record.release()
    throw error
  }
}

type Send<T> = (
  route: Route,
  target: Endpoint['target'],
  speaker: Speaker,
  limits: AnswerLimits,
) => Promise<T>

/** Requests the routes until one answers; settles and releases a call that none answers. */
async function attemptCall<T>(call: ChatCall, send: Send<T>): Promise<Attempt<T>> {
  const { gateway, gatewayCall, isStream, routes, affinity, record, estimate } = call
  const { attemptLog } = record
  const { config } = gateway
  const ask = (route: Route, { target }: Endpoint, limits: AnswerLimits) => {
    const { vendor } = target
    const speaker = createSpeaker(config, vendor, route, call.request, estimate.media, isStream)
    call.speaker = speaker
    attemptLog.leftOut = speaker.request.leftOut ?? []
    return send(route, target, speaker, limits)
  }
  const patience = createPatience(config, {
    isStream,
    wantedMs: gatewayCall.origin?.timeoutMs ?? null,
  })
  try {
    return await attempt(gateway, routes, gatewayCall.signal, attemptLog, ask, patience, affinity)
  } catch (error) {
    const problem = vendorProblem(gateway, error, attemptLog)
    await settleFailure(call, error, problem)
    call.release()
    throw problem
  }
}

function streamAnswer(call: ChatCall, route: Route, chunks: ChunkStream): CompletionStream {
  const { gatewayCall, record, speaker } = call
  const { attemptLog } = record
  let finish: FinishReason = 'stop'
  let costUsd = 0
  const explain = createExplainer(call)
  // Few vendors report usage before the end of a stream; until then, its characters are counted.
  const readSpent = (): Spent => {
    const usage = chooseLarger(chunks.usage, guessUsage(call, chunks.characters))
    return { model: chunks.model, usage, isEstimated: usage !== chunks.usage }
  }
  record.begin(readSpent)

  chunks.onClose(async (failure) => {
    const outcome =
      failure === null ? 'ok' : isDisconnect(gatewayCall.signal, failure) ? 'cancelled' : 'failed'
    if (outcome === 'failed') attemptLog.steps.push('cut')
    const { model, usage } = chunks
    const spent =
      outcome === 'ok' && usage !== null ? { model, usage, isEstimated: false } : readSpent()
    costUsd = await record.settle(outcome, spent, failure && explain(failure))
    call.release()
  })

  return {
    model: chunks.model ?? route.model,
    headers: buildAnswerHeaders(attemptLog),
    isNative: speaker?.isNative ?? false,
    usage: () => chunks.usage ?? guessUsage(call, chunks.characters),
    costUsd: () => costUsd,
    finish: () => finish,
    stopSequence: () => speaker?.stopCut?.matched ?? null,
    each: (take) =>
      chunks
        .each((batch) => {
          for (const chunk of batch) if (chunk.finish !== null) finish = chunk.finish
          return take(batch)
        })
        .catch((error) => {
          throw explain(error)
        }),
  }
}

/** Gives the record and the reader the same Problem, so that each failure is logged once. */
function createExplainer({ gateway, record }: ChatCall): (failure: unknown) => unknown {
  let explained: unknown = null
  let problem: unknown = null
  return (failure) => {
    if (explained !== failure) problem = vendorProblem(gateway, failure, record.attemptLog)
    explained = failure
    return problem
  }
}

async function settleAnswer(call: ChatCall, route: Route, answer: Answer): Promise<Completion> {
  const { record, speaker } = call
  try {
    const model = answer.model ?? route.model
    const usage = answer.usage ?? guessUsage(call, countCharacters(answer))
    const costUsd = await record.settle('ok', { model, usage, isEstimated: answer.usage === null })
    return {
      answer,
      model,
      usage,
      costUsd,
      headers: buildAnswerHeaders(record.attemptLog),
      isNative: speaker?.isNative ?? false,
      stopSequence: speaker?.stopCut?.matched ?? null,
    }
  } finally {
    call.release()
  }
}

async function settleFailure(call: ChatCall, error: unknown, problem: unknown): Promise<void> {
  const { record, gatewayCall } = call
  const isCancelled = isDisconnect(gatewayCall.signal, error)
  // A vendor whose request was aborted has read the prompt and bills it.
  const isPromptRead = isCancelled && record.attemptLog.attempts > 0
  const usage = isPromptRead ? guessUsage(call, 0) : NOTHING
  const spent = { model: null, usage, isEstimated: isPromptRead }
  await record.settle(isCancelled ? 'cancelled' : 'failed', spent, problem)
}

/** Returns true when the client left, as opposed to a failure of the vendor. */
function isDisconnect(signal: AbortSignal, error: unknown): boolean {
  return signal.aborted || (error instanceof Error && error.name === 'AbortError')
}

/** The usage of a call whose vendor does not report it. */
function guessUsage({ estimate }: ChatCall, characters: number): Usage {
  return {
    ...NOTHING,
    ...guessMediaTokens(estimate.media),
    prompt: estimate.promptTokens,
    completion: guessTokens(characters),
  }
}

function countCharacters({ text, toolCalls }: Answer): number {
  return toolCalls.reduce(
    (sum, { function: called }) => sum + called.name.length + called.arguments.length,
    text.length,
  )
}

function chooseLarger(reported: Usage | null, guess: Usage): Usage {
  if (reported === null) return guess
  return { ...reported, completion: Math.max(reported.completion, guess.completion) }
}

// The record of one call to a model: opened before the first request, settled once, however it
// ends. Only this file reports calls to the ledger, the budgets, the metrics and the traces.
import { type Catalogue, findModel, getVendor, type Model, type Route } from '#models/catalogue.ts'
import type { Clock, Instant } from '#platform/clock.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { Problem } from '#platform/problem.ts'
import type { Span, Tracer } from '#platform/telemetry/tracer.ts'
import type { Ledger, Reservation } from '#usage/ledger.ts'
import type { UsageSoFar } from '#usage/open-calls.ts'
import type { CallParameters } from '#usage/parameters.ts'
import { toNanos, type UsageOutcome } from '#usage/record.ts'
import { type AttemptLog, createAttemptLog, joinSteps } from './attempt-log.ts'
import type { CallOrigin } from './call-origin.ts'
import { type Cost, computeCost, computeCostCeiling, type Extras, NO_EXTRAS } from './cost.ts'
import { guessMediaTokens, type MediaNeeds, NO_MEDIA } from './media.ts'
import type { GatewayMetrics } from './metrics.ts'
import { readErrorDetail } from './vendor-problem.ts'
import { alwaysSearches } from './vendors/extras.ts'
import type { Usage } from './vendors/vendor.ts'

export type RecordDeps = {
  config: Pick<Catalogue, 'vendors'>
  clock: Pick<Clock, 'now'>
  ledger: Ledger
  metrics: GatewayMetrics
  tracer: Tracer | null
}

export type NewCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'budget'>
  /** The route as the ledger writes it: `/api/ai/chat`. */
  route: string
  kind: Model['kind']
  /** The first route to request. */
  first: Route
  /** All routes that may answer; omitted: only the first. */
  routes?: readonly Route[]
  /** An estimate that errs high. */
  promptTokens: number
  /** The highest number of tokens in the answer. */
  completionTokens: number
  /** True when the vendor may cache part of the prompt for an hour, at a higher price. */
  cachesForHour?: boolean
  /** Features that the vendor bills in addition to tokens. */
  extras?: Extras
  /** Sound, images and video in the request. */
  media?: MediaNeeds
  /** The least to reserve when the budget is short. */
  completionTokensMin?: number
  /** The number of answers that share these tokens. */
  choices?: number
  /** The caller of `open` retries with fewer extras when the budget is short. */
  isTrial?: boolean
  /** False: the call is free and reserves no budget. */
  isReserved?: boolean
  /** False: the operator pays; the ledger has no record of the call. */
  isRecorded?: boolean
  /** Omitted for models that do not chat and for answers from the cache. */
  parameters?: CallParameters
  signal: AbortSignal
  /** Omitted for calls without an HTTP request. */
  origin?: CallOrigin | undefined
}

/** `model` is the vendor's name for the model that answered. */
export type Spent = { model: string | null; usage: Usage; isEstimated: boolean }

export const NOTHING: Usage = { prompt: 0, completion: 0, cached: 0, cacheWrites: 0 }

export class CallRecord {
  readonly attemptLog: AttemptLog
  readonly #deps: RecordDeps
  readonly #call: NewCall
  readonly #span: Span | null
  readonly #openedAt: Instant
  readonly #startedMs = performance.now()
  #reservation: Reservation | null = null
  #firstTokenMs: number | null = null
  /** Returns the usage so far; null until the answer has begun. */
  #readSpent: (() => Spent) | null = null
  #estimatedTokens = 0

  private constructor(deps: RecordDeps, call: NewCall) {
    this.#deps = deps
    this.#call = call
    this.#openedAt = deps.clock.now()
    this.#span = deps.tracer && startSpan(deps.tracer, call)
    this.attemptLog = createAttemptLog(call.promptTokens, this.#span)
  }

  /** Reserves the call's tokens and highest cost. @throws Problem 429; the signal's reason */
  static async open(deps: RecordDeps, call: NewCall): Promise<CallRecord> {
    const record = new CallRecord(deps, call)
    if (call.isReserved === false) return record
    try {
      record.#reservation = await record.#reserve()
      return record
    } catch (error) {
      record.#span?.end(error instanceof Problem ? error.code : 'not asked')
      throw error
    }
  }

  /** Null when nothing was reserved. */
  get reservation(): Reservation | null {
    return this.#reservation
  }

  #reserve(): Promise<Reservation> {
    const { config, ledger } = this.#deps
    const { caller, route, kind, first, routes = [first], cachesForHour = false } = this.#call
    const { extras = NO_EXTRAS, media = NO_MEDIA, completionTokens, origin } = this.#call
    const { userId, keyId, tier, slices, budget } = caller
    // The model reads the results of a search with the prompt.
    const { searches, readings } = extras
    const promptTokens = this.#call.promptTokens * readings + searches.calls * searches.tokens
    return ledger.reserve({
      userId,
      keyId,
      tier,
      slices,
      budget,
      promptTokens,
      ...computeCostCeiling(config, routes, kind, promptTokens, cachesForHour, extras, media),
      completionTokens,
      completionTokensMin: this.#call.completionTokensMin,
      choices: this.#call.choices,
      isTrial: this.#call.isTrial,
      signal: this.#call.signal,
      call: {
        route,
        tier,
        ...first,
        costUsd: this.#price(first.vendor, [first.model], this.#readUsage(this.#call.promptTokens))
          .usd,
        soFar: () => this.#estimateProgress(),
        ...readOriginFields(origin),
        parameters: this.#call.parameters ?? null,
      },
    })
  }

  /** Records the first chunk of the answer; from now on `readSpent` returns the usage so far. */
  begin(readSpent: () => Spent): void {
    this.#readSpent = readSpent
    this.#firstTokenMs = performance.now() - this.#startedMs
    this.#deps.metrics.recordFirstChunk(this.#vendor, this.#firstTokenMs)
  }

  /** Resolves with the cost in US dollars. `failure`: the Problem that the caller gets. */
  async settle(outcome: UsageOutcome, spent: Spent, failure?: unknown): Promise<number> {
    const { ledger } = this.#deps
    const { caller, route, origin } = this.#call
    const { attemptLog } = this
    const counted = this.#addUnreportedSearches(outcome, spent.usage)
    const { vendor, model, costUsd, isListed } = this.#computeCost(spent.model, counted)
    // Tokens are those of the vendor that answered; prompts of earlier ones only add to the cost.
    const usage =
      outcome === 'ok'
        ? counted
        : { ...counted, prompt: counted.prompt + sumUnanswered(attemptLog) }
    const latencyMs = performance.now() - this.#startedMs
    const costNanos = toNanos(costUsd)
    const reply = outcome === 'failed' ? describeFailure(failure) : REPLIES[outcome]
    // Once the head was sent, the status stays 200, however the reply ends.
    const status = outcome === 'failed' && origin?.isAnswered() ? 200 : reply.status
    origin?.charge(costNanos)
    this.#endSpan(outcome, { vendor, model, usage, costUsd, errorCode: reply.code })
    this.#countMetrics(outcome, { vendor, usage, costUsd, latencyMs })
    if (this.#call.isRecorded === false) return costNanos / 1e9
    await ledger.settle(this.#reservation, {
      userId: caller.userId,
      keyId: caller.keyId,
      tier: caller.tier,
      route,
      vendor,
      model,
      promptTokens: usage.prompt,
      completionTokens: usage.completion,
      cachedTokens: usage.cached,
      reasoningTokens: usage.reasoning ?? 0,
      costUsd,
      latencyMs,
      firstTokenMs: this.#firstTokenMs,
      attempts: attemptLog.attempts,
      tried: joinSteps(attemptLog),
      outcome,
      status,
      errorCode: reply.code,
      errorDetail: outcome === 'failed' ? readErrorDetail(failure) : null,
      ...readOriginFields(origin),
      parameters: this.#call.parameters ?? null,
      vendorRequestId: attemptLog.vendorRequestId,
      isEstimated: spent.isEstimated || !isListed || attemptLog.unanswered.length > 0,
      // The budget was reserved on this day.
      startedAt: this.#reservation?.at ?? this.#openedAt,
    })
    return costNanos / 1e9
  }

  /** Releases the reservation of a call that was not made; records nothing. */
  async release(): Promise<void> {
    this.#span?.end()
    if (this.#reservation !== null) await this.#deps.ledger.release(this.#reservation)
  }

  get #vendor(): string {
    return this.attemptLog.vendor ?? this.#call.first.vendor
  }

  get #model(): string {
    return this.attemptLog.model ?? this.#call.first.model
  }

  #price(vendor: string, names: string[], usage: Usage): Cost {
    const { kind, extras = NO_EXTRAS } = this.#call
    return computeCost(this.#deps.config, vendor, names, usage, kind, extras)
  }

  /** Usage of a vendor that read the prompt and did not answer. */
  #readUsage(prompt: number): Usage {
    return { ...NOTHING, prompt, ...guessMediaTokens(this.#call.media ?? NO_MEDIA) }
  }

  /** The price of `answered`, the vendor's name for the model, precedes the requested model's. */
  #computeCost(answered: string | null, usage: Usage) {
    const vendor = this.#vendor
    const model = answered ?? this.#model
    const { usd, isListed } = this.#price(vendor, [model, this.#model], usage)
    let costUsd = usd
    for (const lost of this.attemptLog.unanswered) {
      costUsd += this.#price(lost.vendor, [lost.model], this.#readUsage(lost.promptTokens)).usd
    }
    return { vendor, model, costUsd, isListed }
  }

  /** Adds searches that vendors bill unreported, mostly also where the caller left before. */
  #addUnreportedSearches(outcome: UsageOutcome, usage: Usage): Usage {
    const { unreportedSearches, areSearchesRequested, dialect } = this.#call.extras ?? NO_EXTRAS
    const hasAnswered =
      this.attemptLog.attempts > 0 && (outcome !== 'failed' || this.#firstTokenMs !== null)
    if (unreportedSearches === 0 || !hasAnswered) return usage
    if (getVendor(this.#deps.config.vendors, this.#vendor).dialect !== dialect) return usage
    if (!areSearchesRequested && !alwaysSearches(this.#model)) return usage
    return { webSearches: unreportedSearches, ...usage }
  }

  /** Estimates a running call's usage one second ahead, in case this process dies before its end. */
  #estimateProgress(): UsageSoFar | null {
    if (this.#readSpent === null) return null
    const { model: answered, usage } = this.#readSpent()
    // The vendor continues, so this assumes as many new tokens as since the last estimate.
    const expected = 2 * usage.completion - this.#estimatedTokens
    const tokensMax = Math.max(usage.completion, this.#call.completionTokens)
    const completion = Math.min(expected, tokensMax)
    this.#estimatedTokens = usage.completion
    const { vendor, model, costUsd } = this.#computeCost(answered, { ...usage, completion })
    const { prompt: promptTokens, cached: cachedTokens } = usage
    return { vendor, model, promptTokens, completionTokens: completion, cachedTokens, costUsd }
  }

  #endSpan(outcome: UsageOutcome, end: SpanEnd): void {
    this.#span?.set({
      'gen_ai.provider.name': end.vendor,
      'gen_ai.response.model': end.model,
      'gen_ai.usage.input_tokens': end.usage.prompt,
      'gen_ai.usage.output_tokens': end.usage.completion,
      'latchkey.outcome': outcome,
      'latchkey.attempts': this.attemptLog.attempts,
      'latchkey.tried': joinSteps(this.attemptLog),
      'latchkey.cost_usd': end.costUsd,
    })
    this.#span?.end(outcome === 'failed' ? end.errorCode : null)
  }

  #countMetrics(
    outcome: UsageOutcome,
    end: { vendor: string; usage: Usage; costUsd: number; latencyMs: number },
  ): void {
    const { config, metrics } = this.#deps
    const model = findModelLabel(config, end.vendor, this.#model)
    metrics.recordEnd({ ...end, model, outcome, steps: this.attemptLog.steps })
  }
}

type SpanEnd = {
  vendor: string
  model: string
  usage: Usage
  costUsd: number
  errorCode: string | null
}

/** Follows the semantic conventions for generative models; holds no content. */
function startSpan(tracer: Tracer, { kind, route, first }: NewCall): Span {
  const operation = kind === 'embedding' ? 'embeddings' : kind
  return tracer.start(`${operation} ${first.model}`, {
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': first.vendor,
      'gen_ai.request.model': first.model,
      'latchkey.route': route,
    },
  })
}

function readOriginFields(origin: CallOrigin | undefined) {
  return {
    requestId: origin?.requestId ?? null,
    endUser: origin?.endUser ?? '',
    labels: origin?.labels ?? '',
  }
}

function sumUnanswered({ unanswered }: AttemptLog): number {
  return unanswered.reduce((sum, lost) => sum + lost.promptTokens, 0)
}

/** Returns `other` for names that are not listed; the local embedder is no vendor. */
function findModelLabel({ vendors }: RecordDeps['config'], vendor: string, model: string): string {
  if (!Object.hasOwn(vendors, vendor)) return model
  return findModel(getVendor(vendors, vendor), model)?.id ?? 'other'
}

/** 499 is nginx's status for a client that disconnected. */
const REPLIES = { ok: { status: 200, code: null }, cancelled: { status: 499, code: null } } as const

function describeFailure(failure: unknown): { status: number; code: string } {
  return failure instanceof Problem ? failure : { status: 500, code: 'internal_error' }
}

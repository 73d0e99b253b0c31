// The record of one call to a model: opened before anybody is asked, settled once whatever became of it.
// The ledger, its budgets and the metrics learn of a call here and nowhere else, so they tell the same.
import { type Catalogue, findModel, type Model, ofVendor, type Route } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { Problem } from '#platform/problem.ts'
import type { Span, Tracer } from '#platform/telemetry/tracer.ts'
import type { Ledger, Reservation } from '#usage/ledger.ts'
import type { SoFar } from '#usage/open-calls.ts'
import { toNanos, type UsageOutcome } from '#usage/record.ts'
import { type AttemptLog, joinedSteps, newAttemptLog } from './attempt-log.ts'
import type { CallOrigin } from './call-origin.ts'
import { costCeiling, costOf, type Extras, NO_EXTRAS } from './cost.ts'
import { guessedMedia, type MediaNeeds, NO_MEDIA } from './media.ts'
import type { GatewayMetrics } from './metrics.ts'
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
  /** As the ledger shall name it: `/api/ai/chat`. */
  route: string
  kind: Model['kind']
  /** Who is asked first. */
  first: Route
  /** Whoever may answer; left out: the first alone. */
  routes?: readonly Route[]
  /** A guess, rather too many. */
  promptTokens: number
  /** What the answer may take at most. */
  completionTokens: number
  /** Part of the prompt may be kept by its vendor for an hour, at a price. */
  keepsAnHour?: boolean
  /** What it switches on beside its tokens. */
  extras?: Extras
  /** Sound, images and video in it. */
  media?: MediaNeeds
  /** What will do where a budget is short. */
  completionTokensMin?: number
  /** Answers that share these tokens. */
  choices?: number
  /** Asked again for less where a budget is short. */
  isTrial?: boolean
  /** False: it costs nobody anything and needs no place in a budget. */
  isReserved?: boolean
  signal: AbortSignal
  /** Left out where no request makes the call. */
  origin?: CallOrigin | undefined
}

/** What was used, as whoever answered has counted it; `model` by the vendor's own name for it. */
export type Spent = { model: string | null; usage: Usage; isEstimated: boolean }

export type CallRecord = {
  readonly attemptLog: AttemptLog
  /** Null where nothing was reserved. */
  readonly reservation: Reservation | null
  /** The first piece of the answer has come; `soFar` tells from now on what it has used. */
  begun(soFar: () => Spent): void
  /**
   * Resolves with what the call has cost, in US dollars, when the record is committed; `failure` is what the caller is told
   * of one that failed.
   */
  settle(outcome: UsageOutcome, spent: Spent, failure?: unknown): Promise<number>
  /** No call was made after all: what was reserved is given back, and nothing is recorded. */
  release(): Promise<void>
}

export const NOTHING: Usage = { prompt: 0, completion: 0, cached: 0, cacheWrites: 0 }

/** @throws Problem 429 when a budget is exhausted; the signal's reason when the caller leaves meanwhile. */
export function openCall(deps: RecordDeps, call: NewCall): Promise<CallRecord> {
  const span = deps.tracer && spanOf(deps.tracer, call)
  const record = recordOf(deps, call, span)
  if (span !== null)
    record.catch((error) => span.end(error instanceof Problem ? error.code : 'not asked'))
  return record
}

/** By the semantic conventions for generative models; what was said is in none of it. */
function spanOf(tracer: Tracer, { kind, route, first }: NewCall): Span {
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

async function recordOf(
  { config, clock, ledger, metrics }: RecordDeps,
  call: NewCall,
  span: Span | null,
): Promise<CallRecord> {
  const {
    caller,
    route,
    kind,
    first,
    routes = [first],
    promptTokens,
    completionTokens,
    keepsAnHour = false,
  } = call
  const {
    completionTokensMin,
    choices,
    isTrial,
    signal,
    extras = NO_EXTRAS,
    media = NO_MEDIA,
  } = call
  const { userId, keyId, tier, slices, budget } = caller
  const { requestId = null, endUser = '', labels = '' } = call.origin ?? {}
  const origin = { requestId, endUser, labels }
  const attemptLog = newAttemptLog(promptTokens, span)
  const openedAt = clock.now()
  const startedMs = performance.now()
  const priced = (vendor: string, names: string[], usage: Usage) =>
    costOf(config, vendor, names, usage, kind, extras)
  const read = (prompt: number): Usage => ({ ...NOTHING, prompt, ...guessedMedia(media) })
  const guess = () => priced(first.vendor, [first.model], read(promptTokens)).usd
  /** With what those read who never answered: it is in the cost alone. */
  const costed: Costed = (model, usage) => {
    const vendor = attemptLog.vendor ?? first.vendor
    const asked = attemptLog.model ?? first.model
    const { usd, isListed } = priced(vendor, [model ?? asked, asked], usage)
    let costUsd = usd
    for (const lost of attemptLog.unanswered) {
      costUsd += priced(lost.vendor, [lost.model], read(lost.promptTokens)).usd
    }
    return { vendor, asked, model: model ?? asked, costUsd, isListed }
  }
  const progress = createProgress(costed, completionTokens)
  // What is found is read with the prompt.
  const { searches, readings } = extras
  const readTokens = promptTokens * readings + searches.calls * searches.tokens
  const reservation =
    call.isReserved === false
      ? null
      : await ledger.reserve({
          userId,
          keyId,
          tier,
          slices,
          budget,
          promptTokens: readTokens,
          ...costCeiling(config, routes, kind, readTokens, keepsAnHour, extras, media),
          completionTokens,
          completionTokensMin,
          choices,
          isTrial,
          signal,
          call: {
            route,
            tier,
            ...first,
            costUsd: guess(),
            soFar: () => progress.soFar(),
            ...origin,
          },
        })
  let firstTokenMs: number | null = null
  // Whoever left may have left before the vendor's search, and the vendor bills it mostly all the same.
  const hasAnswered = (outcome: UsageOutcome) =>
    attemptLog.attempts > 0 && (outcome !== 'failed' || firstTokenMs !== null)
  const untoldSearchesOf = (vendor: string, model: string) => {
    const { untoldSearches, areSearchesAsked, dialect } = extras
    if (untoldSearches === 0 || ofVendor(config.vendors, vendor).dialect !== dialect) return 0
    return areSearchesAsked || alwaysSearches(model) ? untoldSearches : 0
  }

  return {
    attemptLog,
    reservation,
    begun(said) {
      progress.says = said
      firstTokenMs = performance.now() - startedMs
      metrics.begun(attemptLog.vendor ?? first.vendor, firstTokenMs)
    },
    async settle(outcome, { model: answered, usage: counted, isEstimated }, failure) {
      const webSearches = hasAnswered(outcome)
        ? untoldSearchesOf(attemptLog.vendor ?? first.vendor, attemptLog.model ?? first.model)
        : 0
      const said = webSearches > 0 ? { webSearches, ...counted } : counted
      const { vendor, asked, model, costUsd, isListed } = costed(answered, said)
      const unansweredTokens = attemptLog.unanswered.reduce(
        (sum, lost) => sum + lost.promptTokens,
        0,
      )
      // An answer's tokens are told as its vendor counted them; what others read before is in the cost alone.
      const usage = outcome === 'ok' ? said : { ...said, prompt: said.prompt + unansweredTokens }
      const latencyMs = performance.now() - startedMs
      const costNanos = toNanos(costUsd)
      const told = outcome === 'failed' ? toldAs(failure) : TOLD[outcome]
      // What has begun to be sent has said 200, whatever its end says.
      const status = outcome === 'failed' && call.origin?.isAnswered() ? 200 : told.status
      call.origin?.charge(costNanos)
      span?.set({
        'gen_ai.provider.name': vendor,
        'gen_ai.response.model': model,
        'gen_ai.usage.input_tokens': usage.prompt,
        'gen_ai.usage.output_tokens': usage.completion,
        'latchkey.outcome': outcome,
        'latchkey.attempts': attemptLog.attempts,
        'latchkey.tried': joinedSteps(attemptLog),
        'latchkey.cost_usd': costUsd,
      })
      span?.end(outcome === 'failed' ? told.code : null)
      metrics.ended({
        vendor,
        model: labelOf(config, vendor, asked),
        outcome,
        steps: attemptLog.steps,
        latencyMs,
        usage,
        costUsd,
      })
      await ledger.settle(reservation, {
        userId,
        keyId,
        tier,
        route,
        vendor,
        model,
        promptTokens: usage.prompt,
        completionTokens: usage.completion,
        cachedTokens: usage.cached,
        reasoningTokens: usage.reasoning ?? 0,
        costUsd,
        latencyMs,
        firstTokenMs,
        attempts: attemptLog.attempts,
        tried: joinedSteps(attemptLog),
        outcome,
        status,
        errorCode: told.code,
        ...origin,
        vendorRequestId: attemptLog.vendorRequestId,
        isEstimated: isEstimated || !isListed || attemptLog.unanswered.length > 0,
        // The day in which its budget was reserved.
        startedAt: reservation?.at ?? openedAt,
      })
      return costNanos / 1e9
    },
    release: async () => {
      span?.end()
      if (reservation !== null) await ledger.release(reservation)
    },
  }
}

type Costed = (
  model: string | null,
  usage: Usage,
) => { vendor: string; asked: string; model: string; costUsd: number; isListed: boolean }

/** What is known of an answer that is being sent, in case that nobody sees its end. */
function createProgress(costed: Costed, completionTokensMax: number) {
  let toldTokens = 0
  return {
    says: null as (() => Spent) | null,
    soFar(): SoFar | null {
      if (this.says === null) return null
      const { model: answered, usage } = this.says()
      // The vendor goes on while nobody looks: as much again as since the look before.
      const expected = 2 * usage.completion - toldTokens
      const completion = Math.min(expected, Math.max(usage.completion, completionTokensMax))
      toldTokens = usage.completion
      const { vendor, model, costUsd } = costed(answered, { ...usage, completion })
      const { prompt: promptTokens, cached: cachedTokens } = usage
      return { vendor, model, promptTokens, completionTokens: completion, cachedTokens, costUsd }
    },
  }
}

/** The local embedder is no vendor. */
function labelOf({ vendors }: RecordDeps['config'], vendor: string, model: string): string {
  if (!Object.hasOwn(vendors, vendor)) return model
  return findModel(ofVendor(vendors, vendor), model)?.id ?? 'other'
}

/** 499 is nginx's word for a client who left: nobody was told anything. */
const TOLD = { ok: { status: 200, code: null }, cancelled: { status: 499, code: null } } as const

function toldAs(failure: unknown): { status: number; code: string } {
  return failure instanceof Problem ? failure : { status: 500, code: 'internal_error' }
}

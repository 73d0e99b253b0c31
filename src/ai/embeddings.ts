// Requests vectors from vendors: wire, timeouts, retries and record are those of answers. There is
// no failover, since vectors of another model do not compare.
import { getVendor, type Route } from '#models/catalogue.ts'
import { type AttemptLog, createAttemptLog } from './attempt-log.ts'
import { attempt } from './attempts.ts'
import type { CallOrigin } from './call-origin.ts'
import { CallRecord, type NewCall, NOTHING, type RecordDeps } from './call-record.ts'
import { guessTokens } from './estimate.ts'
import type { Endpoint, Gateway } from './gateway.ts'
import { createPatience, type Patience } from './patience.ts'
import { aiProblem } from './problems.ts'
import { requireConfigured, requireEnabled } from './routing.ts'
import { vendorProblem } from './vendor-problem.ts'
import type { AnswerLimits } from './vendors/exchange.ts'
import type { EmbeddingInput, Vendor, VendorRequest } from './vendors/vendor.ts'

export type EmbedCall = {
  first: Route
  inputs: EmbeddingInput[]
  /** Null: the model's default. */
  dimensions: number | null
  /** Additional members of the request. */
  members?: Readonly<Record<string, string>> | undefined
  signal: AbortSignal
  origin?: CallOrigin | undefined
}

export type Embeddings = { vectors: number[][]; model: string }

/** The usage of one call so far, which may need many requests; a late one may fail. */
export type EmbeddingTally = {
  attemptLog: AttemptLog
  promptTokens: number
  /** The vendor's name for the model; null until an answer names it. */
  model: string | null
  /** True when a vendor did not report tokens. */
  isEstimated: boolean
}

export function createTally(attemptLog: AttemptLog = createAttemptLog()): EmbeddingTally {
  return { attemptLog, promptTokens: 0, model: null, isEstimated: false }
}

/** The result of the work and its recorded usage. */
export type Recorded<T> = { result: T; promptTokens: number; costUsd: number }

/** Does the work of a call that writes no tokens, and settles its record with the tally's usage. */
export async function recordTallied<T>(
  deps: RecordDeps,
  call: Omit<NewCall, 'completionTokens'>,
  work: (tally: EmbeddingTally) => Promise<T>,
): Promise<Recorded<T>> {
  const record = await CallRecord.open(deps, { ...call, completionTokens: 0 })
  const tally = createTally(record.attemptLog)
  const settle = (outcome: 'ok' | 'failed' | 'cancelled', failure: unknown = null) => {
    const { model, promptTokens, isEstimated } = tally
    return record.settle(
      outcome,
      { model, usage: { ...NOTHING, prompt: promptTokens }, isEstimated },
      failure,
    )
  }
  let result: T
  try {
    result = await work(tally)
  } catch (error) {
    await settle(call.signal.aborted ? 'cancelled' : 'failed', error)
    throw error
  }
  const costUsd = await settle('ok')
  return { result, promptTokens: tally.promptTokens, costUsd }
}

type VendorDeps = Pick<
  Gateway,
  'config' | 'wire' | 'targets' | 'endpoints' | 'modelBreakers' | 'clock' | 'log'
>

/** Returns vectors in the inputs' order. @throws Problem 400, 502, 503, 504; the signal's reason */
export async function embed(
  deps: VendorDeps,
  call: EmbedCall,
  tally: EmbeddingTally,
): Promise<Embeddings> {
  const { first, signal, origin } = call
  const { vendor: name, model } = first
  requireConfigured(deps.config, name)
  requireEnabled(deps.config, first)
  const { embed: embedder } = getVendor(deps.targets, name).vendor
  if (embedder === undefined) throw aiProblem('embeddings_not_supported', { vendor: name })

  const { inputsMax } = getVendor(deps.config.vendors, name).embeddings
  const vectors: number[][] = []
  for (let from = 0; from < call.inputs.length; from += inputsMax) {
    const inputs = call.inputs.slice(from, from + inputsMax)
    const answer = await askTallied(deps, tally, {
      first,
      signal,
      guess: inputs.reduce((sum, input) => sum + guessInput(input), 0),
      patience: createPatience(deps.config, { wantedMs: origin?.timeoutMs ?? null }),
      shape: ({ embed = embedder }) => embed.shape(model, inputs, call.dimensions, call.members),
      readAnswer: (body) => embedder.readAnswer(body, inputs.length),
    })
    vectors.push(...answer.vectors)
  }
  return { vectors, model: tally.model ?? model }
}

type TalliedRequest<A> = {
  first: Route
  signal: AbortSignal
  /** Counted when the vendor reports no tokens. */
  guess: number
  patience: Patience
  shape(vendor: Vendor): VendorRequest
  readAnswer(body: unknown): A
}

/** Sends one request to the vendor, with retries, and adds its usage to the tally. */
export async function askTallied<A extends { model: string | null; promptTokens: number | null }>(
  deps: VendorDeps,
  tally: EmbeddingTally,
  { first, signal, guess, patience, shape, readAnswer }: TalliedRequest<A>,
): Promise<A> {
  const { attemptLog } = tally
  const before = attemptLog.attempts
  attemptLog.promptTokens = guess
  try {
    const ask = (_route: Route, { target }: Endpoint, limits: AnswerLimits) =>
      deps.wire.send(target, shape(target.vendor), signal, attemptLog, limits).then(readAnswer)
    const { result } = await attempt(deps, [first], signal, attemptLog, ask, patience)
    tally.model = result.model ?? tally.model
    tally.promptTokens += result.promptTokens ?? guess
    if (result.promptTokens === null) tally.isEstimated = true
    return result
  } catch (error) {
    // A vendor whose request was aborted has read the texts and bills them.
    if (signal.aborted && attemptLog.attempts > before) {
      tally.promptTokens += guess
      tally.isEstimated = true
    }
    throw vendorProblem(deps, error, attemptLog)
  }
}

function guessInput(input: EmbeddingInput): number {
  return typeof input === 'string' ? guessTokens(input.length) : input.length
}

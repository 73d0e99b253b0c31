// Vectors from the vendors: the same wire, time-outs, retries and record as for answers, and no failover.
// One thing to know: another vendor's or model's vectors do not compare with these, so a failure stays one.

import { ofVendor } from '#models/catalogue.ts'
import { attempt, newTrail, type Trail } from './attempts.ts'
import { type CallTerms, NOTHING, openCall } from './call-record.ts'
import { guessTokens } from './estimate.ts'
import { type Gateway, healthOf, problemOf } from './gateway.ts'
import { aiProblem } from './problems.ts'
import { type Candidate, requireConfigured } from './routing.ts'
import type { EmbeddingInput } from './vendors/vendor.ts'

export type EmbedCall = {
  first: Candidate
  inputs: EmbeddingInput[]
  /** Null: the model's own. */
  dimensions: number | null
  signal: AbortSignal
}

export type Embeddings = { vectors: number[][]; model: string }

/** What one call has asked for and used up to now; it may take many requests, of which a late one may fail. */
export type EmbeddingTally = {
  trail: Trail
  promptTokens: number
  /** As its vendor calls it; null until somebody has said. */
  model: string | null
  /** A vendor did not count. */
  isEstimated: boolean
}

export function newTally(trail: Trail = newTrail()): EmbeddingTally {
  return { trail, promptTokens: 0, model: null, isEstimated: false }
}

/** Opens the call's record, does the work and settles the record with what the work has put into the tally. */
export async function recordEmbedding<T>(
  gateway: Gateway,
  terms: Omit<CallTerms, 'kind' | 'completionTokens'>,
  work: (tally: EmbeddingTally) => Promise<T>,
): Promise<T> {
  const record = await openCall(gateway, { ...terms, kind: 'embedding', completionTokens: 0 })
  const tally = newTally(record.trail)
  const settle = (outcome: 'ok' | 'failed' | 'cancelled') => {
    const { model, promptTokens, isEstimated } = tally
    return record.settle(outcome, { model, usage: { ...NOTHING, prompt: promptTokens }, isEstimated })
  }
  let result: T
  try {
    result = await work(tally)
  } catch (error) {
    await settle(terms.signal.aborted ? 'cancelled' : 'failed')
    throw error
  }
  await settle('ok')
  return result
}

/** Vectors in the inputs' order. @throws Problem 400, 502, 503, 504; the signal's reason */
export async function embed(gateway: Gateway, call: EmbedCall, tally: EmbeddingTally): Promise<Embeddings> {
  const { vendor: name, model } = call.first
  requireConfigured(gateway.config, name)
  const target = ofVendor(gateway.targets, name)
  const { embed: embedder } = target.vendor
  if (embedder === undefined) {
    throw aiProblem('embeddings_not_supported', { vendor: name })
  }

  const { inputsMax } = ofVendor(gateway.config.vendors, name).embeddings
  const { trail } = tally
  const vectors: number[][] = []
  for (let from = 0; from < call.inputs.length; from += inputsMax) {
    const inputs = call.inputs.slice(from, from + inputsMax)
    const guess = inputs.reduce((sum, input) => sum + guessInput(input), 0)
    const before = trail.attempts
    trail.promptTokens = guess
    try {
      const { result } = await attempt(healthOf(gateway), [call.first], call.signal, trail, () =>
        gateway.wire
          .send(target, embedder.shape(model, inputs, call.dimensions), call.signal)
          .then((body) => embedder.readAnswer(body, inputs.length)),
      )
      vectors.push(...result.vectors)
      tally.model = result.model ?? tally.model
      tally.promptTokens += result.promptTokens ?? guess
      if (result.promptTokens === null) tally.isEstimated = true
    } catch (error) {
      // A vendor that was asked and then left has read its inputs, and will say so on its bill.
      if (call.signal.aborted && trail.attempts > before) {
        tally.promptTokens += guess
        tally.isEstimated = true
      }
      throw problemOf(gateway, error, trail)
    }
  }
  return { vectors, model: tally.model ?? model }
}

function guessInput(input: EmbeddingInput): number {
  return typeof input === 'string' ? guessTokens(input.length) : input.length
}

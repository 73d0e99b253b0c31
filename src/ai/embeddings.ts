// Guards vectors from the vendors: the same wire, timeouts and retries as for answers, and no failover.
// One thing to know: another vendor's or model's vectors do not compare with these, so a failure stays one.

import { Problem } from '#platform/problem.ts'
import { attempt, newTrail } from './attempts.ts'
import { type Gateway, problemOf } from './gateway.ts'
import { type Candidate, requireConfigured } from './plan.ts'
import type { EmbeddingInput } from './vendors/vendor.ts'

export type EmbedCall = {
  first: Candidate
  inputs: EmbeddingInput[]
  /** Null: the model's own. */
  dimensions: number | null
  signal: AbortSignal
}

export type Embeddings = {
  vectors: number[][]
  model: string /** Null when the vendor does not count. */
  promptTokens: number | null
}

/** What the vendors take in one request. */
const INPUTS_MAX = { openai: 2_048, gemini: 100 } as const

/** Vectors in the inputs' order. @throws Problem 400, 502, 503, 504; the signal's reason */
export async function embed(gateway: Gateway, call: EmbedCall): Promise<Embeddings> {
  const { vendor: name, model } = call.first
  requireConfigured(gateway.config, name)
  const target = gateway.targets[name]
  const { embed: embedder } = target.vendor
  if (embedder === undefined || name === 'anthropic') {
    throw new Problem('embeddings_not_supported', 400, `Vendor '${name}' has no embeddings`)
  }

  const trail = newTrail()
  const vectors: number[][] = []
  let promptTokens: number | null = null
  let answeredBy: string | null = null
  try {
    for (let from = 0; from < call.inputs.length; from += INPUTS_MAX[name]) {
      const inputs = call.inputs.slice(from, from + INPUTS_MAX[name])
      const { result } = await attempt(
        { breakers: gateway.breakers, nowMs: () => gateway.clock.ms() },
        [call.first],
        call.signal,
        trail,
        () =>
          gateway.wire
            .send(target, embedder.shape(model, inputs, call.dimensions), call.signal)
            .then((body) => embedder.readAnswer(body, inputs.length)),
      )
      vectors.push(...result.vectors)
      answeredBy = result.model ?? answeredBy
      if (result.promptTokens !== null) promptTokens = (promptTokens ?? 0) + result.promptTokens
    }
  } catch (error) {
    throw problemOf(gateway, error, trail)
  }
  return { vectors, model: answeredBy ?? model, promptTokens }
}

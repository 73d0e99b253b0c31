import type { Caller } from '#platform/http/gate.ts'
import { Problem } from '#platform/problem.ts'
import type { UsageOutcome } from '#usage/record.ts'
import { embed } from './embeddings.ts'
import { guessTokens } from './estimate.ts'
import type { Gateway } from './gateway.ts'
import { costUsd } from './models.ts'
import { candidateFor, isConfigured } from './plan.ts'
import type { EmbeddingInput } from './vendors/vendor.ts'

export type LocalEmbedder = { model: string; embed(texts: string[]): Promise<number[][]> }

/** The local embedder answers what no vendor is configured for; null where there is none. */
export type EmbeddingNeeds = { localEmbedder(): LocalEmbedder | null }

type DoorCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier'>
  model: string
  inputs: EmbeddingInput[]
  dimensions: number | null
  encoding: 'float' | 'base64'
  signal: AbortSignal
}

/** OpenAI's reply of /v1/embeddings. The call is reserved, made and recorded as any other. */
export async function embedForDoor(gateway: Gateway, needs: EmbeddingNeeds, call: DoorCall) {
  const { clock, ledger } = gateway
  const first = candidateFor(gateway.config, call.model)
  const guess = call.inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? guessTokens(input.length) : input.length),
    0,
  )
  const local = isConfigured(gateway.config, first.vendor) && call.model !== 'local' ? null : needs.localEmbedder()
  const vendor = local === null ? first.vendor : 'local'
  const startedAt = clock.now()
  const startedMs = performance.now()
  const reservation = await ledger.reserve({
    ...call.caller,
    promptTokens: guess,
    completionTokens: 0,
    signal: call.signal,
    call: { route: '/v1/embeddings', vendor, model: first.model, costUsd: costOf(first.model, guess) },
  })

  const settle = (outcome: UsageOutcome, model: string, promptTokens: number, isEstimated: boolean) => {
    const latencyMs = performance.now() - startedMs
    const usage = { prompt: promptTokens, completion: 0, cached: 0, cacheWrites: 0 }
    const cost = costOf(model, promptTokens)
    gateway.meters.ended({ vendor, outcome, tried: [], latencyMs, usage, costUsd: cost })
    return ledger.settle(reservation, {
      userId: call.caller.userId,
      keyId: call.caller.keyId,
      route: '/v1/embeddings',
      vendor,
      model,
      promptTokens,
      completionTokens: 0,
      cachedTokens: 0,
      costUsd: cost,
      latencyMs,
      attempts: 1,
      tried: '',
      outcome,
      isEstimated,
      startedAt,
    })
  }

  try {
    if (local !== null && call.dimensions !== null) {
      throw new Problem('dimensions_fixed', 400, 'The local embedder has no choice of dimensions')
    }
    const texts = call.inputs.filter((input) => typeof input === 'string')
    if (local !== null && texts.length < call.inputs.length) {
      throw new Problem('tokens_unsupported', 400, 'The local embedder takes texts, no tokens')
    }
    const { vectors, model, promptTokens } =
      local === null
        ? await embed(gateway, { first, inputs: call.inputs, dimensions: call.dimensions, signal: call.signal })
        : { vectors: await local.embed(texts), model: local.model, promptTokens: null }
    const tokens = promptTokens ?? guess
    await settle('ok', model, tokens, promptTokens === null)
    return {
      object: 'list',
      data: vectors.map((vector, index) => ({ object: 'embedding', index, embedding: encoded(vector, call.encoding) })),
      model,
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    }
  } catch (error) {
    await settle(call.signal.aborted ? 'cancelled' : 'failed', first.model, 0, false)
    throw error
  }
}

function costOf(model: string, promptTokens: number): number {
  return costUsd(model, { prompt: promptTokens, completion: 0, cached: 0, cacheWrites: 0 })
}

/** OpenAI's clients ask for base64 of little-endian floats, and make numbers of it themselves. */
function encoded(vector: number[], encoding: 'float' | 'base64'): number[] | string {
  if (encoding === 'float') return vector
  const floats = Float32Array.from(vector)
  return Buffer.from(floats.buffer).toString('base64')
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Embedder } from '#embeddings/embedder.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { openCacheSlot } from '../cached-reply.ts'
import type { CallOrigin } from '../call-origin.ts'
import { LOCAL_VENDOR } from '../cost.ts'
import { type EmbeddingTally, embed, recordTallied } from '../embeddings.ts'
import { guessTextTokens } from '../estimate.ts'
import type { Gateway } from '../gateway.ts'
import { aiProblem } from '../problems.ts'
import {
  findRouteByName,
  isConfigured,
  requireAllowed,
  requireEnabled,
  requireKeyAllows,
} from '../routing.ts'
import type { EmbeddingInput } from '../vendors/vendor.ts'

/** The local embedder answers when no vendor is configured for the model. */
export type EmbeddingNeeds = { localEmbedder: Embedder }

type EmbeddingsCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'models'>
  model: string
  inputs: EmbeddingInput[]
  dimensions: number | null
  encoding: 'float' | 'base64'
  signal: AbortSignal
  origin: CallOrigin
}

/** OpenAI's reply of /v1/embeddings. The call is reserved and recorded like any other. */
export async function sendEmbeddings(
  gateway: Gateway,
  needs: EmbeddingNeeds,
  request: FastifyRequest,
  reply: FastifyReply,
  call: EmbeddingsCall,
) {
  const { caller, inputs, dimensions, signal, origin } = call
  const first = findRouteByName(gateway.config, caller, call.model)
  const guess = inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? guessTextTokens(input) : input.length),
    0,
  )
  const local =
    isConfigured(gateway.config, first.vendor) && call.model !== 'local'
      ? null
      : needs.localEmbedder
  // The local embedder costs nothing and is part of every plan.
  if (local === null) {
    requireAllowed(gateway.config, caller, first)
    requireEnabled(gateway.config, first)
  } else requireKeyAllows(gateway.config, caller, first)
  const target = local === null ? first : { vendor: LOCAL_VENDOR, model: local.model }
  const record = {
    caller,
    route: '/v1/embeddings',
    first: target,
    promptTokens: guess,
    signal,
    origin,
  }
  const how = { isStream: false, kind: 'embedding' as const, routes: [target] }

  const slot = openCacheSlot(gateway, request, reply, record, how)
  const cached = slot === null ? null : await slot.replay()
  if (cached !== null) return cached

  const { result, promptTokens, costUsd } = await recordTallied(
    gateway,
    { ...record, kind: 'embedding' },
    (tally) =>
      local === null
        ? embed(gateway, { first, inputs, dimensions, signal, origin }, tally)
        : embedLocally(local, call, guess, tally),
  )
  const body = {
    object: 'list',
    data: result.vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: encodeVector(vector, call.encoding),
    })),
    model: result.model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens, cost_usd: costUsd },
  }
  await slot?.keepBody(body)
  return body
}

async function embedLocally(
  local: Embedder,
  { inputs, dimensions, signal }: EmbeddingsCall,
  guess: number,
  tally: EmbeddingTally,
) {
  if (dimensions !== null) {
    throw aiProblem('dimensions_fixed')
  }
  const texts = inputs.filter((input) => typeof input === 'string')
  if (texts.length < inputs.length) {
    throw aiProblem('tokens_unsupported')
  }
  const { vectors } = await local.embed(texts, 'document', signal)
  tally.promptTokens = guess
  tally.isEstimated = true
  return { vectors: vectors.map((vector) => Array.from(vector)), model: local.model }
}

/** OpenAI's clients request base64 of little-endian floats and decode it. */
function encodeVector(vector: number[], encoding: 'float' | 'base64'): number[] | string {
  if (encoding === 'float') return vector
  const floats = Float32Array.from(vector)
  return Buffer.from(floats.buffer).toString('base64')
}

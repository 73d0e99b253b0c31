import { guessTokens } from '#ai/estimate.ts'
import { costUsd } from '#ai/models.ts'
import type { Clock } from '#platform/clock.ts'
import type { Caller } from '#platform/http/gate.ts'
import type { Ledger } from '#usage/ledger.ts'
import type { Embedder } from './embedders/embedder.ts'

export interface Books {
  ledger: Ledger
  clock: Clock
  embedder: Embedder
}

export interface MeteredCall {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier'>
  /** As the ledger shall name it: `/api/rag/search`. */
  route: string
  /** What will be embedded, for the reservation. */
  characters: number
  signal: AbortSignal
}

/** Reserves what embedding may cost, does the work, and records it whatever became of it. Local embedding costs nothing and is recorded all the same. */
export async function metered<T extends { tokens: number }>(
  { ledger, clock, embedder }: Books,
  { caller, route, characters, signal }: MeteredCall,
  work: () => Promise<T>,
): Promise<T> {
  const [vendor = 'local', model = ''] = embedder.id.split('/')
  const { userId, keyId, tier } = caller
  const startedAt = clock.now()
  const startedMs = performance.now()
  const costOf = (tokens: number) => costUsd(model, { prompt: tokens, completion: 0, cached: 0, cacheWrites: 0 })
  const guess = guessTokens(characters)
  const reservation =
    embedder.lexical === undefined
      ? await ledger.reserve({
          userId,
          keyId,
          tier,
          promptTokens: guess,
          completionTokens: 0,
          signal,
          call: { route, vendor, model, costUsd: costOf(guess) },
        })
      : null
  const settle = (outcome: 'ok' | 'failed' | 'cancelled', tokens: number) =>
    ledger.settle(reservation, {
      userId,
      keyId,
      route,
      vendor,
      model,
      promptTokens: tokens,
      completionTokens: 0,
      cachedTokens: 0,
      costUsd: costOf(tokens),
      latencyMs: performance.now() - startedMs,
      attempts: 1,
      tried: '',
      outcome,
      isEstimated: false,
      startedAt,
    })

  try {
    const result = await work()
    await settle('ok', result.tokens)
    return result
  } catch (error) {
    await settle(signal.aborted ? 'cancelled' : 'failed', 0)
    throw error
  }
}

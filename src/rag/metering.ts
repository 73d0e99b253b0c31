import { type EmbeddingTally, recordEmbedding } from '#ai/embeddings.ts'
import { tokensOfBytes } from '#ai/estimate.ts'
import type { Embedder } from '#embeddings/embedder.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { RagDeps } from './deps.ts'

export type MeteredCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier'>
  /** As the ledger shall name it: `/api/rag/search`. */
  route: string
  /** What will be embedded, for the reservation. */
  sizeBytes: number
  signal: AbortSignal
}

/**
 * Reserves what embedding may cost, does the work with an embedder that writes down what it asks and uses, and records it
 * whatever became of it. Local embedding costs nothing and is recorded all the same.
 */
export async function metered<T>(
  { gateway, embedder }: Pick<RagDeps, 'gateway' | 'embedder'>,
  { caller, route, sizeBytes, signal }: MeteredCall,
  work: (embedder: Embedder) => Promise<T>,
): Promise<T> {
  const { vendor, model, lexical } = embedder
  const isReserved = lexical === undefined
  const terms = { caller, route, first: { vendor, model }, promptTokens: tokensOfBytes(sizeBytes), isReserved, signal }
  return recordEmbedding(gateway, terms, (tally: EmbeddingTally) => work(embedder.countedIn?.(tally) ?? embedder))
}

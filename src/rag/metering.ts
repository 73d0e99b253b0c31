import type { CallOrigin } from '#ai/call-origin.ts'
import { LOCAL_VENDOR } from '#ai/cost.ts'
import { type EmbeddingTally, recordEmbedding } from '#ai/embeddings.ts'
import { tokensOfBytes } from '#ai/estimate.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { RagDeps } from './deps.ts'

/** Who asks, for the ledger; and until when. */
export type RagCall = {
  caller: Caller
  /** As the ledger shall name it: `/api/rag/search`. */
  route: string
  signal: AbortSignal
  origin?: CallOrigin | undefined
}

/** All that the ledger needs of one: what runs in the background has no more. */
export type MeteredCall = Omit<RagCall, 'caller'> & {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'budget'>
}

/** As the ledger names what is compared by its words. */
const WORDS = { vendor: LOCAL_VENDOR, model: 'lexical-2' }

/**
 * Reserves what embedding may cost, does the work with an embedder that writes down what it asks and uses, and records it
 * whatever became of it. Where words are compared there is nothing to pay, and it is recorded all the same.
 * The rules call it (ingest, search, answer), so that no route can forget to.
 */
export async function metered<T, D extends Pick<RagDeps, 'gateway' | 'embedder'>>(
  deps: D,
  { caller, route, signal, origin }: MeteredCall,
  sizeBytes: number,
  work: (deps: D) => Promise<T>,
): Promise<T> {
  const { gateway, embedder } = deps
  const { vendor, model } = embedder ?? WORDS
  const isReserved = embedder !== null
  const promptTokens = tokensOfBytes(sizeBytes)
  const terms = {
    caller,
    route,
    first: { vendor, model },
    promptTokens,
    isReserved,
    signal,
    origin,
  }
  const { result } = await recordEmbedding(gateway, terms, (tally: EmbeddingTally) =>
    work({ ...deps, embedder: embedder?.countedIn(tally) ?? null }),
  )
  return result
}

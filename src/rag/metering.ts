import type { CallOrigin } from '#ai/call-origin.ts'
import { LOCAL_VENDOR } from '#ai/cost.ts'
import { recordTallied } from '#ai/embeddings.ts'
import { tokensOfBytes } from '#ai/estimate.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { RagDeps } from './deps.ts'

/** The caller and route for the ledger, and the signal that ends the call. */
export type RagCall = {
  caller: Caller
  /** Name in the ledger: `/api/rag/search`. */
  route: string
  signal: AbortSignal
  origin?: CallOrigin | undefined
}

/** The part of a call that the ledger needs; background jobs have only this. */
export type MeteredCall = Omit<RagCall, 'caller'> & {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'budget'>
}

/** The vendor and model of keyword searches in the ledger. */
const WORDS = { vendor: LOCAL_VENDOR, model: 'lexical-2' }

/**
 * Reserves the cost of embedding, runs the work with an embedder that counts its calls, and records
 * the usage, also after a failure. Keyword search is free but recorded, too. Called by ingest, search
 * and answer, not by the routes.
 */
export async function meterCall<T, D extends Pick<RagDeps, 'gateway' | 'embedder'>>(
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
    kind: 'embedding' as const,
    caller,
    route,
    first: { vendor, model },
    promptTokens,
    isReserved,
    signal,
    origin,
  }
  const { result } = await recordTallied(gateway, terms, (tally) =>
    work({ ...deps, embedder: embedder?.countedIn(tally) ?? null }),
  )
  return result
}

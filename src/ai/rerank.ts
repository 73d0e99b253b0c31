// Requests relevance scores from a vendor's cross-encoder, with the same wire, timeouts, retries
// and record as for answers, but without failover.
import { getVendor, type Route } from '#models/catalogue.ts'
import { askTallied, type EmbeddingTally, type Recorded, recordTallied } from './embeddings.ts'
import { tokensOfBytes } from './estimate.ts'
import type { Gateway } from './gateway.ts'
import { createPatience } from './patience.ts'
import { aiProblem } from './problems.ts'
import { requireConfigured, requireEnabled } from './routing.ts'

export type RerankCall = { first: Route; query: string; documents: string[]; signal: AbortSignal }

type RerankTerms = Omit<Parameters<typeof recordTallied>[1], 'kind' | 'first' | 'promptTokens'>

/** Returns scores in the documents' order. @throws Problem 400, 429, 502, 503, 504 */
export function rerank(
  gateway: Gateway,
  terms: RerankTerms,
  call: RerankCall,
): Promise<Recorded<number[]>> {
  // The vendor reads the query with each document.
  const bytes = call.documents.reduce(
    (sum, text) => sum + Buffer.byteLength(text) + Buffer.byteLength(call.query),
    0,
  )
  const promptTokens = tokensOfBytes(bytes)
  const record = { ...terms, kind: 'rerank' as const, first: call.first, promptTokens }
  return recordTallied(gateway, record, (tally) => ask(gateway, call, promptTokens, tally))
}

async function ask(
  gateway: Gateway,
  { first, query, documents, signal }: RerankCall,
  guess: number,
  tally: EmbeddingTally,
): Promise<number[]> {
  const { vendor: name, model } = first
  requireConfigured(gateway.config, name)
  requireEnabled(gateway.config, first)
  const { rerank: reranker } = getVendor(gateway.targets, name).vendor
  if (reranker === undefined) throw aiProblem('rerank_not_supported', { vendor: name })
  const { scores } = await askTallied(gateway, tally, {
    first,
    signal,
    guess,
    patience: createPatience(gateway.config),
    shape: ({ rerank = reranker }) => rerank.shape(model, query, documents),
    readAnswer: (body) => reranker.readAnswer(body, documents.length),
  })
  return scores
}

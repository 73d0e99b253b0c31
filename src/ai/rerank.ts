// Requests relevance scores from a vendor's cross-encoder, with the same wire, timeouts, retries
// and record as for answers, but without failover.
import { getVendor, type Route } from '#models/catalogue.ts'
import { attempt } from './attempts.ts'
import { type EmbeddingTally, type Recorded, recordTallied } from './embeddings.ts'
import { tokensOfBytes } from './estimate.ts'
import type { Endpoint, Gateway } from './gateway.ts'
import { createPatience } from './patience.ts'
import { aiProblem } from './problems.ts'
import { requireConfigured, requireEnabled } from './routing.ts'
import { vendorProblem } from './vendor-problem.ts'
import type { AnswerLimits } from './vendors/exchange.ts'

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
  const { attemptLog } = tally
  const before = attemptLog.attempts
  attemptLog.promptTokens = guess
  try {
    const ask = (_route: Route, { target }: Endpoint, limits: AnswerLimits) => {
      const request = (target.vendor.rerank ?? reranker).shape(model, query, documents)
      return gateway.wire
        .send(target, request, signal, attemptLog, limits)
        .then((body) => reranker.readAnswer(body, documents.length))
    }
    const { result } = await attempt(
      gateway,
      [first],
      signal,
      attemptLog,
      ask,
      createPatience(gateway.config),
    )
    tally.model = result.model
    tally.promptTokens = result.promptTokens ?? guess
    tally.isEstimated = result.promptTokens === null
    return result.scores
  } catch (error) {
    // A vendor whose request was aborted has read the documents and bills them.
    if (signal.aborted && attemptLog.attempts > before) {
      tally.promptTokens = guess
      tally.isEstimated = true
    }
    throw vendorProblem(gateway, error, attemptLog)
  }
}

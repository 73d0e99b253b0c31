// Reorders the best results with a cross-encoder (`rerank` of RAG_MODELS), in a separate call.
// Where it fails, takes too long or a budget is used up, the order stays and the reply reports it.
import { rerank } from '#ai/rerank.ts'
import { invalid } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import type { RagCall } from '../metering.ts'
import { createWarning, type SearchWarning } from './warnings.ts'

/** More candidates cost more, and lower-ranked chunks rarely answer. */
const CANDIDATES = 30
/** Short, because a person waits for the results. */
const PATIENCE_MS = 5_000

export type RerankDeps = Pick<RagDeps, 'gateway' | 'rerankModel' | 'log'>
type RerankQuery = { queries: string[]; topK: number; reranks?: boolean }

/** Best first; `rerank_score` is on the model's own scale. */
type Results<Chunk> = { found: Chunk[]; warnings: SearchWarning[] }

/** @throws Problem 422 where there is no reranking model */
export function checkRerank(
  reranks: boolean | null | undefined,
  { rerankModel }: Pick<RagDeps, 'rerankModel'>,
): void {
  if (reranks === true && rerankModel === null)
    throw invalid(['body', 'rerank'], 'This server has no model that reranks')
}

/** Returns how many chunks to find for the reranking. */
export function countCandidates(
  { rerankModel }: RerankDeps,
  { topK, reranks = true }: RerankQuery,
): number {
  return rerankModel === null || !reranks ? topK : Math.max(topK, CANDIDATES)
}

/** @throws the signal's reason */
export async function rerankChunks<Chunk extends { content: string; rerank_score?: number }>(
  deps: RerankDeps,
  call: RagCall,
  asked: RerankQuery,
  { found, warnings }: Results<Chunk>,
): Promise<Results<Chunk>> {
  const { gateway, rerankModel, log } = deps
  const { topK, reranks = true, queries } = asked
  const query = queries.at(-1) ?? ''
  if (rerankModel === null || !reranks || found.length < 2)
    return { warnings, found: found.slice(0, topK) }
  const [candidates, others] = [found.slice(0, CANDIDATES), found.slice(CANDIDATES)]
  const documents = candidates.map(({ content }) => content)
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(PATIENCE_MS)])
  try {
    const { result } = await rerank(gateway, call, { first: rerankModel, query, documents, signal })
    const ordered = candidates
      .map((chunk, i) => ({ ...chunk, rerank_score: result[i] as number }))
      .sort((a, b) => b.rerank_score - a.rerank_score)
    return { warnings, found: [...ordered, ...others].slice(0, topK) }
  } catch (error) {
    call.signal.throwIfAborted()
    log.warn({ err: error, model: rerankModel }, 'what was found could not be reranked')
    return { found: found.slice(0, topK), warnings: [...warnings, createWarning('not_reranked')] }
  }
}

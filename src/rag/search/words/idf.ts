// The weight of a term: inverse document frequency as in BM25, over the live chunks of one index.
import type { WordIndex } from './word-index.ts'

/** Stands in for unseen texts, so that in an index of one chunk not every word counts as common. */
const PRIOR = { chunks: 10, count: 0.1 }

/** Above 0. Stop words count as in all unseen texts: one text cannot show how common they are. */
export function idf({ live }: Pick<WordIndex, 'live'>, frequency: number, isStop = false): number {
  const count = Math.min(frequency, live) + (isStop ? PRIOR.chunks : PRIOR.count)
  return Math.log(1 + Math.max(0, live + PRIOR.chunks - count + 0.5) / (count + 0.5))
}

// How much a term says: inverse document frequency as BM25 has it, over the live chunks of one shelf.
import type { WordIndex } from './word-index.ts'

/** Stands in for texts not seen yet, so that a shelf of one chunk does not take its every word for common. */
const PRIOR = { chunks: 10, count: 0.1 }

/** Always above 0. Stop words are taken to be in all the texts not seen: one text cannot tell how common they are. */
export function idf({ live }: Pick<WordIndex, 'live'>, frequency: number, isStop = false): number {
  const count = Math.min(frequency, live) + (isStop ? PRIOR.chunks : PRIOR.count)
  return Math.log(1 + Math.max(0, live + PRIOR.chunks - count + 0.5) / (count + 0.5))
}

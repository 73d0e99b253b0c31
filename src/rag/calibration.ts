/**
 * What an embedder's cosines mean: of questions with the text that answers each, and with all the other texts. The two figures are a model's
 * `similarity` in MODELS. Texts of one subject among the others would lift both: pairs should be about different things.
 */
import type { Embedder } from '#embeddings/embedder.ts'

export type Pair = {
  question: string
  /** Answers it, and none of the other questions. */
  text: string
}

export type Calibration = {
  /** The cosine of a question with a text that has nothing to do with it: the median. */
  unrelated: number
  /** From where on a text answers. */
  answers: number
  /** Of the texts that answer, and of the nearest others: what `answers` keeps and drops. */
  kept: number
  dropped: number
}

/** @throws what the embedder throws */
export async function calibrate(
  embedder: Pick<Embedder, 'embed'>,
  pairs: Pair[],
  signal: AbortSignal,
): Promise<Calibration> {
  const texts = await embedder.embed(
    pairs.map(({ text }) => text),
    'document',
    signal,
  )
  const questions = await embedder.embed(
    pairs.map(({ question }) => question),
    'query',
    signal,
  )
  const own: number[] = []
  const others: number[] = []
  const nearest: number[] = []
  for (const [i, question] of questions.vectors.entries()) {
    const cosines = texts.vectors.map((text) => cosineOf(question, text))
    const [answer = 0] = cosines.splice(i, 1)
    own.push(answer)
    others.push(...cosines)
    nearest.push(Math.max(...cosines))
  }
  return { unrelated: median(others), ...partedBest(own, nearest) }
}

/** The bound, halfway between two cosines, that keeps and drops most: the lesser of both counts. */
function partedBest(own: number[], nearest: number[]): Omit<Calibration, 'unrelated'> {
  const cosines = [...own, ...nearest].sort((a, b) => a - b)
  const bounds = cosines.slice(1).map((cosine, i) => (cosine + (cosines[i] as number)) / 2)
  let best = { answers: 0, kept: 0, dropped: 0 }
  for (const answers of bounds) {
    const kept = own.filter((cosine) => cosine >= answers).length / own.length
    const dropped = nearest.filter((cosine) => cosine < answers).length / nearest.length
    if (Math.min(kept, dropped) > Math.min(best.kept, best.dropped))
      best = { answers, kept, dropped }
  }
  return best
}

function cosineOf(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

// Measures an embedder's cosines: between each question and its answer, and between the question
// and all other texts. The results are a model's `similarity` in MODELS. Pairs about one subject
// would raise both.
import type { Embedder } from '#embeddings/embedder.ts'

export type Pair = {
  question: string
  /** Answers this question and no other. */
  text: string
}

export type Calibration = {
  /** The median cosine between a question and an unrelated text. */
  unrelated: number
  /** The cosine from which a text answers. */
  answers: number
  /** The share of answering texts at or above `answers`, and of nearest other texts below it. */
  answersKept: number
  othersDropped: number
}

/** @throws the embedder's errors */
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
  const unrelatedCosines: number[] = []
  const nearest: number[] = []
  for (const [i, question] of questions.vectors.entries()) {
    const cosines = texts.vectors.map((text) => computeCosine(question, text))
    const [answer = 0] = cosines.splice(i, 1)
    own.push(answer)
    unrelatedCosines.push(...cosines)
    nearest.push(Math.max(...cosines))
  }
  return { unrelated: computeMedian(unrelatedCosines), ...findBestBound(own, nearest) }
}

/** Returns the bound for which the lower of the shares kept and dropped is best. */
function findBestBound(own: number[], nearest: number[]): Omit<Calibration, 'unrelated'> {
  const cosines = [...own, ...nearest].sort((a, b) => a - b)
  const bounds = cosines.slice(1).map((cosine, i) => (cosine + (cosines[i] as number)) / 2)
  let best = { answers: 0, answersKept: 0, othersDropped: 0 }
  for (const answers of bounds) {
    const answersKept = own.filter((cosine) => cosine >= answers).length / own.length
    const othersDropped = nearest.filter((cosine) => cosine < answers).length / nearest.length
    if (Math.min(answersKept, othersDropped) > Math.min(best.answersKept, best.othersDropped))
      best = { answers, answersKept, othersDropped }
  }
  return best
}

function computeCosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)
}

function computeMedian(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

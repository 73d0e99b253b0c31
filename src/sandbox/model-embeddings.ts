import { tokens } from './extract.ts'

/** Returns one unit vector per text, from the embedder that the composition passes in. */
export type Embed = (texts: string[]) => Promise<Float32Array[]>

const DIMENSIONS: Record<string, number> = {
  'text-embedding-3-small': 1_536,
  'text-embedding-3-large': 3_072,
  'gemini-embedding-2': 3_072,
}
const DIMENSIONS_DEFAULT = 1_024
const DIMENSIONS_MAX = 4_096

/** The length of the model's vectors, or the requested length. */
export async function embedded(embed: Embed, model: string, texts: string[], dimensions: unknown) {
  const requested =
    typeof dimensions === 'number' && dimensions >= 1
      ? Math.min(DIMENSIONS_MAX, Math.floor(dimensions))
      : (DIMENSIONS[model] ?? DIMENSIONS_DEFAULT)
  const vectors = await embed(texts)
  return {
    vectors: vectors.map((vector) => fitted(vector, requested)),
    tokens: texts.reduce((sum, text) => sum + tokens(text).length, 0),
  }
}

/**
 * Ranks documents by the words that they share with the query, best first, in the format of Jina's
 * and Cohere's rerankers.
 */
export async function reranked(embed: Embed, query: string, documents: string[]) {
  const [asked = new Float32Array(0), ...vectors] = await embed([query, ...documents])
  const scores = vectors.map((vector) =>
    vector.reduce((sum, value, i) => sum + value * (asked[i] ?? 0), 0),
  )
  const results = scores.map((score, index) => ({ index, relevance_score: Math.max(0, score) }))
  const read = documents.reduce(
    (sum, text) => sum + tokens(text).length,
    documents.length * tokens(query).length,
  )
  return {
    results: results.sort((a, b) => b.relevance_score - a.relevance_score),
    usage: { prompt_tokens: read, total_tokens: read },
  }
}

/**
 * A longer vector gets zeros at its end, which change no cosine. A shorter one is folded, so that
 * each feature keeps a position.
 */
function fitted(vector: Float32Array, length: number): number[] {
  const made = new Array<number>(length).fill(0)
  for (const [index, value] of vector.entries())
    made[index % length] = (made[index % length] ?? 0) + value
  const size = Math.hypot(...made) || 1
  return made.map((value) => value / size)
}

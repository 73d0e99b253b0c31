// The embedder without vendor, download or network, for `/v1/embeddings` and the sandbox: stemmed
// words and their parts, hashed with signs into 1,024 floats. It has no semantics, so document
// search does not use it.
import type { Embedder } from './embedder.ts'
import { readTerms, type Terms } from './terms.ts'

const DIMS = 1024

export const localEmbedder: Embedder = {
  id: `local/lexical-1/${DIMS}`,
  vendor: 'local',
  model: 'lexical-1',
  dims: DIMS,
  embed: async (texts) => ({ vectors: texts.map((text) => hashTerms(readTerms(text))) }),
}

/** BM25's saturation with k1 = 1.2: the tenth mention adds little. */
function saturate(count: number): number {
  return (count * 2.2) / (count + 1.2)
}

/** Adds each feature at two positions with independent signs, so that a collision costs half. */
function hashTerms(terms: Terms): Float32Array {
  const vector = new Float32Array(DIMS)
  let squares = 0
  for (const [feature, count] of terms) {
    const weight = saturate(count)
    const secondHash = Math.imul(feature ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    const first = feature % DIMS
    const second = (secondHash >>> 8) % DIMS
    vector[first] = (vector[first] as number) + (feature & 0x40000000 ? weight : -weight)
    vector[second] = (vector[second] as number) + (secondHash & 0x80000000 ? weight : -weight)
  }
  for (const value of vector) squares += value * value
  if (squares === 0) return vector
  const length = Math.sqrt(squares)
  for (let i = 0; i < DIMS; i++) vector[i] = (vector[i] as number) / length
  return vector
}

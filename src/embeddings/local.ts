/**
 * The embedder that needs no vendor, no download and no network: it compares texts by their words, pieces of words and character pairs.
 * The stored vectors (features hashed with signs into 1,024 floats) only choose candidates; what the caller sees is the cosine over the
 * unhashed features, so hashing costs recall of far candidates, never the order of near ones.
 *
 * The score is the cosine of two-part vectors. Question: [√⅓·q, √⅔·q]. Chunk: [√⅓·w, √⅔·p], where w is its passage nearest to the question and
 * p is q reduced to the features that the chunk holds. So it does not sink as chunks grow, as a plain cosine of a short question with a long text does
 * (measured medians: 0.36, 0.27 and 0.14 at 300, 1,000 and 4,000 characters), and 0.5 parts what answers from what does not: see bench/retrieval.ts.
 */
import { sentenceEnds } from '#embeddings/sentences.ts'
import type { Embedder, Lexical } from './embedder.ts'
import { BUCKETS, bucketOf, Idf, packFrequencies } from './idf.ts'
import { eachFeature, type Terms, termsOf } from './terms.ts'

const DIMS = 1024
const PASSAGE_SHARE = 1 / 3
/** A passage's length in characters, about three sentences; a character of Chinese says as much as three of English. */
const PASSAGE_LENGTH = 300
const UNSPACED_FACTOR = 3
const unspaced = /[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff\u1780-\u17ff\u1000-\u109f]/

export const lexical: Lexical = {
  queryVector: (query, idf) => hashed(weighted(termsOf(query), idf)),
  scorer,
}

export const localEmbedder: Embedder = {
  id: `local/lexical-1/${DIMS}`,
  vendor: 'local',
  model: 'lexical-1',
  dims: DIMS,
  lexical,
  async embed(texts, purpose) {
    if (purpose === 'query') {
      return { vectors: texts.map((text) => lexical.queryVector(text, new Idf())) }
    }
    const read = texts.map(termsOf)
    return {
      vectors: read.map((terms) => hashed(weighted(terms))),
      frequencies: packFrequencies(read.map((terms) => terms.keys())),
    }
  },
}

function scorer(query: string, idf: Idf): (text: string) => number {
  const features = unit(weighted(termsOf(query), idf))
  if (features.size === 0) return () => 0
  const wanted = new Float32Array(BUCKETS)
  for (const [feature, weight] of features) wanted[bucketOf(feature)] = weight
  const counts = new Float32Array(BUCKETS)

  return (text) => {
    const { nearest, found } = compare(wanted, counts, sentencesOf(text))
    return Math.min(1, PASSAGE_SHARE * nearest + (1 - PASSAGE_SHARE) * found)
  }
}

type Sentence = {
  length: number
  buckets: number[]
  weights: number[]
}

function sentencesOf(text: string): Sentence[] {
  let start = 0
  return sentenceEnds(text).map((end) => {
    const sentence = text.slice(start, end)
    start = end
    const buckets: number[] = []
    const weights: number[] = []
    eachFeature(sentence, (feature, weight) => {
      buckets.push(bucketOf(feature))
      weights.push(weight)
    })
    return { length: sentence.length * (unspaced.test(sentence) ? UNSPACED_FACTOR : 1), buckets, weights }
  })
}

/**
 * `nearest`: the highest cosine of any run of whole sentences up to the passage's length. The run slides, so each sentence is added and taken off once.
 * `found`: the cosine of `wanted` with its own projection onto the features that the sentences hold.
 * `counts` is scratch space, all zeros before and after: arrays instead of maps make this three times as fast.
 */
function compare(
  wanted: Float32Array,
  counts: Float32Array,
  sentences: Sentence[],
): { nearest: number; found: number } {
  const seen = new Set<number>()
  let squares = 0
  let dot = 0
  const change = ({ buckets, weights }: Sentence, sign: 1 | -1) => {
    for (let i = 0; i < buckets.length; i++) {
      const bucket = buckets[i] as number
      const before = counts[bucket] as number
      const after = before + sign * (weights[i] as number)
      counts[bucket] = after
      const old = saturated(before)
      const now = saturated(after)
      squares += now * now - old * old
      const weight = wanted[bucket] as number
      if (weight === 0) continue
      dot += (now - old) * weight
      seen.add(bucket)
    }
  }

  let nearest = 0
  // Only runs that cannot grow count: a short first sentence alone would look nearer than it is.
  const measure = () => {
    if (dot > 0 && squares > 0) nearest = Math.max(nearest, dot / Math.sqrt(squares))
  }
  let length = 0
  let first = 0
  for (const [i, sentence] of sentences.entries()) {
    if (length > 0 && length + sentence.length > PASSAGE_LENGTH) measure()
    while (first < i && length + sentence.length > PASSAGE_LENGTH) {
      const gone = sentences[first++] as Sentence
      change(gone, -1)
      length -= gone.length
    }
    change(sentence, 1)
    length += sentence.length
  }
  measure()
  for (const { buckets } of sentences) for (const bucket of buckets) counts[bucket] = 0

  let found = 0
  for (const bucket of seen) found += (wanted[bucket] as number) ** 2
  return { nearest, found: Math.sqrt(found) }
}

function weighted(terms: Terms, idf?: Idf): Map<number, number> {
  const weights = new Map<number, number>()
  for (const [feature, count] of terms) weights.set(feature, saturated(count) * (idf?.weight(feature) ?? 1))
  return weights
}

/** BM25's saturation with k1 = 1.2: the tenth mention adds little. */
function saturated(count: number): number {
  return (count * 2.2) / (count + 1.2)
}

function unit(vector: Map<number, number>): Map<number, number> {
  let squares = 0
  for (const weight of vector.values()) squares += weight * weight
  const length = Math.sqrt(squares)
  for (const [feature, weight] of vector) vector.set(feature, weight / length)
  return vector
}

/** Each feature goes to two places with a sign of its own, so that a collision of two costs half. */
function hashed(weights: Map<number, number>): Float32Array {
  const vector = new Float32Array(DIMS)
  let squares = 0
  for (const [feature, weight] of weights) {
    const other = Math.imul(feature ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    const first = feature % DIMS
    const second = (other >>> 8) % DIMS
    vector[first] = (vector[first] as number) + (feature & 0x40000000 ? weight : -weight)
    vector[second] = (vector[second] as number) + (other & 0x80000000 ? weight : -weight)
  }
  for (const value of vector) squares += value * value
  if (squares === 0) return vector
  const length = Math.sqrt(squares)
  for (let i = 0; i < DIMS; i++) vector[i] = (vector[i] as number) / length
  return vector
}

import { createHash } from 'node:crypto'
import { embed as askVendor, createTally, type EmbeddingTally } from '#ai/embeddings.ts'
import type { Vendors } from '#ai/gateway.ts'
import type { Config } from '#config/config.ts'
import type { Embedder } from '#embeddings/embedder.ts'
import { type EmbeddingTraits, findModel, getVendor } from '#models/catalogue.ts'
import type { VectorStoreName } from './search/stores/vector-store.ts'

/** Most models accept 8,190 tokens: four characters each in Latin text, one beyond ASCII. */
const TEXT_MAX = { tokens: 8_190, ascii: 24_000, other: 6_000 }

/** An embedder that can record its vendor and usage in the tally of one call. */
export type MeteredEmbedder = Embedder & {
  countedIn(tally: EmbeddingTally): MeteredEmbedder
  /** Maps a cosine of its vectors to a score: from 0.5 on, a text answers a question. */
  toScore(cosine: number): number
  /** Whether a score of 0.5 separates texts that answer from others. */
  isCalibrated: boolean
}

/** A text longer than the model allows is embedded as the mean of its parts. */
function createVendorEmbedder(
  gateway: Vendors,
  { vendor, model, store }: { vendor: string; model: string; store: VectorStoreName },
): MeteredEmbedder {
  const entry = getVendor(gateway.config.vendors, vendor)
  const known = findModel(entry, model)
  const tokensMax = known?.contextTokens ?? TEXT_MAX.tokens
  const { tasks, similarity } = known?.embedding ?? {}
  const id = buildId({ vendor, model, store }, tasks)
  const counting = (tally: EmbeddingTally): MeteredEmbedder => ({
    id,
    vendor,
    model,
    dims: 0,
    async embed(texts, purpose, signal) {
      const task = tasks?.[purpose]
      const prefix = tasks?.member === undefined ? (task ?? '') : ''
      const members = tasks?.member === undefined ? undefined : { [tasks.member]: tasks[purpose] }
      const parts = texts.map((text) =>
        splitText(text, tokensMax).map((part) => `${prefix}${part}`),
      )
      const vectors: Float32Array[] = []
      for (const inputs of batchInputs(parts.flat(), entry.embeddings.charactersMax)) {
        const call = { first: { vendor, model }, inputs, dimensions: null, members, signal }
        const answer = await askVendor(gateway, call, tally)
        for (const vector of answer.vectors)
          vectors.push(normalizeVector(Float32Array.from(vector)))
      }
      const rest = vectors.values()
      return { vectors: parts.map(({ length }) => averageVectors(rest.take(length).toArray())) }
    },
    countedIn: counting,
    isCalibrated: similarity !== undefined,
    toScore: (cosine) => (similarity === undefined ? cosine : calibrateScore(cosine, similarity)),
  })
  return counting(createTally())
}

/**
 * Names a set of comparable vectors: the model, and what else makes vectors different, namely its
 * task prompts and the store, because pgvector holds halves of floats. Example:
 * `openai/text-embedding-3-small@pgvector`.
 */
function buildId(
  { vendor, model, store }: { vendor: string; model: string; store: VectorStoreName },
  tasks: EmbeddingTraits['tasks'],
): string {
  const prompts = tasks === undefined ? '' : `#${digest(JSON.stringify(tasks))}`
  return `${vendor}/${model}${prompts}${store === 'pgvector' ? '@pgvector' : ''}`
}

/** A model's name may contain colons. Null for `local`, which embeds nothing. */
function parseSetting(setting: string): { vendor: string; model: string } | null {
  const colon = setting.indexOf(':')
  if (colon === -1) return null
  return { vendor: setting.slice(0, colon), model: setting.slice(colon + 1) }
}

/** Returns the id of the configured embedder without opening it; null for `local`. */
export function findEmbedderId(
  { ai }: Pick<Config, 'ai'>,
  setting: string,
  store: VectorStoreName,
): string | null {
  const named = parseSetting(setting)
  if (named === null) return null
  const tasks = findModel(getVendor(ai.vendors, named.vendor), named.model)?.embedding?.tasks
  return buildId({ ...named, store }, tasks)
}

/** Creates the configured embedder; null for `local`. */
export function createEmbedder(
  gateway: Vendors,
  setting: string,
  store: VectorStoreName,
): MeteredEmbedder | null {
  const named = parseSetting(setting)
  return named === null ? null : createVendorEmbedder(gateway, { ...named, store })
}

/** Linear from 0 for unrelated texts to 0.5 for texts that answer, and on to 1 for equal texts. */
function calibrateScore(
  cosine: number,
  { unrelated, answers }: { unrelated: number; answers: number },
): number {
  const share =
    cosine < answers
      ? (cosine - unrelated) / (answers - unrelated)
      : 1 + (cosine - answers) / (1 - answers)
  return Math.max(0, share / 2)
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

function splitText(text: string, tokensMax: number): string[] {
  const isAscii = (text.match(/[^\x20-\x7e\s]/g)?.length ?? 0) < text.length / 10
  const size = Math.ceil(
    TEXT_MAX[isAscii ? 'ascii' : 'other'] * Math.min(1, tokensMax / TEXT_MAX.tokens),
  )
  // Vendors refuse an empty text.
  if (text.length <= size) return [text === '' ? ' ' : text]
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    text.slice(i * size, (i + 1) * size).toWellFormed(),
  )
}

function* batchInputs(inputs: string[], charactersMax: number): Generator<string[]> {
  let request: string[] = []
  let characters = 0
  for (const input of inputs) {
    if (request.length > 0 && characters + input.length > charactersMax) {
      yield request
      request = []
      characters = 0
    }
    request.push(input)
    characters += input.length
  }
  if (request.length > 0) yield request
}

function averageVectors(vectors: Float32Array[]): Float32Array {
  const [first] = vectors
  if (first === undefined) return new Float32Array(0)
  if (vectors.length === 1) return first
  const sum = new Float32Array(first.length)
  for (const vector of vectors)
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] as number) + (vector[i] as number)
  return normalizeVector(sum)
}

function normalizeVector(vector: Float32Array): Float32Array {
  let squares = 0
  for (const value of vector) squares += value * value
  if (squares === 0) return vector
  const length = Math.sqrt(squares)
  return vector.map((value) => value / length)
}

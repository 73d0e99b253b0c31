import type { Rarity } from './idf.ts'

/** Turns texts into vectors whose cosine says how much two texts are about the same. */
export interface Embedder {
  /** Names model and dimension; vectors of different ids are never compared. */
  id: string
  /** As the ledger names them; a model's name may hold slashes. */
  vendor: string
  model: string
  dims: number
  /** Unit vectors, one a text. Fails with a Problem that names the vendor. */
  embed(texts: string[], purpose: 'document' | 'query', signal: AbortSignal): Promise<Embedded>
  /** Present where texts are compared by their words: then rarity among the user's own chunks counts, and candidates are scored again exactly. */
  lexical?: Lexical
}

export interface Embedded {
  vectors: Float32Array[]
  /** Of a lexical embedder's documents: how many of these texts each word is in, packed for Rarity. */
  occurrences?: Uint8Array
}

export interface Lexical {
  queryVector(query: string, rarity: Rarity): Float32Array
  /** Cosines 0..1 of the query with each text. */
  scorer(query: string, rarity: Rarity): (text: string) => number
}

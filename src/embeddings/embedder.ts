import type { Idf } from './idf.ts'

/** Turns texts into vectors whose cosine says how much two texts are about the same. */
export interface Embedder {
  /** Names model and dimension; vectors of different ids are never compared. */
  id: string
  /** As the ledger names them; a model's name may hold slashes. */
  vendor: string
  model: string
  dims: number
  /** Unit vectors, one a text. @throws Problem that names the vendor */
  embed(texts: string[], purpose: 'document' | 'query', signal: AbortSignal): Promise<Embedded>
  /** Present where texts are compared by their words: then idf among the user's own chunks counts, and candidates are scored again exactly. */
  lexical?: Lexical
}

export type Embedded = {
  vectors: Float32Array[]
  /** Of a lexical embedder's documents: in how many of these texts each word is, packed for Idf. */
  frequencies?: Uint8Array
}

export type Lexical = {
  queryVector(query: string, idf: Idf): Float32Array
  /** Cosines 0..1 of the query with each text. */
  scorer(query: string, idf: Idf): (text: string) => number
}

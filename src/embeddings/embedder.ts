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
}

export type Embedded = { vectors: Float32Array[] }

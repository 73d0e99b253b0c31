/** Turns texts into vectors whose cosine measures how similar two texts are in subject. */
export interface Embedder {
  /** Names model and dimension; vectors of different ids are never compared. */
  id: string
  /** The names in the ledger; a model's name may contain slashes. */
  vendor: string
  model: string
  dims: number
  /** Returns one unit vector per text. @throws Problem that names the vendor */
  embed(texts: string[], purpose: 'document' | 'query', signal: AbortSignal): Promise<Embedded>
}

export type Embedded = { vectors: Float32Array[] }

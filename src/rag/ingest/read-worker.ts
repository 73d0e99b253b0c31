import { localEmbedder } from '#embeddings/local.ts'

export interface Rows {
  /** Vectors, row after row. */
  rows: Float32Array
  occurrences: Uint8Array
}

const never = new AbortController().signal

export async function embedDocuments(texts: string[]): Promise<Rows> {
  const { vectors, occurrences = new Uint8Array(0) } = await localEmbedder.embed(texts, 'document', never)
  const rows = new Float32Array(vectors.length * localEmbedder.dims)
  for (const [i, vector] of vectors.entries()) rows.set(vector, i * localEmbedder.dims)
  return { rows, occurrences }
}

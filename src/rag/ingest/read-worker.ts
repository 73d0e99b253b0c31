import { localEmbedder } from '#embeddings/local.ts'

export type PackedVectors = {
  /** Vectors, row after row. */
  vectors: Float32Array
  frequencies: Uint8Array
}

const never = new AbortController().signal

export async function embedDocuments(texts: string[]): Promise<PackedVectors> {
  const { vectors, frequencies = new Uint8Array(0) } = await localEmbedder.embed(texts, 'document', never)
  const rows = new Float32Array(vectors.length * localEmbedder.dims)
  for (const [i, vector] of vectors.entries()) rows.set(vector, i * localEmbedder.dims)
  return { vectors: rows, frequencies }
}

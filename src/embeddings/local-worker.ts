/** What a thread does for the local embedder: texts in, one block of floats out. */
import type { Embedded } from './embedder.ts'
import { localEmbedder } from './local.ts'

export type PackedVectors = {
  /** Vector after vector: one array crosses between threads far faster than a thousand. */
  vectors: Float32Array
  frequencies: Uint8Array
}

const never = new AbortController().signal

export async function embedDocuments(texts: string[]): Promise<PackedVectors> {
  const { vectors, frequencies = new Uint8Array(0) } = await localEmbedder.embed(texts, 'document', never)
  const packed = new Float32Array(vectors.length * localEmbedder.dims)
  for (const [i, vector] of vectors.entries()) packed.set(vector, i * localEmbedder.dims)
  return { vectors: packed, frequencies }
}

export function unpackVectors({ vectors, frequencies }: PackedVectors): Embedded {
  const { dims } = localEmbedder
  return {
    vectors: Array.from({ length: vectors.length / dims }, (_, i) => vectors.subarray(i * dims, (i + 1) * dims)),
    frequencies,
  }
}

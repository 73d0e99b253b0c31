/** The local embedder's thread: receives texts, returns one block of floats. */
import { lowerThreadPriority } from '#platform/thread-priority.ts'
import { localEmbedder } from './local.ts'

lowerThreadPriority()

const never = new AbortController().signal

/** One array crosses between threads far faster than a thousand arrays. */
export async function embedDocuments(texts: string[]): Promise<Float32Array> {
  const { vectors } = await localEmbedder.embed(texts, 'document', never)
  const packed = new Float32Array(vectors.length * localEmbedder.dims)
  for (const [i, vector] of vectors.entries()) packed.set(vector, i * localEmbedder.dims)
  return packed
}

export function unpackVectors(packed: Float32Array): Float32Array[] {
  const { dims } = localEmbedder
  return Array.from({ length: packed.length / dims }, (_, i) =>
    packed.subarray(i * dims, (i + 1) * dims),
  )
}

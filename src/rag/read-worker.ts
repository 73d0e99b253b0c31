import { type Chunking, spansOf } from './chunker.ts'
import { localEmbedder } from './embedders/local.ts'

export type ReadTask = { kind: 'chunk'; text: string; chunking: Chunking } | { kind: 'embed'; texts: string[] }

export interface ReadResult {
  spans?: Int32Array
  /** Vectors, row after row. */
  rows?: Float32Array
  occurrences?: Uint8Array
}

const never = new AbortController().signal

export async function read(task: ReadTask): Promise<ReadResult> {
  if (task.kind === 'chunk') return { spans: spansOf(task.text, task.chunking) }

  const { vectors, occurrences } = await localEmbedder.embed(task.texts, 'document', never)
  const rows = new Float32Array(vectors.length * localEmbedder.dims)
  for (const [i, vector] of vectors.entries()) rows.set(vector, i * localEmbedder.dims)
  return occurrences ? { rows, occurrences } : { rows }
}

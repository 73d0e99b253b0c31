/** Chunking and local embedding, off the main thread where a text is long enough to be felt. */
import { Piscina } from 'piscina'
import { type Chunking, spansOf } from './chunker.ts'
import type { Embedded, Embedder } from './embedders/embedder.ts'
import type { ReadResult, ReadTask } from './read-worker.ts'

export type Reader = ReturnType<typeof createReader>

/** Some 4 ms of work. */
const INLINE_CHARACTERS = 16_000
const THREADS_MAX = 2

export function createReader() {
  const pool = new Piscina<ReadTask, ReadResult>({
    filename: new URL('./read-worker.ts', import.meta.url).href,
    name: 'read',
    minThreads: 0,
    maxThreads: THREADS_MAX,
    idleTimeout: 10_000,
  })

  return {
    /** Pairs of start and end. */
    async chunk(text: string, chunking: Chunking): Promise<Int32Array> {
      if (text.length <= INLINE_CHARACTERS) return spansOf(text, chunking)
      const result = await pool.run({ kind: 'chunk', text, chunking })
      return result.spans ?? new Int32Array(0)
    },
    async embed(embedder: Embedder, texts: string[], signal: AbortSignal): Promise<Embedded> {
      const length = texts.reduce((sum, text) => sum + text.length, 0)
      if (embedder.lexical === undefined || length <= INLINE_CHARACTERS)
        return embedder.embed(texts, 'document', signal)
      const { rows, occurrences } = await pool.run({ kind: 'embed', texts }, { signal })
      const dims = embedder.dims
      return {
        vectors: texts.map((_, i) => (rows ?? new Float32Array(0)).subarray(i * dims, (i + 1) * dims)),
        tokens: 0,
        ...(occurrences ? { occurrences } : {}),
      }
    },
    close: () => pool.destroy(),
  }
}

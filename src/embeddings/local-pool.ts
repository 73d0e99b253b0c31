// The shared local embedder. Threads embed long texts, so that other requests do not wait; for
// short ones a thread costs more than the work. The trap: it holds threads, so create it once and
// close it last.
import { Piscina } from 'piscina'
import type { Embedder } from './embedder.ts'
import { localEmbedder } from './local.ts'
import { unpackVectors } from './local-worker.ts'

/** Takes about 4 ms. */
const INLINE_CHARACTERS = 16_000
const THREADS_MAX = 2

export function createLocalEmbedder() {
  const pool = new Piscina<string[], Float32Array>({
    filename: new URL('./local-worker.ts', import.meta.url).href,
    name: 'embedDocuments',
    minThreads: 0,
    maxThreads: THREADS_MAX,
    idleTimeout: 10_000,
  })

  return {
    ...localEmbedder,
    async embed(texts, purpose, signal) {
      const characters = texts.reduce((sum, { length }) => sum + length, 0)
      if (purpose === 'query' || characters <= INLINE_CHARACTERS)
        return localEmbedder.embed(texts, purpose, signal)
      return { vectors: unpackVectors(await pool.run(texts, { signal })) }
    },
    close: () => pool.destroy(),
  } satisfies Embedder & { close(): Promise<void> }
}

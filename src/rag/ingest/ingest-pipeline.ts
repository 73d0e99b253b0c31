/** Chunking and local embedding, off the main thread where a text is long enough to be felt. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { MessageChannel, type Transferable } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Embedded, Embedder } from '#embeddings/embedder.ts'
import { ragProblem } from '../problems.ts'
import { type ChunkSettings, spansOf } from './chunker.ts'
import type { PackedVectors } from './read-worker.ts'
import type { ChunkBatch, ChunkedTextInfo, TextHead, TextRequest, TextTask } from './text-worker.ts'

export type IngestPipeline = ReturnType<typeof createIngestPipeline>

/** A text cut into chunks, wherever it is held. */
export type ChunkedText = ChunkedTextInfo & {
  /** The chunks from `from` up to `to`, embedded. */
  read(from: number, to: number, signal: AbortSignal): Promise<{ texts: string[]; embedded: Embedded }>
}

/** A text that a worker holds. Close it whatever happens: it has a thread of its own. */
export type TextHandle = {
  sizeBytes: number
  head(): Promise<TextHead>
  cut(chunking: ChunkSettings): Promise<ChunkedTextInfo>
  read(from: number, to: number, isEmbedded: boolean): Promise<ChunkBatch>
  close(): void
}

/** Some 4 ms of work. */
const INLINE_CHARACTERS = 16_000
/** Longer bodies and texts are held by a worker from the start. */
export const LONG_BYTES = 512 * 1024
const THREADS_MAX = 2
const LONG_MAX = 2
/** Each waits with all its bytes. */
const LONG_WAITING_MAX = 8

export function createIngestPipeline() {
  const threads = { minThreads: 0, idleTimeout: 10_000 }
  const pool = new Piscina<string[], PackedVectors>({
    ...threads,
    filename: new URL('./read-worker.ts', import.meta.url).href,
    name: 'embedDocuments',
    maxThreads: THREADS_MAX,
  })
  // A pool of its own: long texts are held for as long as they are written, and others shall not wait for that. Nor is either the
  // parser's: a stranger's file may hold its thread for a minute, under a limit on memory that would be too small here.
  const longPool = new Piscina<TextTask, void>({
    ...threads,
    filename: new URL('./text-worker.ts', import.meta.url).href,
    name: 'serveText',
    maxThreads: LONG_MAX,
    maxQueue: LONG_WAITING_MAX,
  })

  return {
    open,
    async chunk(text: string | TextHandle, chunking: ChunkSettings, embedder: Embedder): Promise<ChunkedText> {
      if (typeof text !== 'string') return chunkElsewhere(text, chunking, embedder)
      const spans = spansOf(text, chunking)
      return {
        id: createHash('md5').update(text, 'utf8').digest('hex').slice(0, 12),
        characters: text.length,
        total: spans.length / 2,
        async read(from, to, signal) {
          const texts = Array.from({ length: to - from }, (_, i) =>
            text.slice(spans[(from + i) * 2] as number, spans[(from + i) * 2 + 1] as number),
          )
          return { texts, embedded: await embed(embedder, texts, signal) }
        },
      }
    },
    embed,
    close: () => Promise.all([pool.destroy(), longPool.destroy()]),
  }

  async function embed(embedder: Embedder, texts: string[], signal: AbortSignal): Promise<Embedded> {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (embedder.lexical === undefined || length <= INLINE_CHARACTERS) return embedder.embed(texts, 'document', signal)
    return unpackVectors(await pool.run(texts, { signal }), embedder.dims)
  }

  async function chunkElsewhere(text: TextHandle, chunking: ChunkSettings, embedder: Embedder): Promise<ChunkedText> {
    const isLocal = embedder.lexical !== undefined
    return {
      ...(await text.cut(chunking)),
      async read(from, to, signal) {
        const { texts, embedded } = await text.read(from, to, isLocal)
        return {
          texts,
          embedded: embedded ? unpackVectors(embedded, embedder.dims) : await embed(embedder, texts, signal),
        }
      },
    }
  }

  /** The bytes go over to the worker and are gone here. */
  function open(bytes: Uint8Array, form: TextTask['form']): TextHandle {
    const { port1: port, port2 } = new MessageChannel()
    const sizeBytes = bytes.byteLength
    const stop = new AbortController()
    // Node keeps small buffers in a pool that other requests share: only a buffer of its own may be handed over.
    const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
    const transferList: Transferable[] = [port2, own.buffer as ArrayBuffer]
    const run = longPool.run(
      { port: port2, bytes: own, form },
      { transferList: transferList as never, signal: stop.signal },
    )
    const died = run.then(
      () => new Promise<never>(() => {}),
      (error) => {
        if (stop.signal.aborted || !/queue/i.test(String(error))) throw error
        throw ragProblem('reader_busy', { headers: { 'Retry-After': '10' } })
      },
    )
    died.catch(() => port.close())

    const ask = async <T>(question: TextRequest): Promise<T> => {
      port.postMessage(question)
      const [answer] = await Promise.race([once(port, 'message'), died])
      return answer as T
    }
    return {
      sizeBytes,
      head: () => ask({ ask: 'head' }),
      cut: (chunking) => ask({ ask: 'chunk', chunking }),
      read: (from, to, isEmbedded) => ask({ ask: 'read', from, to, isEmbedded }),
      close() {
        port.close()
        stop.abort()
      },
    }
  }
}

function unpackVectors({ vectors: rows, frequencies }: PackedVectors, dims: number): Embedded {
  const vectors = Array.from({ length: rows.length / dims }, (_, i) => rows.subarray(i * dims, (i + 1) * dims))
  return { vectors, frequencies }
}

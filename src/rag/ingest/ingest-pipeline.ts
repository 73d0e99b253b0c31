/**
 * From a text to chunks, embedded where there is an embedder. A long text stays on a worker thread from its bytes on, behind a handle; a short one is cut here.
 * The trap: each handle holds a thread, of which there are two, until it is closed.
 */
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Embedder } from '#embeddings/embedder.ts'
import type { Content } from '#platform/content.ts'
import { ragProblem } from '../problems.ts'
import { type ChunkedTextInfo, type Cut, chunkedText } from './chunked-text.ts'
import type { ChunkSettings } from './chunker.ts'
import type { Outline } from './outline.ts'
import type { TextHead, TextMeasure, TextRequest, TextTask } from './text-worker.ts'

/** A text cut into chunks, wherever it lies. */
export type ChunkedText = ChunkedTextInfo & {
  /** The chunks from `from` up to `to`, and their vectors; null without an embedder. */
  read(
    from: number,
    to: number,
    embedder: Embedder | null,
    signal: AbortSignal,
  ): Promise<Cut & { vectors: Float32Array[] | null }>
}

/** A text that lies on a worker thread. Close it whatever happens. */
export type TextHandle = {
  sizeBytes: number
  head(): Promise<TextHead>
  measure(): Promise<TextMeasure>
  chunk(settings: ChunkSettings): Promise<ChunkedTextInfo>
  read(from: number, to: number): Promise<Cut>
  /** Some bytes of the text. */
  utf8(from: number, to: number): Promise<Uint8Array>
  close(): void
}

/** Longer bodies and texts lie in files, and are read by a worker from the start. */
export const LONG_BYTES = 512 * 1024
const THREADS_MAX = 2
/** Each waits with its file, and its client. */
const WAITING_MAX = 8

export function createIngestPipeline() {
  // A pool of its own: a long text stays for as long as it is written, and what else is embedded shall not wait for that. Nor is it the
  // parser's: a stranger's file may hold its thread for a minute, under a limit on memory that would be too small here.
  const pool = new Piscina<TextTask, void>({
    filename: new URL('./text-worker.ts', import.meta.url).href,
    name: 'serveText',
    minThreads: 0,
    maxThreads: THREADS_MAX,
    maxQueue: WAITING_MAX,
    idleTimeout: 10_000,
  })

  return { open, chunk, close: () => pool.destroy() }

  function open(
    { place, sizeBytes }: Content,
    form: TextTask['form'],
    outline: Outline = {},
  ): TextHandle {
    const { port1: port, port2 } = new MessageChannel()
    const stop = new AbortController()
    const run = pool.run(
      { port: port2, place, form, outline },
      { transferList: [port2] as never, signal: stop.signal },
    )
    const died = run.then(
      () => new Promise<never>(() => {}),
      (error) => {
        if (stop.signal.aborted || !/queue/i.test(String(error))) throw error
        throw ragProblem('reader_busy', { headers: { 'Retry-After': '10' } })
      },
    )
    died.catch(() => port.close())

    const ask = async <T>(request: TextRequest): Promise<T> => {
      port.postMessage(request)
      const [answer] = await Promise.race([once(port, 'message'), died])
      return answer as T
    }
    return {
      sizeBytes,
      head: () => ask({ ask: 'head' }),
      measure: () => ask({ ask: 'measure' }),
      chunk: (settings) => ask({ ask: 'chunk', settings }),
      read: (from, to) => ask({ ask: 'read', from, to }),
      utf8: (from, to) => ask({ ask: 'utf8', from, to }),
      close() {
        port.close()
        stop.abort()
      },
    }
  }
}

/** The outline of a text on a worker is there already. */
async function chunk(
  { text, outline }: { text: string | TextHandle; outline?: Outline },
  settings: ChunkSettings,
): Promise<ChunkedText> {
  const vectorsOf = async (texts: string[], embedder: Embedder | null, signal: AbortSignal) =>
    embedder === null ? null : (await embedder.embed(texts, 'document', signal)).vectors

  if (typeof text === 'string') {
    const { info, slice } = chunkedText(text, settings, outline)
    return {
      ...info,
      async read(from, to, embedder, signal) {
        const cut = slice(from, to)
        return { ...cut, vectors: await vectorsOf(cut.texts, embedder, signal) }
      },
    }
  }
  return {
    ...(await text.chunk(settings)),
    async read(from, to, embedder, signal) {
      const cut = await text.read(from, to)
      return { ...cut, vectors: await vectorsOf(cut.texts, embedder, signal) }
    },
  }
}

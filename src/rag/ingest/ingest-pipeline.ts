// Turns a text into chunks, with vectors where there is an embedder. A worker thread reads and
// holds a long text, behind a handle. The trap: until it is closed, each handle holds one of two
// threads.
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Embedder } from '#embeddings/embedder.ts'
import type { Content } from '#platform/content.ts'
import { ragProblem } from '../problems.ts'
import { type ChunkedTextInfo, type Cut, createChunkedText } from './chunked-text.ts'
import type { ChunkSettings } from './chunker.ts'
import type { Outline } from './outline.ts'
import type { TextHead, TextMeasure, TextRequest, TextTask } from './text-worker.ts'

/** A text cut into chunks, on this thread or on a worker. */
export type ChunkedText = ChunkedTextInfo & {
  /** Returns the chunks from `from` up to `to`, and their vectors; null without an embedder. */
  read(
    from: number,
    to: number,
    embedder: Embedder | null,
    signal: AbortSignal,
  ): Promise<Cut & { vectors: Float32Array[] | null }>
}

/** A text on a worker thread. Close it in every case. */
export type TextHandle = {
  sizeBytes: number
  head(): Promise<TextHead>
  measure(): Promise<TextMeasure>
  chunk(settings: ChunkSettings): Promise<ChunkedTextInfo>
  read(from: number, to: number): Promise<Cut>
  /** Returns a slice of the text as UTF-8. */
  utf8(from: number, to: number): Promise<Uint8Array>
  close(): void
}

/** Longer bodies and texts are stored in files and read by a worker from the start. */
export const LONG_BYTES = 512 * 1024
const THREADS_MAX = 2
/** Each waiting text holds a file and its client. */
const WAITING_MAX = 8

export function createIngestPipeline() {
  // A separate pool: a long text holds its thread until it is written, and other embedding must not
  // wait for that. It is not the parser's pool either, where a file may hold its thread for a
  // minute and the memory limit is too small for long texts.
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

/** The outline of a text on a worker is already there. */
async function chunk(
  { text, outline }: { text: string | TextHandle; outline?: Outline },
  settings: ChunkSettings,
): Promise<ChunkedText> {
  const embedTexts = async (texts: string[], embedder: Embedder | null, signal: AbortSignal) =>
    embedder === null ? null : (await embedder.embed(texts, 'document', signal)).vectors

  if (typeof text === 'string') {
    const { info, slice } = createChunkedText(text, settings, outline)
    return {
      ...info,
      async read(from, to, embedder, signal) {
        const cut = slice(from, to)
        return { ...cut, vectors: await embedTexts(cut.texts, embedder, signal) }
      },
    }
  }
  return {
    ...(await text.chunk(settings)),
    async read(from, to, embedder, signal) {
      const cut = await text.read(from, to)
      return { ...cut, vectors: await embedTexts(cut.texts, embedder, signal) }
    },
  }
}

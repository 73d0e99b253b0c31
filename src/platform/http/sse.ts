/**
 * Server-sent events with backpressure, a heartbeat, and a signal when the client disconnects.
 * Writing waits for a slow client, so that unsent events do not fill the memory.
 */
import type { FastifyReply } from 'fastify'
import { Problem } from '../problem.ts'
import { platformProblem } from '../problems.ts'

const HEARTBEAT_MS = 15_000
/** The event that ends a complete stream. */
export const DONE = 'data: [DONE]\n\n'

export type EventStream = {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /**
   * `data: <json>`. Waits while the client's buffers are full; resolves at once when it has gone.
   */
  data(value: unknown): Promise<void> | void
  /** `event: <name>` with `data: <json>`. */
  event(name: string, value: unknown): Promise<void> | void
  /** Sends `data: [DONE]` and ends the stream. */
  done(): void
  /**
   * Sends raw text in the event format, for example an error event. After an error, call `end` and
   * not `done`.
   */
  write(text: string): Promise<void> | void
  end(): void
}

/**
 * Takes over the reply and sends its status and headers. Run everything that may fail with an error
 * status before.
 */
export function openStream(reply: FastifyReply): EventStream {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  // Node would send each chunk as three writes (length, text, line end). Building the chunk here
  // needs one write, at half the cost. HTTP/1.0 has no chunks.
  const isFramed = raw.chunkedEncoding
  raw.chunkedEncoding = false

  const gone = new AbortController()
  let waiting: { promise: Promise<void>; resolve: () => void } | null = null
  const wake = () => {
    waiting?.resolve()
    waiting = null
  }
  raw.on('drain', wake)
  raw.once('close', () => {
    clearInterval(heartbeat)
    if (!raw.writableFinished) gone.abort()
    wake()
  })
  raw.on('error', () => gone.abort())
  if (raw.destroyed) gone.abort()

  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) void write(': ping\n\n')
  }, HEARTBEAT_MS)
  heartbeat.unref()

  const write = (text: string): Promise<void> | void => {
    // An empty chunk would end the reply.
    if (text === '' || raw.destroyed || raw.writableEnded) return
    const bytes = Buffer.byteLength(text)
    const frame = isFramed ? `${bytes.toString(16)}\r\n${text}\r\n` : text
    // Equal numbers of bytes and characters mean ASCII, which needs no encoding.
    if (raw.write(frame, bytes === text.length ? 'latin1' : 'utf8')) return
    waiting ??= Promise.withResolvers<void>()
    return waiting.promise
  }
  const end = () => {
    clearInterval(heartbeat)
    if (raw.writableEnded) return
    if (isFramed) raw.end('0\r\n\r\n', 'latin1')
    else raw.end()
  }

  return {
    signal: gone.signal,
    data: (value) => write(`data: ${JSON.stringify(value)}\n\n`),
    event: (name, value) => write(`event: ${name}\ndata: ${JSON.stringify(value)}\n\n`),
    write,
    done() {
      void write(DONE)
      end()
    },
    end,
  }
}

/** The error that a broken stream may show its reader. */
export function streamProblem(error: unknown, requestId: string): Problem {
  return error instanceof Problem ? error : platformProblem('internal_error', { requestId })
}

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'

const PAUSE_MS = 6
const PIECES_AT_ONCE = 3

/** Takes over the reply and sends the output of `write` until the reader disconnects. */
export async function streamEvents(
  reply: FastifyReply,
  write: (say: (text: string) => void, signal: AbortSignal) => Promise<void>,
  contentType = 'text/event-stream; charset=utf-8',
): Promise<FastifyReply> {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    'content-type': contentType,
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  try {
    await write((text) => raw.write(text), gone.signal)
    raw.end()
  } catch (error) {
    // The reader has disconnected, so nobody can receive an error.
    if (!gone.signal.aborted) throw error
  }
  return reply
}

/** Yields the tokens in groups, at the pace of a model. */
export async function* paced(pieces: string[], signal: AbortSignal): AsyncGenerator<string> {
  for (let index = 0; index < pieces.length; index += PIECES_AT_ONCE) {
    await pause(PAUSE_MS, undefined, { signal })
    yield pieces.slice(index, index + PIECES_AT_ONCE).join('')
  }
}

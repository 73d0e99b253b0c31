// Decompresses the body of a vendor's answer on arrival, for servers that compress unasked. The
// socket is paused while the reader or the decompression is full.
import type { Transform } from 'node:stream'
import { createDecoder } from './decompress.ts'

export type PackedBody = {
  write(chunk: Buffer): void
  /** Delivers pending data before `onEnd`. */
  end(): void
  pause(): void
  resume(): void
  destroy(): void
}

export type BodyEvents = {
  onData(chunk: Buffer): void
  onEnd(): void
  /** A message for the operator. */
  onUnreadable(words: string, cause?: unknown): void
}

export function createPackedBody(
  encoding: string,
  socket: { pause(): void; resume(): void },
  events: BodyEvents,
): PackedBody {
  let decoder: Transform | null = null
  let isFull = false
  let isPaused = false

  const openDecoder = (first: Buffer): Transform | null => {
    const opened = createDecoder(encoding, first)
    if (opened === undefined) {
      events.onUnreadable(`answered in an encoding that is not known: ${encoding.slice(0, 40)}`)
      return null
    }
    opened.on('data', events.onData)
    opened.on('drain', () => {
      isFull = false
      if (!isPaused) socket.resume()
    })
    opened.on('end', events.onEnd)
    opened.on('error', (cause) =>
      events.onUnreadable('sent an answer that cannot be decompressed', cause),
    )
    if (isPaused) opened.pause()
    return opened
  }

  return {
    write(chunk) {
      decoder ??= openDecoder(chunk)
      if (decoder === null || decoder.write(chunk)) return
      isFull = true
      socket.pause()
    },
    end() {
      if (decoder === null) events.onEnd()
      else decoder.end()
    },
    pause() {
      isPaused = true
      socket.pause()
      decoder?.pause()
    },
    resume() {
      isPaused = false
      decoder?.resume()
      if (!isFull) socket.resume()
    },
    destroy: () => decoder?.destroy(),
  }
}

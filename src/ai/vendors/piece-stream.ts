// Guards the hand-over of a vendor's pieces to whoever writes them out, at the reader's pace.
// One thing to know: pieces are handed over in batches, one per network read, so that a token costs no promise of its own;
// when the reader lags, the vendor's socket is paused, so a slow client slows the vendor and fills no memory.
import type { EventReader, Piece, Usage } from './vendor.ts'

export type PieceStream = AsyncIterable<Piece[]> & {
  readonly usage: Usage | null
  readonly model: string | null
  /** Called once when the stream is over: null when whole, else why not. The reader's last `next` waits for it. */
  onClose(listener: (failure: unknown) => Promise<void>): void
}

/** The vendor's side of it. */
export type PieceSource = PieceStream & {
  read(data: string): void
  /** Hands over what was read; true when there has been a first piece. */
  flush(): boolean
  end(): void
  fail(error: unknown): void
}

type Upstream = { pause(): void; resume(): void; cancel(): void }

/** How much may wait for a slow reader before the vendor's socket is paused. */
const WAITING_PIECES_MAX = 512

const DONE: IteratorResult<Piece[]> = { value: undefined, done: true }

export function pieceStream(reader: EventReader, upstream: Upstream): PieceSource {
  let waiting: Piece[] = []
  let asked: { resolve(result: IteratorResult<Piece[]>): void; reject(error: unknown): void } | null = null
  let hasFirst = false
  let isPaused = false
  let state: 'open' | 'ended' | 'failed' = 'open'
  let failure: unknown = null
  let listener: ((failure: unknown) => Promise<void>) | null = null
  let closed: Promise<void> | null = null

  const close = (next: 'ended' | 'failed', error: unknown) => {
    if (state !== 'open') return
    state = next
    failure = error
    if (listener) closed = listener(error)
    const ask = asked
    if (ask === null) return
    asked = null
    handOver().then(ask.resolve, ask.reject)
  }

  /** What a reader gets: what waits, then the end, which it learns only when the books are closed. */
  const handOver = async (): Promise<IteratorResult<Piece[]>> => {
    if (waiting.length > 0) {
      const value = waiting
      waiting = []
      return { value, done: false }
    }
    await closed
    if (state === 'failed') throw failure
    return DONE
  }

  return {
    get usage() {
      return reader.usage
    },
    get model() {
      return reader.model
    },
    read(data) {
      reader.read(data, waiting)
    },
    flush() {
      // OpenAI's first event names a role and says nothing: a vendor that fails after it has not begun to answer.
      hasFirst ||= waiting.some((piece) => piece.text !== '' || piece.tools !== null || piece.finish !== null)
      if (waiting.length === 0 || !hasFirst) return false
      if (asked !== null) {
        const value = waiting
        waiting = []
        const { resolve } = asked
        asked = null
        resolve({ value, done: false })
      } else if (!isPaused && waiting.length > WAITING_PIECES_MAX) {
        isPaused = true
        upstream.pause()
      }
      return true
    },
    end: () => close('ended', null),
    fail: (error) => close('failed', error),
    onClose(wanted) {
      listener = wanted
      if (state !== 'open') closed = wanted(failure)
    },
    [Symbol.asyncIterator]() {
      return {
        next() {
          if (waiting.length > 0) {
            const value = waiting
            waiting = []
            if (isPaused) {
              isPaused = false
              upstream.resume()
            }
            return Promise.resolve({ value, done: false })
          }
          if (state !== 'open') return handOver()
          return new Promise((resolve, reject) => {
            asked = { resolve, reject }
          })
        },
        async return() {
          if (state === 'open') upstream.cancel()
          await closed
          return DONE
        },
      }
    },
  }
}

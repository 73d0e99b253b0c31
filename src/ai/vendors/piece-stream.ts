// Guards the hand-over of a vendor's pieces to whoever writes them out, at the reader's pace.
// One thing to know: pieces are handed over in batches, one per network read, so that a token costs no promise of its own;
// when the reader lags, the vendor's socket is paused, so a slow client slows the vendor and fills no memory.
import type { EventReader, Piece, Usage } from './vendor.ts'

export type PieceStream = AsyncIterable<Piece[]> & {
  readonly usage: Usage | null
  readonly model: string | null
  /** Called once when the stream is over: null when whole, else why not. The reader's last `next` waits for it. */
  onClose(listener: (failure: unknown) => Promise<void>): void
  /**
   * Gives every batch to `take` when it comes, in place of the iterator and without its promises. Where `take` returns
   * one, nothing is given until it resolves. Resolves and rejects as the iterator ends.
   */
  each(take: (batch: Piece[]) => Promise<void> | void): Promise<void>
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
  let taker: { give(): void; end(): void } | null = null

  const close = (next: 'ended' | 'failed', error: unknown) => {
    if (state !== 'open') return
    state = next
    failure = error
    if (listener) closed = listener(error)
    taker?.end()
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

  const takeWaiting = (): Piece[] => {
    const batch = waiting
    waiting = []
    if (isPaused) {
      isPaused = false
      upstream.resume()
    }
    return batch
  }

  const each = (take: (batch: Piece[]) => Promise<void> | void): Promise<void> =>
    new Promise((resolve, reject) => {
      let isBusy = false
      const end = () => {
        if (!isBusy && waiting.length === 0) handOver().then(() => resolve(), reject)
      }
      const giveUp = (error: unknown) => {
        taker = null
        if (state === 'open') upstream.cancel()
        reject(error)
      }
      const give = () => {
        while (!isBusy && waiting.length > 0) {
          // Also while `take` runs: resuming the socket may bring the next pieces at once.
          isBusy = true
          let full: Promise<void> | void
          try {
            full = take(takeWaiting())
          } catch (error) {
            giveUp(error)
            return
          }
          if (full) {
            full.then(() => {
              isBusy = false
              give()
            }, giveUp)
            return
          }
          isBusy = false
        }
        if (state !== 'open') end()
      }
      taker = { give, end }
      give()
    })

  return {
    each,
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
      taker?.give()
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
          if (waiting.length > 0) return Promise.resolve({ value: takeWaiting(), done: false })
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

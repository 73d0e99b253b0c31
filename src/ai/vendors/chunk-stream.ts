// Passes a vendor's chunks to the writer with backpressure: a slow client pauses the vendor's
// socket and fills no memory. Chunks come in batches, one per network read, so that a token costs
// no promise.
import { type AnswerChunk, countCharacters } from './chunk.ts'
import type { EventReader, Usage } from './vendor.ts'

export type ChunkStream = {
  readonly usage: Usage | null
  readonly model: string | null
  /** Characters received from the vendor, whether read or not. */
  readonly characters: number
  /**
   * Called once at the end of the stream: with null if it is complete, otherwise with the failure.
   * The end of `each` awaits the listener.
   */
  onClose(listener: (failure: unknown) => Promise<void>): void
  /**
   * Passes every batch to `take` on arrival; an iterator would cost three promises per batch.
   * Awaits the promise that `take` returns before the next batch.
   * Resolves when the stream is complete; rejects when it was cut or `take` threw.
   */
  each(take: (batch: AnswerChunk[]) => Promise<void> | void): Promise<void>
}

/** The vendor's side of the stream. */
export type ChunkSource = ChunkStream & {
  read(data: string): void
  /** See `splitEvents`. */
  pass(text: string, from: number): number
  /** Hands the pending chunks to the reader. Returns true once a first chunk has arrived. */
  flush(): boolean
  end(): void
  fail(error: unknown): void
}

type Upstream = { pause(): void; resume(): void; cancel(reason: unknown): void }

/**
 * Beyond these limits, a slow reader pauses the vendor's socket; events that pass through are
 * measured by their characters.
 */
const WAITING_CHUNKS_MAX = 512
const WAITING_CHARACTERS_MAX = 128 * 1024

export function createChunkStream(reader: EventReader, upstream: Upstream): ChunkSource {
  let waiting: AnswerChunk[] = []
  let characters = 0
  let waitingCharacters = 0
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
  }

  /** Settles `each` only after the record was committed. */
  const finish = async (): Promise<void> => {
    await closed
    if (state === 'failed') throw failure
  }

  const takeWaiting = (): AnswerChunk[] => {
    const batch = waiting
    waiting = []
    waitingCharacters = 0
    if (isPaused) {
      isPaused = false
      upstream.resume()
    }
    return batch
  }

  const each = (take: (batch: AnswerChunk[]) => Promise<void> | void): Promise<void> =>
    new Promise((resolve, reject) => {
      let isBusy = false
      const end = () => {
        if (!isBusy && waiting.length === 0) finish().then(resolve, reject)
      }
      const giveUp = (error: unknown) => {
        taker = null
        if (state === 'open') upstream.cancel(error)
        reject(error)
      }
      const give = () => {
        while (!isBusy && waiting.length > 0) {
          // Also while `take` runs, because resuming the socket may deliver the next chunks at
          // once.
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
    get characters() {
      return characters
    },
    read(data) {
      const before = waiting.length
      try {
        reader.read(data, waiting)
      } finally {
        for (let at = before; at < waiting.length; at++)
          characters += countCharacters(waiting[at] as AnswerChunk)
      }
    },
    pass(text, from) {
      if (reader.pass === undefined || reader.isOver) return from
      const before = waiting.length
      const end = reader.pass(text, from, waiting)
      if (waiting.length > before) characters += countCharacters(waiting[before] as AnswerChunk)
      waitingCharacters += end - from
      return end
    },
    flush() {
      // OpenAI's first event contains only a role: a vendor that fails after it has not begun to
      // answer.
      hasFirst ||= waiting.some(
        (chunk) =>
          chunk.text !== '' ||
          chunk.reasoning !== '' ||
          chunk.tools !== null ||
          chunk.finish !== null,
      )
      if (waiting.length === 0 || !hasFirst) return false
      taker?.give()
      if (
        !isPaused &&
        (waiting.length > WAITING_CHUNKS_MAX || waitingCharacters > WAITING_CHARACTERS_MAX)
      ) {
        isPaused = true
        upstream.pause()
      }
      return true
    },
    end: () => close('ended', null),
    fail: (error) => close('failed', error),
    onClose(onEnd) {
      listener = onEnd
      if (state !== 'open') closed = onEnd(failure)
    },
  }
}

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
  /** Called once at the end, with the failure if the stream was cut. `each` awaits the listener. */
  onClose(listener: (failure: unknown) => Promise<void>): void
  /**
   * Passes every batch to `take` on arrival; an iterator would cost three promises per batch.
   * Awaits the promise that `take` returns before the next batch.
   * Resolves when the stream is complete; rejects when it was cut or `take` threw.
   */
  each(take: (batch: AnswerChunk[]) => Promise<void> | void): Promise<void>
}

type Upstream = { pause(): void; resume(): void; cancel(reason: unknown): void }

/** Beyond these, a slow reader pauses the vendor's socket; passed events count characters. */
const WAITING_CHUNKS_MAX = 512
const WAITING_CHARACTERS_MAX = 128 * 1024

/** The vendor's side of the stream. */
export class ChunkSource implements ChunkStream {
  readonly #reader: EventReader
  readonly #upstream: Upstream
  #waiting: AnswerChunk[] = []
  #characters = 0
  #waitingCharacters = 0
  #hasFirst = false
  #isPaused = false
  #state: 'open' | 'ended' | 'failed' = 'open'
  #failure: unknown = null
  #listener: ((failure: unknown) => Promise<void>) | null = null
  #closed: Promise<void> | null = null
  #taker: { give(): void; end(): void } | null = null

  constructor(reader: EventReader, upstream: Upstream) {
    this.#reader = reader
    this.#upstream = upstream
  }

  get usage(): Usage | null {
    return this.#reader.usage
  }

  get model(): string | null {
    return this.#reader.model
  }

  get characters(): number {
    return this.#characters
  }

  read(data: string): void {
    const before = this.#waiting.length
    try {
      this.#reader.read(data, this.#waiting)
    } finally {
      for (let at = before; at < this.#waiting.length; at++)
        this.#characters += countCharacters(this.#waiting[at] as AnswerChunk)
    }
  }

  /** See `splitEvents`. */
  pass(text: string, from: number): number {
    const reader = this.#reader
    if (reader.pass === undefined || reader.isOver) return from
    const before = this.#waiting.length
    const end = reader.pass(text, from, this.#waiting)
    if (this.#waiting.length > before)
      this.#characters += countCharacters(this.#waiting[before] as AnswerChunk)
    this.#waitingCharacters += end - from
    return end
  }

  /** Hands the pending chunks to the reader. Returns true once a first chunk has arrived. */
  flush(): boolean {
    // OpenAI's first event has only a role: a vendor that fails after it has not begun to answer.
    this.#hasFirst ||= this.#waiting.some(
      (chunk) =>
        chunk.text !== '' ||
        chunk.reasoning !== '' ||
        chunk.tools !== null ||
        chunk.finish !== null,
    )
    if (this.#waiting.length === 0 || !this.#hasFirst) return false
    this.#taker?.give()
    if (
      !this.#isPaused &&
      (this.#waiting.length > WAITING_CHUNKS_MAX ||
        this.#waitingCharacters > WAITING_CHARACTERS_MAX)
    ) {
      this.#isPaused = true
      this.#upstream.pause()
    }
    return true
  }

  end(): void {
    this.#close('ended', null)
  }

  fail(error: unknown): void {
    this.#close('failed', error)
  }

  onClose(listener: (failure: unknown) => Promise<void>): void {
    this.#listener = listener
    if (this.#state !== 'open') this.#closed = listener(this.#failure)
  }

  each(take: (batch: AnswerChunk[]) => Promise<void> | void): Promise<void> {
    return new Promise((resolve, reject) => {
      let isBusy = false
      const end = () => {
        if (!isBusy && this.#waiting.length === 0) this.#finish().then(resolve, reject)
      }
      const giveUp = (error: unknown) => {
        this.#taker = null
        if (this.#state === 'open') this.#upstream.cancel(error)
        reject(error)
      }
      const give = () => {
        while (!isBusy && this.#waiting.length > 0) {
          // Also while `take` runs: resuming the socket may deliver the next chunks at once.
          isBusy = true
          let full: Promise<void> | void
          try {
            full = take(this.#takeWaiting())
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
        if (this.#state !== 'open') end()
      }
      this.#taker = { give, end }
      give()
    })
  }

  #close(next: 'ended' | 'failed', error: unknown): void {
    if (this.#state !== 'open') return
    this.#state = next
    this.#failure = error
    if (this.#listener) this.#closed = this.#listener(error)
    this.#taker?.end()
  }

  /** Settles `each` only after the record was committed. */
  async #finish(): Promise<void> {
    await this.#closed
    if (this.#state === 'failed') throw this.#failure
  }

  #takeWaiting(): AnswerChunk[] {
    const batch = this.#waiting
    this.#waiting = []
    this.#waitingCharacters = 0
    if (this.#isPaused) {
      this.#isPaused = false
      this.#upstream.resume()
    }
    return batch
  }
}

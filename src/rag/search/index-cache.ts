// The indexes of users in memory, each refreshed before its use, with a limit of their size in all.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'

export type Cached = {
  /** Estimated size. */
  bytes: number
  /** Resolves one turn of the event loop after the last use. */
  ready: Promise<unknown>
}

/** A user above half of `bytesMax` counts as half, so that the other users keep their half. */
export abstract class IndexCache<Index extends Cached> {
  readonly #bytesMax: number
  /** The least recently used first. */
  readonly #indexes = new Map<string, Index>()
  readonly #changing = new Set<Index>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  protected abstract create(): Index
  /** Reads the changes since the last refresh. */
  protected abstract refresh(userId: string, index: Index): Promise<void>
  /** Empties the index. */
  protected abstract reset(index: Index): void

  /** Runs `work` on the user's current index, which the next use may change. */
  use<T>(userId: string, work: (index: Index) => T): Promise<T> {
    const index = this.#indexes.get(userId) ?? this.create()
    this.#indexes.delete(userId)
    this.#indexes.set(userId, index)
    // Sequential: two refreshes at once would index the same text twice.
    const done = index.ready.then(async () => {
      await this.#refreshOrReset(userId, index)
      return work(index)
    })
    // One ranking per user and turn of the event loop, so that other users' requests are served.
    index.ready = done.catch(() => undefined).then(() => yieldToEventLoop())
    return done
  }

  forget(userId: string): void {
    this.#indexes.delete(userId)
  }

  /** Returns the users whose index is in memory. */
  users(): string[] {
    return [...this.#indexes.keys()]
  }

  /** Returns the estimated size of all indexes. */
  bytes(): number {
    return this.#indexes.values().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async #refreshOrReset(userId: string, index: Index): Promise<void> {
    this.#changing.add(index)
    try {
      await this.refresh(userId, index)
    } catch (error) {
      // A text may be indexed in part.
      if (this.#indexes.get(userId) === index) this.#indexes.delete(userId)
      this.reset(index)
      throw error
    } finally {
      this.#changing.delete(index)
    }
    this.makeRoom(userId)
  }

  /** Drops the least recently used indexes of other users. */
  protected makeRoom(userId: string): void {
    const countBytes = ({ bytes }: Index) => Math.min(bytes, this.#bytesMax / 2)
    let total = this.#indexes.values().reduce((sum, index) => sum + countBytes(index), 0)
    for (const [id, index] of this.#indexes) {
      if (total <= this.#bytesMax) return
      // Dropping an index that is being read frees nothing, and the next search would reread it.
      if (id === userId || this.#changing.has(index)) continue
      this.#indexes.delete(id)
      total -= countBytes(index)
    }
  }
}

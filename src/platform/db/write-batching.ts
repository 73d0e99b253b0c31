// Group commit: writes that arrive at the same time share one transaction. It trades a little
// latency for fewer commits, without a timer. SQLite's commit blocks the process, so calls that
// arrive meanwhile join the next batch. A batch stays open while each turn of the event loop adds
// more (measured: a tenth less CPU per call with 64 calls in flight). A pause between commits was
// measured too, and halved the requests per second.

export type WriteBatcher<T, R> = {
  /** Resolves when the transaction with this item has committed. */
  add(item: T): Promise<R>
  /** Resolves when no item waits for its commit. */
  idle(): Promise<void>
}

type Waiting<T, R> = { item: T; resolve(result: R): void; reject(error: unknown): void }

const BATCH_MAX = 256
/** Limits the delay of a batch's first item to some milliseconds. */
const TURNS_MAX = 8

/**
 * Creates a batcher. `write` receives the items in order and returns one result for each; if it
 * throws, all items fail.
 */
export function batchWrites<T, R>(write: (items: T[]) => Promise<R[]>): WriteBatcher<T, R> {
  const waiting: Waiting<T, R>[] = []
  let running: Promise<void> | null = null

  const run = async () => {
    while (waiting.length > 0) {
      for (let turns = 0, before = 0; before < waiting.length && turns < TURNS_MAX; turns++) {
        before = waiting.length
        await new Promise((resolve) => setImmediate(resolve))
      }
      const batch = waiting.splice(0, BATCH_MAX)
      try {
        const results = await write(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => {
          resolve(results[index] as R)
        })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = null
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        running ??= run()
      })
    },
    async idle() {
      while (running) await running
    },
  }
}

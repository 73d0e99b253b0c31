// Guards the cost of writing: what many calls want written at one moment goes into one transaction.
// One thing to know: a commit that served many is followed by a rest of up to four times its own length, so that under
// load commits take a fifth of the time, be the disk quick (0.2 ms) or slow (5 ms). Who comes alone waits for no rest.

export type Turns<T, R> = {
  /** Resolves when the transaction with this item has committed. */
  add(item: T): Promise<R>
  /** Resolves when nothing waits. */
  idle(): Promise<void>
}

type Waiting<T, R> = { item: T; resolve(result: R): void; reject(error: unknown): void }

const TURN_MAX = 256
const REST_PER_WORK_MAX = 4
const REST_MS_MAX = 50

/** `write` gets the items in their order and returns one result for each; a throw fails them all. */
export function inTurns<T, R>(write: (items: T[]) => Promise<R[]>): Turns<T, R> {
  const waiting: Waiting<T, R>[] = []
  let running: Promise<void> | null = null
  let restUntilMs = 0

  const run = async () => {
    while (waiting.length > 0) {
      const restMs = restUntilMs - performance.now()
      await new Promise((resolve) => (restMs > 0 ? setTimeout(resolve, restMs) : setImmediate(resolve)))
      const turn = waiting.splice(0, TURN_MAX)
      const startedMs = performance.now()
      try {
        const results = await write(turn.map(({ item }) => item))
        turn.forEach(({ resolve }, index) => {
          resolve(results[index] as R)
        })
      } catch (error) {
        for (const { reject } of turn) reject(error)
      }
      const endedMs = performance.now()
      restUntilMs =
        endedMs + Math.min(REST_MS_MAX, (endedMs - startedMs) * Math.min(REST_PER_WORK_MAX, turn.length - 1))
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

// Guards the number of calls that run at once: a bound for all, and a queue in which every user has one place in turn.
// One thing to know: a user who sends a thousand calls waits behind himself, not in front of the others.
import { aiProblem } from './problems.ts'

export type Turnstile = {
  /** Resolves with the way out, to be called once. @throws Problem 503 when the queue is full, or the signal's reason */
  enter(userId: string, signal: AbortSignal): (() => void) | Promise<() => void>
  readonly running: number
  readonly waiting: number
}

type Place = { admit(): void }

export function createTurnstile({ runningMax, waitingMax }: { runningMax: number; waitingMax: number }): Turnstile {
  /** Users in the order of their next turn; each with his calls in their order. */
  const queues = new Map<string, Place[]>()
  let running = 0
  let waiting = 0

  const leave = () => {
    let left = false
    return () => {
      if (left) return
      left = true
      running--
      admitNext()
    }
  }

  const admitNext = () => {
    for (const [userId, places] of queues) {
      queues.delete(userId)
      const place = places.shift()
      // Back to the end of the line: the others go first.
      if (places.length > 0) queues.set(userId, places)
      if (place === undefined) continue
      place.admit()
      return
    }
  }

  return {
    get running() {
      return running
    },
    get waiting() {
      return waiting
    },
    enter(userId, signal) {
      if (signal.aborted) throw signal.reason
      if (running < runningMax) {
        running++
        return leave()
      }
      if (waiting >= waitingMax) {
        throw aiProblem('gateway_full', { headers: { 'Retry-After': '1' } })
      }
      return new Promise((resolve, reject) => {
        const places = queues.get(userId) ?? []
        const place: Place = {
          admit() {
            signal.removeEventListener('abort', onAbort)
            waiting--
            running++
            resolve(leave())
          },
        }
        const onAbort = () => {
          places.splice(places.indexOf(place), 1)
          if (places.length === 0) queues.delete(userId)
          waiting--
          reject(signal.reason)
        }
        places.push(place)
        queues.set(userId, places)
        waiting++
        signal.addEventListener('abort', onAbort, { once: true })
      })
    },
  }
}

// Bounds the running calls and serves waiting users round robin: a user who sends a thousand calls
// delays only their own. The price is one queue per user.
import { aiProblem } from './problems.ts'

export type ConcurrencyLimiter = {
  /** Resolves with the release function. @throws Problem 503 when the queue is full */
  acquire(userId: string, signal: AbortSignal): (() => void) | Promise<() => void>
  readonly running: number
  readonly waiting: number
}

type Limits = { runningMax: number; waitingMax: number }

type Waiter = { start(): void }

export function createConcurrencyLimiter({ runningMax, waitingMax }: Limits): ConcurrencyLimiter {
  /** Users in the order of service, each with their waiting calls in order. */
  const queues = new Map<string, Waiter[]>()
  let running = 0
  let waiting = 0

  const wait = (userId: string, signal: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      const queue = queues.get(userId) ?? []
      const waiter: Waiter = {
        start() {
          signal.removeEventListener('abort', onAbort)
          waiting--
          running++
          resolve(releaseOnce())
        },
      }
      const onAbort = () => {
        queue.splice(queue.indexOf(waiter), 1)
        if (queue.length === 0) queues.delete(userId)
        waiting--
        reject(signal.reason)
      }
      queue.push(waiter)
      queues.set(userId, queue)
      waiting++
      signal.addEventListener('abort', onAbort, { once: true })
    })

  const releaseOnce = () => {
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      running--
      startNext()
    }
  }

  const startNext = () => {
    for (const [userId, queue] of queues) {
      queues.delete(userId)
      const waiter = queue.shift()
      // The user rejoins at the end, so that others are served first.
      if (queue.length > 0) queues.set(userId, queue)
      if (waiter === undefined) continue
      waiter.start()
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
    acquire(userId, signal) {
      if (signal.aborted) throw signal.reason
      if (running < runningMax) {
        running++
        return releaseOnce()
      }
      if (waiting >= waitingMax)
        throw aiProblem('gateway_full', { headers: { 'Retry-After': '1' } })
      return wait(userId, signal)
    },
  }
}

// Guards the patience of a call: whom to ask again, after how long, and when to ask another.
// One thing to know: all of it happens before the first byte; what has begun to answer is never begun anew.
import type { Breaker } from './breaker.ts'
import type { Candidate } from './plan.ts'
import { CONTEXT_EXCEEDED, VendorError, type VendorName } from './vendors/vendor.ts'

export type Attempt<T> = { candidate: Candidate; result: T }

/** What was tried, for the response's headers and the ledger; filled while trying. */
export type Trail = { attempts: number; tried: string[]; vendor: VendorName | null; model: string | null }

export const newTrail = (): Trail => ({ attempts: 0, tried: [], vendor: null, model: null })

const ATTEMPTS_PER_CANDIDATE = 3
const BACKOFF_MS = 200
/** A vendor that asks for more patience than this gets none: the next is asked, or the caller told when to come back. */
const RETRY_AFTER_MS_MAX = 3_000

export async function attempt<T>(
  deps: { breakers: Record<VendorName, Breaker>; nowMs(): number },
  plan: Candidate[],
  signal: AbortSignal,
  trail: Trail,
  ask: (candidate: Candidate) => Promise<T>,
): Promise<Attempt<T>> {
  let failure: unknown = null
  const isOpen = (vendor: VendorName) => !deps.breakers[vendor].allows()
  let asked = 0

  for (const [position, candidate] of plan.entries()) {
    const breaker = deps.breakers[candidate.vendor]
    const isLast = position === plan.length - 1
    const isTiredOf = isOpen(candidate.vendor)
    if (isTiredOf && !(isLast && asked === 0)) {
      trail.tried.push(`${candidate.vendor}:resting`)
      continue
    }
    asked++
    const attemptsMax = isTiredOf ? 1 : ATTEMPTS_PER_CANDIDATE

    for (let number = 1; number <= attemptsMax; number++) {
      trail.attempts++
      trail.vendor = candidate.vendor
      trail.model = candidate.model
      try {
        const result = await ask(candidate)
        breaker.succeeded()
        trail.tried.push(`${candidate.vendor}:ok`)
        return { candidate, result }
      } catch (error) {
        if (signal.aborted || !(error instanceof VendorError)) {
          breaker.abandoned()
          throw signal.aborted ? signal.reason : error
        }
        trail.tried.push(`${candidate.vendor}:${error.failure}`)
        // The vendor is well; the request or its model's name is not. Nobody's typing errors open a breaker for all.
        const isWell = !error.isMovable || error.failure === 'unknown-model'
        if (isWell) breaker.succeeded()
        if (!error.isMovable) {
          if (failure === null) throw error
          // A fallback that cannot take this request says nothing about it: the failure before stands. But a caller who
          // hears that the prompt is too long can shorten it, and be answered.
          if (error.code === CONTEXT_EXCEEDED) failure = error
          break
        }
        failure = error
        if (isWell) break
        const delayMs = number === attemptsMax ? null : delayBefore(error, number, isLast)
        if (delayMs === null) {
          breaker.failed()
          if (error.retryAfterMs !== null) breaker.restUntil(deps.nowMs() + error.retryAfterMs)
          break
        }
        try {
          await pause(delayMs, signal)
        } catch (reason) {
          breaker.abandoned()
          throw reason
        }
      }
    }
  }
  throw failure
}

/** Null: do not ask this one again. */
function delayBefore(error: VendorError, attemptNumber: number, isLast: boolean): number | null {
  // Who let us wait for the whole first-byte time will do so again.
  if (!error.isRetryable || error.failure === 'timeout') return null
  if (error.retryAfterMs === null) {
    // Full jitter over the upper half, so that a crowd does not come back as one.
    return BACKOFF_MS * 2 ** (attemptNumber - 1) * (0.5 + Math.random() / 2)
  }
  const patienceMs = isLast ? RETRY_AFTER_MS_MAX : RETRY_AFTER_MS_MAX / 3
  return error.retryAfterMs <= patienceMs ? error.retryAfterMs * (1 + Math.random() / 10) : null
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

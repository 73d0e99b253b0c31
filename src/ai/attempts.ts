// Retries and failover of one call: whom to ask again, after how long, and when to ask another.
// One thing to know: all of it happens before the first byte; what has begun to answer is never begun anew.
import { ofVendor } from '#models/catalogue.ts'
import type { Breaker, Rests } from './breaker.ts'
import type { Candidate } from './routing.ts'
import { CONTEXT_EXCEEDED, VendorError } from './vendors/vendor.ts'

export type Attempt<T> = { candidate: Candidate; result: T }

/** What was tried, for the response's headers and the ledger; filled while trying. */
export type Trail = {
  attempts: number
  tried: string[]
  vendor: string | null
  model: string | null
  /** Who took the request and never answered: each has read the prompt, and bills it. */
  unanswered: (Candidate & { promptTokens: number })[]
  /** The prompt's, as they are guessed before anybody has counted them. */
  promptTokens: number
}

export function newTrail(promptTokens = 0): Trail {
  return { attempts: 0, tried: [], vendor: null, model: null, unanswered: [], promptTokens }
}

export type VendorHealth = { breakers: Readonly<Record<string, Breaker>>; rests: Rests; nowMs(): number }

const ATTEMPTS_PER_CANDIDATE = 3
const BACKOFF_MS = 200
/** A vendor that asks for more patience than this gets none: the next is asked, or the caller told when to come back. */
const RETRY_AFTER_MS_MAX = 3_000
/** Connections that broke while they were kept open; after a vendor's deployment all of a pool's may have. */
const STALE_MAX = 3

export async function attempt<T>(
  health: VendorHealth,
  plan: Candidate[],
  signal: AbortSignal,
  trail: Trail,
  ask: (candidate: Candidate) => Promise<T>,
): Promise<Attempt<T>> {
  const { rests } = health
  let failure: unknown = null
  let asked = 0
  let stale = 0

  for (const [position, candidate] of plan.entries()) {
    const breaker = ofVendor(health.breakers, candidate.vendor)
    const isLast = position === plan.length - 1
    const isTired = isTiredOf(health, candidate)
    if (isTired && !(isLast && asked === 0)) {
      trail.tried.push(`${candidate.vendor}:resting`)
      continue
    }
    asked++
    const attemptsMax = isTired ? 1 : ATTEMPTS_PER_CANDIDATE
    const abandoned = () => {
      breaker.abandoned()
      rests.abandoned(candidate)
    }

    for (let number = 1; number <= attemptsMax; number++) {
      trail.attempts++
      trail.vendor = candidate.vendor
      trail.model = candidate.model
      try {
        const result = await ask(candidate)
        breaker.succeeded()
        rests.answered(candidate)
        trail.tried.push(`${candidate.vendor}:ok`)
        return { candidate, result }
      } catch (error) {
        if (signal.aborted || !(error instanceof VendorError)) {
          abandoned()
          throw signal.aborted ? signal.reason : error
        }
        error.vendor = candidate.vendor
        trail.tried.push(`${candidate.vendor}:${error.failure}`)
        if (error.isUnanswered) trail.unanswered.push({ ...candidate, promptTokens: trail.promptTokens })
        // The vendor is well; the request or its model's name is not. Nobody's typing errors open a breaker for all.
        const isWell = !error.isMovable || error.failure === 'unknown-model'
        if (error.isUnasked) {
          trail.attempts--
          abandoned()
        } else if (isWell) {
          breaker.succeeded()
          rests.answered(candidate)
        }
        if (!error.isMovable) {
          if (failure === null) throw error
          // A fallback that cannot take this request says nothing about it: the failure before stands. But a caller who
          // hears that the prompt is too long can shorten it, and be answered.
          if (error.code === CONTEXT_EXCEEDED) failure = error
          break
        }
        failure = error
        if (isWell) break
        if (error.isStale && stale < STALE_MAX) {
          // Another connection is well: neither a pause nor one of the attempts is due for this.
          stale++
          number--
          continue
        }
        const delayMs = number === attemptsMax ? null : delayBefore(error, number, isLast)
        if (delayMs === null) {
          gaveUpOn(health, candidate, error)
          break
        }
        try {
          await pause(delayMs, signal)
        } catch (reason) {
          abandoned()
          throw reason
        }
      }
    }
  }
  throw failure
}

/** Asked in this order: a breaker that lets one call try must not have its try taken for nothing. */
function isTiredOf({ breakers, rests }: VendorHealth, candidate: Candidate): boolean {
  if (!rests.allows(candidate)) return true
  if (ofVendor(breakers, candidate.vendor).allows()) return false
  rests.abandoned(candidate)
  return true
}

/** A limit (429) is the model's alone, and who sets one is well. All else is the vendor's, but for the rest it asks for. */
function gaveUpOn({ breakers, rests, nowMs }: VendorHealth, candidate: Candidate, error: VendorError): void {
  if (error.status === 429 && error.failure === 'limited') {
    ofVendor(breakers, candidate.vendor).succeeded()
    rests.limited(candidate)
  } else {
    ofVendor(breakers, candidate.vendor).failed()
    rests.abandoned(candidate)
  }
  if (error.retryAfterMs !== null) rests.restUntil(candidate, nowMs() + error.retryAfterMs)
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

// Retries and failover of one call: which route to ask again, after how long, and when to ask the next.
// All of it happens before the first byte: what has begun to answer is never begun anew.
import { ofVendor, type Route } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import { type AttemptLog, PASSED_OVER } from './attempt-log.ts'
import type { Breaker, ModelBreakers } from './breaker.ts'
import { CONTEXT_EXCEEDED, VendorError } from './vendors/vendor-error.ts'

export type Attempt<T> = { route: Route; result: T }

/** Breakers by vendor, and by model. */
export type VendorHealth = {
  breakers: Readonly<Record<string, Breaker>>
  modelBreakers: ModelBreakers
  clock: Pick<Clock, 'ms'>
}

const ATTEMPTS_PER_ROUTE = 3
const BACKOFF_MS = 200
/** A vendor that asks for more patience than this gets none: the next is asked, or the caller told when to come back. */
const RETRY_AFTER_MS_MAX = 3_000
/** Connections that broke while they were kept open; after a vendor's deployment all of a pool's may have. */
const STALE_MAX = 3

/** Asks `routes` in their order until one answers. @throws VendorError the failure that says most, or the signal's reason */
export async function attempt<T>(
  health: VendorHealth,
  routes: readonly Route[],
  signal: AbortSignal,
  log: AttemptLog,
  ask: (route: Route) => Promise<T>,
): Promise<Attempt<T>> {
  const { modelBreakers } = health
  let failure: unknown = null
  let asked = 0
  let stale = 0

  for (const [position, route] of routes.entries()) {
    const breaker = ofVendor(health.breakers, route.vendor)
    const isLast = position === routes.length - 1
    const isOpen = isCircuitOpen(health, route)
    if (isOpen && !(isLast && asked === 0)) {
      log.steps.push(`${route.vendor}:${PASSED_OVER}`)
      continue
    }
    asked++
    const attemptsMax = isOpen ? 1 : ATTEMPTS_PER_ROUTE
    const abandoned = () => {
      breaker.abandoned()
      modelBreakers.abandoned(route)
    }

    for (let number = 1; number <= attemptsMax; number++) {
      log.attempts++
      log.vendor = route.vendor
      log.model = route.model
      log.vendorRequestId = null
      try {
        const result = await ask(route)
        breaker.succeeded()
        modelBreakers.answered(route)
        log.steps.push(`${route.vendor}:ok`)
        return { route, result }
      } catch (error) {
        if (signal.aborted || !(error instanceof VendorError)) {
          abandoned()
          throw signal.aborted ? signal.reason : error
        }
        error.vendor = route.vendor
        log.steps.push(`${route.vendor}:${error.failure}`)
        if (error.isUnanswered) log.unanswered.push({ ...route, promptTokens: log.promptTokens })
        // The vendor is well; the request or its model's name is not. Nobody's typing errors open a breaker for all.
        const isWell = !error.isMovable || error.failure === 'unknown-model'
        if (error.isUnasked) {
          log.attempts--
          abandoned()
        } else if (isWell) {
          breaker.succeeded()
          modelBreakers.answered(route)
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
          gaveUpOn(health, route, error)
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
function isCircuitOpen({ breakers, modelBreakers }: VendorHealth, route: Route): boolean {
  if (!modelBreakers.allows(route)) return true
  if (ofVendor(breakers, route.vendor).allows()) return false
  modelBreakers.abandoned(route)
  return true
}

/** A limit (429) is the model's alone, and who sets one is well. All else is the vendor's, but for a Retry-After. */
function gaveUpOn({ breakers, modelBreakers, clock }: VendorHealth, route: Route, error: VendorError): void {
  if (error.status === 429 && error.failure === 'limited') {
    ofVendor(breakers, route.vendor).succeeded()
    modelBreakers.limited(route)
  } else {
    ofVendor(breakers, route.vendor).failed()
    modelBreakers.abandoned(route)
  }
  if (error.retryAfterMs !== null) modelBreakers.openUntil(route, clock.ms() + error.retryAfterMs)
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

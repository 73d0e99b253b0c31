// Retries and failover of one call: which route to ask again, after how long, and when to ask the next.
// All of it happens before the first byte: what has begun to answer is never begun anew.
import { ofVendor, type Route } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import { type AttemptLog, PASSED_OVER } from './attempt-log.ts'
import type { ModelBreakers } from './breaker.ts'
import { type Affinity, byLot, type EndpointHealth, inOrder, isResting } from './endpoints.ts'
import type { Patience } from './patience.ts'
import type { AnswerLimits } from './vendors/exchange.ts'
import { CONTEXT_EXCEEDED, VendorError } from './vendors/vendor-error.ts'

export type Attempt<T> = { route: Route; result: T }

/** Endpoints with their breakers by vendor, and breakers by model. */
export type VendorHealth<E extends EndpointHealth = EndpointHealth> = {
  endpoints: Readonly<Record<string, readonly E[]>>
  modelBreakers: ModelBreakers
  clock: Pick<Clock, 'ms'>
}

const ATTEMPTS_PER_ROUTE = 3
const BACKOFF_MS = 200
/** A vendor that asks for more patience than this gets none: the next is asked, or the caller told when to come back. */
const RETRY_AFTER_MS_MAX = 3_000
/** Connections that broke while they were kept open; after a vendor's deployment all of a pool's may have. */
const STALE_MAX = 3
/** How long an endpoint that limits a model, or refuses us at it, is left alone where its vendor has another. */
const REST_MS = { limited: 5_000, unauthorized: 60_000 }

/**
 * Asks `routes` in their order until one answers, each at its vendor's endpoints in the order of `inOrder`, as long and as often as
 * `patience` allows.
 * @throws VendorError the failure that says most, or the signal's reason
 */
export async function attempt<T, E extends EndpointHealth>(
  health: VendorHealth<E>,
  routes: readonly Route[],
  signal: AbortSignal,
  log: AttemptLog,
  ask: (route: Route, endpoint: E, limits: AnswerLimits) => Promise<T>,
  patience: Patience,
  affinity: Affinity = byLot,
): Promise<Attempt<T>> {
  const { modelBreakers } = health
  const startedMs = performance.now()
  const leftMs = () => patience.deadlineMs - (performance.now() - startedMs)
  let requests = 0
  let failure: unknown = null
  let isFailedElsewhere = false
  let asked = 0
  let stale = 0

  for (let position = 0; position < routes.length; position++) {
    const route = routes[position] as Route
    const endpoints = inOrder(
      ofVendor(health.endpoints, route.vendor),
      route.model,
      modelBreakers,
      affinity,
    )
    isFailedElsewhere = failure !== null
    let isRefused = false

    for (let index = 0; index < endpoints.length; index++) {
      const endpoint = endpoints[index] as E
      if (isRefused) break
      const { breaker, name } = endpoint
      const place = { vendor: name, model: route.model }
      const next = endpoints[index + 1]
      const isLast = position === routes.length - 1 && next === undefined
      const isOpen = isCircuitOpen(modelBreakers, endpoint, place)
      if (isOpen && !(isLast && asked === 0)) {
        log.steps.push(`${name}:${PASSED_OVER}`)
        continue
      }
      asked++
      // Where another endpoint of the vendor is well, to wait for this one helps nobody.
      const hasNext = next !== undefined && !isResting(modelBreakers, next, route.model)
      const attemptsMax = isOpen || hasNext ? 1 : ATTEMPTS_PER_ROUTE
      const abandoned = () => {
        breaker.abandoned()
        modelBreakers.abandoned(place)
      }

      for (let number = 1; number <= attemptsMax; number++) {
        if (leftMs() <= 0 || requests >= patience.attemptsMax) {
          abandoned()
          if (leftMs() <= 0) failure = deadlinePassed(patience, log)
          throw failure
        }
        requests++
        log.attempts++
        log.vendor = route.vendor
        log.model = route.model
        log.vendorRequestId = null
        try {
          const result = await ask(route, endpoint, patience.limitsFor(route, leftMs(), !isLast))
          breaker.succeeded()
          modelBreakers.answered(place)
          log.steps.push(`${name}:ok`)
          return { route, result }
        } catch (error) {
          if (signal.aborted || !(error instanceof VendorError)) {
            abandoned()
            throw signal.aborted ? signal.reason : error
          }
          error.vendor = route.vendor
          log.steps.push(`${name}:${error.failure}`)
          if (error.isUnanswered)
            log.unanswered.push({
              vendor: route.vendor,
              model: route.model,
              promptTokens: log.promptTokens,
            })
          // The vendor is well; the request or its model's name is not. Nobody's typing errors open a breaker for all.
          const isWell = !error.isMovable || error.failure === 'unknown-model'
          if (error.isUnasked) {
            requests--
            log.attempts--
            abandoned()
          } else if (isWell) {
            breaker.succeeded()
            modelBreakers.answered(place)
          }
          if (!error.isMovable) {
            if (!isFailedElsewhere) throw error
            // A fallback that cannot take this request says nothing about it: the failure before stands. But a caller who
            // hears that the prompt is too long can shorten it, and be answered.
            if (error.code === CONTEXT_EXCEEDED) failure = error
            isRefused = true
            break
          }
          // A key that is refused says less than the limit of the key before it, which passes.
          if (failure === null || error.failure !== 'unauthorized' || index === 0) failure = error
          if (isWell) break
          if (error.isStale && stale < STALE_MAX) {
            // Another connection is well: neither a pause nor one of the attempts is due for this.
            stale++
            number--
            continue
          }
          const delayMs = number === attemptsMax ? null : delayBefore(error, number, isLast)
          if (delayMs === null || delayMs >= leftMs() || requests >= patience.attemptsMax) {
            gaveUpOn(health, endpoint, place, error, endpoints.length > 1)
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
  }
  throw failure
}

function deadlinePassed({ deadlineMs }: Patience, { vendor }: AttemptLog): VendorError {
  const error = new VendorError('timeout', `nobody answered within ${deadlineMs} ms`)
  error.vendor = vendor
  return error
}

/** Asked in this order: a breaker that lets one call try must not have its try taken for nothing. */
function isCircuitOpen(
  modelBreakers: ModelBreakers,
  { breaker }: EndpointHealth,
  place: Route,
): boolean {
  if (!modelBreakers.allows(place)) return true
  if (breaker.allows()) return false
  modelBreakers.abandoned(place)
  return true
}

/** A limit (429) is the model's alone, and who sets one is well. All else is the endpoint's, but for a Retry-After. */
function gaveUpOn(
  { modelBreakers, clock }: VendorHealth,
  { breaker }: EndpointHealth,
  place: Route,
  error: VendorError,
  hasOthers: boolean,
): void {
  if (error.status === 429 && error.failure === 'limited') {
    breaker.succeeded()
    modelBreakers.limited(place)
  } else {
    breaker.failed()
    modelBreakers.abandoned(place)
  }
  // Beside another endpoint one such failure is enough: each further call would pay for it with a request.
  const restMs =
    error.failure === 'unauthorized' || error.status === 429 ? REST_MS[restOf(error)] : null
  const untilMs = error.retryAfterMs ?? (hasOthers ? restMs : null)
  if (untilMs !== null) modelBreakers.openUntil(place, clock.ms() + untilMs)
}

const restOf = ({ failure }: VendorError) =>
  failure === 'unauthorized' ? 'unauthorized' : 'limited'

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

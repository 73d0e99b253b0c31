// Drives the retries and the failover of one call; next-step.ts decides, this file acts.
// All of it happens before the first byte: an answer that has begun is never requested again.
import { getVendor, type Route } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import { type AttemptLog, SKIPPED } from './attempt-log.ts'
import type { ModelBreakers } from './breaker.ts'
import {
  type Affinity,
  chooseRandomly,
  type EndpointHealth,
  isResting,
  orderEndpoints,
} from './endpoints.ts'
import {
  type Arrival,
  type AttemptOutcome,
  type EndpointHealthVerdict,
  nextStep,
  startAttempts,
} from './next-step.ts'
import type { Patience } from './patience.ts'
import type { AnswerLimits } from './vendors/exchange.ts'
import { VendorError } from './vendors/vendor-error.ts'

export type Attempt<T> = { route: Route; result: T }

/** Endpoints with their breakers by vendor, and breakers by model. */
export type VendorHealth<E extends EndpointHealth = EndpointHealth> = {
  endpoints: Readonly<Record<string, readonly E[]>>
  modelBreakers: ModelBreakers
  clock: Pick<Clock, 'ms'>
}

/** Pause after a vendor limits or refuses an endpoint, where the vendor has another one. */
const REST_MS = { limited: 5_000, unauthorized: 60_000 }

/**
 * Requests `routes` in order until one answers, and the endpoints of each in the order of
 * `orderEndpoints`. `patience` limits the time and the number of requests.
 * @throws VendorError the failure that explains the most, or the signal's reason
 */
export async function attempt<T, E extends EndpointHealth>(
  health: VendorHealth<E>,
  routes: readonly Route[],
  signal: AbortSignal,
  log: AttemptLog,
  ask: (route: Route, endpoint: E, limits: AnswerLimits) => Promise<T>,
  patience: Patience,
  affinity: Affinity = chooseRandomly,
): Promise<Attempt<T>> {
  const startedMs = performance.now()
  const computeLeftMs = () => patience.deadlineMs - (performance.now() - startedMs)
  let place = enterRoute(health, routes, 0, affinity)
  let state = startAttempts(patience.attemptsMax)
  let outcome: AttemptOutcome = createArrival(health, place)

  for (;;) {
    const next = nextStep(state, outcome, { leftMs: computeLeftMs(), random: Math.random })
    const { step } = next
    state = next.state
    if ('verdict' in step) applyVerdict(health, place, log, step.verdict, outcome)

    switch (step.kind) {
      case 'ask': {
        const limits = () => patience.computeLimits(place.route, computeLeftMs(), !isLast(place))
        const reply = await askOnce(health, place, signal, log, ask, limits)
        if (reply.kind === 'answered') return { route: place.route, result: reply.result }
        outcome = reply
        break
      }
      case 'wait':
        await pause(step.delayMs, signal).catch((reason) => {
          reportUnknown(health, place)
          throw reason
        })
        outcome = { kind: 'waited' }
        break
      case 'next-endpoint':
        place = { ...place, index: place.index + 1 }
        outcome = createArrival(health, place)
        break
      case 'next-route':
        place = enterRoute(health, routes, place.routeIndex + 1, affinity)
        outcome = createArrival(health, place)
        break
      case 'give-up':
        throw step.failure ?? createDeadlineError(patience, log)
    }
  }
}

/** An endpoint of a route; `index` is its position in `endpoints`. */
type Place<E extends EndpointHealth = EndpointHealth> = {
  route: Route
  routeIndex: number
  isLastRoute: boolean
  endpoints: readonly E[]
  index: number
}

function enterRoute<E extends EndpointHealth>(
  { endpoints, modelBreakers }: VendorHealth<E>,
  routes: readonly Route[],
  routeIndex: number,
  affinity: Affinity,
): Place<E> {
  const route = routes[routeIndex] as Route
  return {
    route,
    routeIndex,
    isLastRoute: routeIndex === routes.length - 1,
    endpoints: orderEndpoints(
      getVendor(endpoints, route.vendor),
      route.model,
      modelBreakers,
      affinity,
    ),
    index: 0,
  }
}

function createArrival(health: VendorHealth, place: Place): Arrival {
  const next = place.endpoints[place.index + 1]
  return {
    kind: 'arrived',
    isFirstEndpoint: place.index === 0,
    isLastEndpoint: next === undefined,
    isLastRoute: place.isLastRoute,
    isCircuitOpen: isCircuitOpen(health, place),
    hasHealthyNext: next !== undefined && !isResting(health.modelBreakers, next, place.route.model),
  }
}

function isLast({ isLastRoute, endpoints, index }: Place): boolean {
  return isLastRoute && index === endpoints.length - 1
}

function findEndpoint<E extends EndpointHealth>({ endpoints, index }: Place<E>): E {
  return endpoints[index] as E
}

/** The key of the model's breaker at this endpoint. */
function buildBreakerKey(place: Place): Route {
  return { vendor: findEndpoint(place).name, model: place.route.model }
}

/** @throws the signal's reason, or an error that is not the vendor's */
async function askOnce<T, E extends EndpointHealth>(
  health: VendorHealth<E>,
  place: Place<E>,
  signal: AbortSignal,
  log: AttemptLog,
  ask: (route: Route, endpoint: E, limits: AnswerLimits) => Promise<T>,
  limits: () => AnswerLimits,
): Promise<{ kind: 'answered'; result: T } | { kind: 'failed'; error: VendorError }> {
  const { route } = place
  const endpoint = findEndpoint(place)
  log.attempts++
  log.vendor = route.vendor
  log.model = route.model
  log.vendorRequestId = null
  try {
    const result = await ask(route, endpoint, limits())
    reportHealthy(health, place)
    log.steps.push(`${endpoint.name}:ok`)
    return { kind: 'answered', result }
  } catch (error) {
    if (signal.aborted || !(error instanceof VendorError)) {
      reportUnknown(health, place)
      throw signal.aborted ? signal.reason : error
    }
    error.vendor = route.vendor
    log.steps.push(`${endpoint.name}:${error.failure}`)
    if (error.isUnsent) log.attempts--
    if (error.isUnanswered) {
      const { vendor, model } = route
      log.unanswered.push({ vendor, model, promptTokens: log.promptTokens })
    }
    return { kind: 'failed', error }
  }
}

function createDeadlineError({ deadlineMs }: Patience, { vendor }: AttemptLog): VendorError {
  const error = new VendorError('timeout', `no vendor answered within ${deadlineMs} ms`)
  error.vendor = vendor
  return error
}

/** The model's breaker is read first: a half-open endpoint must not spend its single probe on a limited model. */
function isCircuitOpen({ modelBreakers }: VendorHealth, place: Place): boolean {
  const key = buildBreakerKey(place)
  if (!modelBreakers.allows(key)) return true
  if (findEndpoint(place).breaker.allows()) return false
  modelBreakers.recordAbandoned(key)
  return true
}

function applyVerdict(
  health: VendorHealth,
  place: Place,
  log: AttemptLog,
  verdict: EndpointHealthVerdict,
  outcome: AttemptOutcome,
): void {
  if (verdict === 'skipped') log.steps.push(`${findEndpoint(place).name}:${SKIPPED}`)
  if (verdict === 'healthy') reportHealthy(health, place)
  if (verdict === 'unknown') reportUnknown(health, place)
  if (verdict === 'unhealthy' && outcome.kind === 'failed')
    reportUnhealthy(health, place, outcome.error)
}

function reportHealthy({ modelBreakers }: VendorHealth, place: Place): void {
  findEndpoint(place).breaker.recordSuccess()
  modelBreakers.recordAnswer(buildBreakerKey(place))
}

function reportUnknown({ modelBreakers }: VendorHealth, place: Place): void {
  findEndpoint(place).breaker.recordAbandoned()
  modelBreakers.recordAbandoned(buildBreakerKey(place))
}

/** A rate limit (429) is the model's; any other failure is the endpoint's. */
function reportUnhealthy(
  { modelBreakers, clock }: VendorHealth,
  place: Place,
  error: VendorError,
): void {
  const { breaker } = findEndpoint(place)
  const key = buildBreakerKey(place)
  if (error.status === 429 && error.failure === 'limited') {
    breaker.recordSuccess()
    modelBreakers.recordLimit(key)
  } else {
    breaker.recordFailure()
    modelBreakers.recordAbandoned(key)
  }
  const restMs = error.retryAfterMs ?? (place.endpoints.length > 1 ? findRestMs(error) : null)
  if (restMs !== null) modelBreakers.openUntil(key, clock.ms() + restMs)
}

/** With another endpoint, one such failure is enough: each retry here would cost a request. */
function findRestMs({ failure, status }: VendorError): number | null {
  if (failure === 'unauthorized') return REST_MS.unauthorized
  return status === 429 ? REST_MS.limited : null
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

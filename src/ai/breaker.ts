// Circuit breakers of this process: one per endpoint, for failures of all its models, and one per
// model and endpoint, for rate limits. A call without another route still makes one attempt despite
// an open circuit, because the vendor's error tells the caller more.
import type { Route } from '#models/catalogue.ts'
import type { Clock } from '#platform/clock.ts'

export type BreakerState = 'closed' | 'open' | 'half-open'

export type Breaker = {
  /** Returns false while the circuit is open, except for one probe per interval. */
  allows(): boolean
  recordSuccess(): void
  recordFailure(): void
  /** The call ended without evidence, because its caller left. */
  recordAbandoned(): void
  /** `closed`: all requests pass; `open`: none passes; `half-open`: one probe passes. */
  readonly state: BreakerState
  /** Opens the circuit until the time that the vendor asked for. */
  openUntil(ms: number): void
}

/** Consecutive failed calls, each counted after its own retries. */
const FAILURES_MAX = 5
const OPEN_MS = 10_000
/** Caps a longer Retry-After: one account's limit must not cost the vendor for an hour. */
const OPEN_UNTIL_MS_MAX = 60_000

export function createBreaker(clock: Clock): Breaker {
  let failures = 0
  let probeAtMs = 0
  let openUntilMs = 0
  let isProbing = false

  return {
    allows() {
      const now = clock.ms()
      if (now < openUntilMs) return false
      if (failures < FAILURES_MAX) return true
      if (now < probeAtMs || isProbing) return false
      isProbing = true
      return true
    },
    recordSuccess() {
      failures = 0
      openUntilMs = 0
      isProbing = false
    },
    recordFailure() {
      failures++
      isProbing = false
      if (failures >= FAILURES_MAX) probeAtMs = clock.ms() + OPEN_MS
    },
    recordAbandoned() {
      isProbing = false
    },
    get state() {
      const now = clock.ms()
      if (now < openUntilMs) return 'open'
      if (failures < FAILURES_MAX) return 'closed'
      return now < probeAtMs ? 'open' : 'half-open'
    },
    openUntil(ms) {
      openUntilMs = Math.max(openUntilMs, Math.min(ms, clock.ms() + OPEN_UNTIL_MS_MAX))
    },
  }
}

/** Breakers of the models that an endpoint limits; `vendor` is the endpoint's name here. */
export type ModelBreakers = {
  allows(route: Route): boolean
  /** Returns true while the circuit is open; does not change the state. */
  isOpen(route: Route): boolean
  /** Records another rate limit after all retries. */
  recordLimit(route: Route): void
  /** Opens the circuit until the time in the vendor's Retry-After. */
  openUntil(route: Route, ms: number): void
  /** The vendor accepted a request for the model. */
  recordAnswer(route: Route): void
  recordAbandoned(route: Route): void
  readonly open: Route[]
}

/** Bounds the memory, because callers choose the names; the oldest are dropped. */
const MODELS_MAX = 1_000

export function createModelBreakers(clock: Clock): ModelBreakers {
  const limits = new Map<string, Route & { breaker: Breaker }>()
  const formatRoute = ({ vendor, model }: Route) => `${vendor}/${model}`
  const findBreaker = (route: Route) =>
    limits.size === 0 ? undefined : limits.get(formatRoute(route))?.breaker
  const openBreaker = (route: Route): Breaker => {
    const existing = findBreaker(route)
    if (existing !== undefined) return existing
    const oldest = limits.size < MODELS_MAX ? undefined : limits.keys().next().value
    if (oldest !== undefined) limits.delete(oldest)
    const breaker = createBreaker(clock)
    limits.set(formatRoute(route), { ...route, breaker })
    return breaker
  }

  return {
    allows: (route) => findBreaker(route)?.allows() ?? true,
    isOpen: (route) => findBreaker(route)?.state === 'open',
    recordLimit: (route) => openBreaker(route).recordFailure(),
    openUntil: (route, ms) => openBreaker(route).openUntil(ms),
    recordAnswer(route) {
      // A request from before the limit may succeed after it; the breaker then stays open.
      const breaker = findBreaker(route)
      if (breaker !== undefined && breaker.state !== 'open') limits.delete(formatRoute(route))
    },
    recordAbandoned: (route) => findBreaker(route)?.recordAbandoned(),
    get open() {
      return [...limits.values()]
        .filter(({ breaker }) => breaker.state === 'open')
        .map(({ vendor, model }) => ({ vendor, model }))
    },
  }
}

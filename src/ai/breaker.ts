// Circuit breakers: one a vendor for what breaks all of its models, and one a model for the limits that are the model's own.
// One thing to know: an open breaker only turns calls to another candidate; where there is none, one attempt is still made,
// because a refusal of ours would tell the caller less than the vendor's own.
import type { Clock } from '#platform/clock.ts'
import type { Candidate } from './routing.ts'

export type BreakerState = 'closed' | 'open' | 'half-open'

export type Breaker = {
  /** False while the vendor is taken for down; one call in a while may try. */
  allows(): boolean
  succeeded(): void
  failed(): void
  /** The call ended without a word on the vendor's health: its caller left. */
  abandoned(): void
  /** `closed`: asked as usual; `open`: left alone; `half-open`: one call may try. */
  readonly state: BreakerState
  /** The vendor asked to be left alone. */
  restUntil(ms: number): void
}

/** Calls that failed one after the other, each after its own retries. */
const FAILURES_MAX = 5
const OPEN_MS = 10_000
/** Whatever a vendor asks for: an hour's rest for one account's limit would be ours to regret. */
const REST_MS_MAX = 60_000

export function createBreaker(clock: Clock): Breaker {
  let failures = 0
  let closedAgainMs = 0
  let restMs = 0
  let isProbing = false

  return {
    allows() {
      const now = clock.ms()
      if (now < restMs) return false
      if (failures < FAILURES_MAX) return true
      if (now < closedAgainMs || isProbing) return false
      isProbing = true
      return true
    },
    succeeded() {
      failures = 0
      restMs = 0
      isProbing = false
    },
    failed() {
      failures++
      isProbing = false
      if (failures >= FAILURES_MAX) closedAgainMs = clock.ms() + OPEN_MS
    },
    abandoned() {
      isProbing = false
    },
    get state() {
      const now = clock.ms()
      if (now < restMs) return 'open'
      if (failures < FAILURES_MAX) return 'closed'
      return now < closedAgainMs ? 'open' : 'half-open'
    },
    restUntil(ms) {
      restMs = Math.max(restMs, Math.min(ms, clock.ms() + REST_MS_MAX))
    },
  }
}

/** The models that their vendors limit (429, Retry-After); whoever is not among them is asked as usual. */
export type Rests = {
  allows(candidate: Candidate): boolean
  /** Limited once more, after all retries. */
  limited(candidate: Candidate): void
  /** The vendor asked for a rest of this model. */
  restUntil(candidate: Candidate, ms: number): void
  /** The vendor took a request for it. */
  answered(candidate: Candidate): void
  abandoned(candidate: Candidate): void
  /** Models that are left alone now. */
  readonly resting: { vendor: string; model: string }[]
}

/** Names are the callers' own: more of them than this are not remembered, the oldest not. */
const MODELS_MAX = 1_000

export function createRests(clock: Clock): Rests {
  const limits = new Map<string, Candidate & { breaker: Breaker }>()
  const nameOf = ({ vendor, model }: Candidate) => `${vendor}/${model}`
  const known = (candidate: Candidate) => (limits.size === 0 ? undefined : limits.get(nameOf(candidate))?.breaker)
  const opened = (candidate: Candidate): Breaker => {
    const one = known(candidate)
    if (one !== undefined) return one
    const oldest = limits.size < MODELS_MAX ? undefined : limits.keys().next().value
    if (oldest !== undefined) limits.delete(oldest)
    const breaker = createBreaker(clock)
    limits.set(nameOf(candidate), { ...candidate, breaker })
    return breaker
  }

  return {
    allows: (candidate) => known(candidate)?.allows() ?? true,
    limited: (candidate) => opened(candidate).failed(),
    restUntil: (candidate, ms) => opened(candidate).restUntil(ms),
    answered(candidate) {
      // One that was asked before the limit may answer after it; a rest lasts as long as it was asked for.
      const breaker = known(candidate)
      if (breaker !== undefined && breaker.state !== 'open') limits.delete(nameOf(candidate))
    },
    abandoned: (candidate) => known(candidate)?.abandoned(),
    get resting() {
      return [...limits.values()]
        .filter(({ breaker }) => breaker.state === 'open')
        .map(({ vendor, model }) => ({ vendor, model }))
    },
  }
}

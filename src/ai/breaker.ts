// Guards a vendor that is down from more of the same, and its callers from waiting for it.
// One thing to know: an open breaker only turns calls to another vendor; where there is none, one attempt is still made,
// because a refusal of ours would tell the caller less than the vendor's own.
import type { Clock } from '#platform/clock.ts'

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

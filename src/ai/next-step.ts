// The rules of retries and failover, as a pure state machine: each outcome leads to the next step of
// a call. The driver in attempts.ts sends the requests, waits, and updates the circuit breakers.
import { CONTEXT_EXCEEDED, type VendorError } from './vendors/vendor-error.ts'

/** The position of a call and its number of requests. Each step returns a new state. */
export type AttemptState = {
  readonly place: Arrival | null
  /** Another route failed before this one was reached. */
  readonly hasFailedBefore: boolean
  /** Endpoints that received a request, over all routes. */
  readonly endpointsAsked: number
  /** Requests to this endpoint; stale connections do not count. */
  readonly attempts: number
  readonly attemptsMax: number
  /** Requests of the whole call. */
  readonly requests: number
  readonly requestsMax: number
  readonly staleConnections: number
  /** The failure that explains the most so far. */
  readonly failure: VendorError | null
}

/** The call has reached an endpoint. */
export type Arrival = {
  readonly kind: 'arrived'
  readonly isFirstEndpoint: boolean
  readonly isLastEndpoint: boolean
  readonly isLastRoute: boolean
  readonly isCircuitOpen: boolean
  /** The next endpoint of the same vendor is healthy. */
  readonly hasHealthyNext: boolean
}

export type AttemptOutcome =
  | Arrival
  | { readonly kind: 'waited' }
  | { readonly kind: 'failed'; readonly error: VendorError }

/** `unknown`: the call ended without evidence; `skipped`: the endpoint received no request. */
export type EndpointHealthVerdict = 'healthy' | 'unhealthy' | 'unknown' | 'skipped'

export type Step =
  | { readonly kind: 'ask' }
  | { readonly kind: 'wait'; readonly delayMs: number }
  | { readonly kind: 'next-endpoint'; readonly verdict: EndpointHealthVerdict }
  | { readonly kind: 'next-route'; readonly verdict: EndpointHealthVerdict }
  /** `failure` is null when the deadline passed. */
  | {
      readonly kind: 'give-up'
      readonly verdict: EndpointHealthVerdict
      readonly failure: VendorError | null
    }

export type NextStep = { readonly step: Step; readonly state: AttemptState }

/** `random`: as `Math.random`, for the jitter of delays. */
export type StepContext = { leftMs: number; random: () => number }

const ATTEMPTS_PER_ENDPOINT = 3
const BACKOFF_MS = 200
/** A longer Retry-After ends the attempts at this endpoint. */
const RETRY_AFTER_MS_MAX = 3_000
/** After a vendor's deployment, all kept-alive connections of a pool may be broken. */
const STALE_CONNECTIONS_MAX = 3

export function startAttempts(requestsMax: number): AttemptState {
  return {
    place: null,
    hasFailedBefore: false,
    endpointsAsked: 0,
    attempts: 0,
    attemptsMax: 0,
    requests: 0,
    requestsMax,
    staleConnections: 0,
    failure: null,
  }
}

export function nextStep(
  state: AttemptState,
  outcome: AttemptOutcome,
  context: StepContext,
): NextStep {
  switch (outcome.kind) {
    case 'arrived':
      return stepAfterArrival(state, outcome, context)
    case 'waited':
      return requestAgain(state, context)
    case 'failed':
      return outcome.error.isMovable
        ? stepAfterFailure(state, outcome.error, context)
        : stepAfterRefusal(state, outcome.error)
  }
}

function stepAfterArrival(before: AttemptState, place: Arrival, context: StepContext): NextStep {
  const hasFailedBefore = place.isFirstEndpoint ? before.failure !== null : before.hasFailedBefore
  const state = { ...before, place, hasFailedBefore, attempts: 0 }
  // One attempt is made even with all circuits open: the vendor's own error is more useful than
  // ours.
  const isLastResort = place.isLastRoute && place.isLastEndpoint && state.endpointsAsked === 0
  if (place.isCircuitOpen && !isLastResort) return moveToNextEndpoint(state, 'skipped')
  // With a healthy endpoint next, retrying this one would only cost time.
  const attemptsMax = place.isCircuitOpen || place.hasHealthyNext ? 1 : ATTEMPTS_PER_ENDPOINT
  return requestAgain({ ...state, attemptsMax, endpointsAsked: state.endpointsAsked + 1 }, context)
}

function requestAgain(state: AttemptState, { leftMs }: StepContext): NextStep {
  if (leftMs <= 0) return { step: { kind: 'give-up', verdict: 'unknown', failure: null }, state }
  if (state.requests >= state.requestsMax)
    return { step: { kind: 'give-up', verdict: 'unknown', failure: state.failure }, state }
  return {
    step: { kind: 'ask' },
    state: { ...state, attempts: state.attempts + 1, requests: state.requests + 1 },
  }
}

/** The request is at fault, not the endpoint. */
function stepAfterRefusal(before: AttemptState, error: VendorError): NextStep {
  // A request that was refused here never reached the vendor.
  const state = error.isUnsent ? { ...before, requests: before.requests - 1 } : before
  const verdict = error.isUnsent ? 'unknown' : 'healthy'
  if (!state.hasFailedBefore) return { step: { kind: 'give-up', verdict, failure: error }, state }
  // A refusal by a fallback does not replace the failure, unless callers can shorten the prompt.
  const failure = error.code === CONTEXT_EXCEEDED ? error : state.failure
  return moveToNextRoute({ ...state, failure }, verdict)
}

function stepAfterFailure(
  before: AttemptState,
  error: VendorError,
  context: StepContext,
): NextStep {
  // A rate limit of an earlier key passes with time; the refusal of a later key would hide it.
  const isWorthReporting =
    before.failure === null ||
    error.failure !== 'unauthorized' ||
    before.place?.isFirstEndpoint === true
  const state = isWorthReporting ? { ...before, failure: error } : before
  // A wrong model name is the caller's mistake and must not open the circuit for all users.
  if (error.failure === 'unknown-model') return moveToNextEndpoint(state, 'healthy')
  // A stale connection counts as no attempt and needs no delay.
  if (error.isStale && state.staleConnections < STALE_CONNECTIONS_MAX) {
    const { attempts, staleConnections } = state
    return requestAgain(
      { ...state, attempts: attempts - 1, staleConnections: staleConnections + 1 },
      context,
    )
  }
  const delayMs = computeRetryDelay(state, error, context)
  if (delayMs === null || delayMs >= context.leftMs || state.requests >= state.requestsMax)
    return moveToNextEndpoint(state, 'unhealthy')
  return { step: { kind: 'wait', delayMs }, state }
}

function moveToNextEndpoint(state: AttemptState, verdict: EndpointHealthVerdict): NextStep {
  if (state.place?.isLastEndpoint === true) return moveToNextRoute(state, verdict)
  return { step: { kind: 'next-endpoint', verdict }, state }
}

function moveToNextRoute(state: AttemptState, verdict: EndpointHealthVerdict): NextStep {
  if (state.place?.isLastRoute === true)
    return { step: { kind: 'give-up', verdict, failure: state.failure }, state }
  return { step: { kind: 'next-route', verdict }, state }
}

/** Returns milliseconds; null ends the attempts at this endpoint. */
function computeRetryDelay(
  { place, attempts, attemptsMax }: AttemptState,
  error: VendorError,
  { random }: StepContext,
): number | null {
  if (attempts >= attemptsMax) return null
  // After a timeout, a second attempt would take as long again.
  if (!error.isRetryable || error.failure === 'timeout') return null
  if (error.retryAfterMs === null) {
    // Jitter over the upper half spreads clients that failed together.
    return BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + random() / 2)
  }
  const isLast = place?.isLastRoute === true && place.isLastEndpoint
  const retryAfterMsMax = isLast ? RETRY_AFTER_MS_MAX : RETRY_AFTER_MS_MAX / 3
  return error.retryAfterMs <= retryAfterMsMax ? error.retryAfterMs * (1 + random() / 10) : null
}

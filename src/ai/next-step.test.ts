// Every rule of retries and failover, one row each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Arrival,
  type AttemptOutcome,
  type AttemptState,
  nextStep,
  startAttempts,
} from './next-step.ts'
import {
  CONTEXT_EXCEEDED,
  createRefusal,
  VendorError,
  type VendorFailure,
} from './vendors/vendor-error.ts'

const ONLY: Arrival = {
  kind: 'arrived',
  isFirstEndpoint: true,
  isLastEndpoint: true,
  isLastRoute: true,
  isCircuitOpen: false,
  hasHealthyNext: false,
}
const FIRST_OF_TWO_ROUTES: Arrival = { ...ONLY, isLastRoute: false }
const FIRST_OF_TWO_ENDPOINTS: Arrival = { ...ONLY, isLastEndpoint: false, hasHealthyNext: true }
const SECOND_ENDPOINT: Arrival = { ...ONLY, isFirstEndpoint: false }
const IN_TIME = { leftMs: 60_000, random: () => 0.5 }

const failed = (failure: VendorFailure, more = {}): AttemptOutcome => {
  return { kind: 'failed', error: new VendorError(failure, 'by the test', more) }
}
const refused: AttemptOutcome = { kind: 'failed', error: createRefusal('not supported') }
const WAITED: AttemptOutcome = { kind: 'waited' }
const broken = failed('broken')

/** Returns the last step after these outcomes, as `kind`, `kind verdict` or `wait ms`. */
function play(
  outcomes: readonly AttemptOutcome[],
  { leftMs = IN_TIME.leftMs, requestsMax = 100 } = {},
): { text: string; state: AttemptState } {
  let state = startAttempts(requestsMax)
  let text = ''
  for (const [index, outcome] of outcomes.entries()) {
    const isLast = index === outcomes.length - 1
    const next = nextStep(state, outcome, { ...IN_TIME, ...(isLast && { leftMs }) })
    state = next.state
    const { step } = next
    text = step.kind
    if (step.kind === 'wait') text += ` ${step.delayMs}`
    if ('verdict' in step) text += ` ${step.verdict}`
    if (step.kind === 'give-up') text += ` ${step.failure?.failure ?? 'deadline'}`
  }
  return { text, state }
}

type Row = [
  title: string,
  outcomes: AttemptOutcome[],
  step: string,
  limits?: { leftMs?: number; requestsMax?: number },
]

const ROWS: Row[] = [
  ['asks a healthy endpoint', [ONLY], 'ask'],
  ['waits 150 ms before the second attempt', [ONLY, broken], 'wait 150'],
  ['asks again after the wait', [ONLY, broken, WAITED], 'ask'],
  ['doubles the wait before the third attempt', [ONLY, broken, WAITED, broken], 'wait 300'],
  [
    'gives up after three attempts at the last endpoint',
    [ONLY, broken, WAITED, broken, WAITED, broken],
    'give-up unhealthy broken',
  ],
  [
    'goes to the next route after three attempts',
    [FIRST_OF_TWO_ROUTES, broken, WAITED, broken, WAITED, broken],
    'next-route unhealthy',
  ],
  [
    'makes one attempt where another endpoint is healthy',
    [FIRST_OF_TWO_ENDPOINTS, broken],
    'next-endpoint unhealthy',
  ],
  [
    'makes three attempts where the next endpoint is not healthy',
    [{ ...FIRST_OF_TWO_ENDPOINTS, hasHealthyNext: false }, broken],
    'wait 150',
  ],
  [
    'skips an endpoint with an open circuit',
    [{ ...FIRST_OF_TWO_ENDPOINTS, isCircuitOpen: true }],
    'next-endpoint skipped',
  ],
  [
    'skips a route with an open circuit',
    [{ ...FIRST_OF_TWO_ROUTES, isCircuitOpen: true }],
    'next-route skipped',
  ],
  [
    'asks the last endpoint despite an open circuit when no other was asked',
    [
      { ...FIRST_OF_TWO_ROUTES, isCircuitOpen: true },
      { ...ONLY, isCircuitOpen: true },
    ],
    'ask',
  ],
  ['asks it once only', [{ ...ONLY, isCircuitOpen: true }, broken], 'give-up unhealthy broken'],
  [
    'skips the last endpoint with an open circuit when another was asked',
    [FIRST_OF_TWO_ENDPOINTS, broken, { ...SECOND_ENDPOINT, isCircuitOpen: true }],
    'give-up skipped broken',
  ],
  ['does not retry a timeout', [FIRST_OF_TWO_ROUTES, failed('timeout')], 'next-route unhealthy'],
  [
    'does not retry a refused key',
    [FIRST_OF_TWO_ROUTES, failed('unauthorized')],
    'next-route unhealthy',
  ],
  [
    'goes on after an unknown model and leaves the circuit closed',
    [FIRST_OF_TWO_ROUTES, failed('unknown-model')],
    'next-route healthy',
  ],
  [
    'waits for a Retry-After of 3 s at the last endpoint',
    [ONLY, failed('limited', { retryAfterMs: 3_000 })],
    'wait 3150',
  ],
  [
    'does not wait for a longer Retry-After',
    [ONLY, failed('limited', { retryAfterMs: 3_001 })],
    'give-up unhealthy limited',
  ],
  [
    'waits for a Retry-After of 1 s where another route follows',
    [FIRST_OF_TWO_ROUTES, failed('limited', { retryAfterMs: 1_000 })],
    'wait 1050',
  ],
  [
    'goes to the next route instead of a longer wait',
    [FIRST_OF_TWO_ROUTES, failed('limited', { retryAfterMs: 1_001 })],
    'next-route unhealthy',
  ],
  ['repeats a stale connection at once', [ONLY, failed('unreachable', { isStale: true })], 'ask'],
  [
    'counts stale connections as no attempt, three times',
    [
      ONLY,
      ...Array<AttemptOutcome>(3).fill(failed('unreachable', { isStale: true })),
      failed('unreachable', { isStale: true }),
    ],
    'wait 150',
  ],
  ['gives up on a refused request', [ONLY, failed('refused')], 'give-up healthy refused'],
  [
    'gives up on a refused request while fallbacks remain',
    [FIRST_OF_TWO_ROUTES, failed('refused')],
    'give-up healthy refused',
  ],
  [
    'leaves the health of a vendor open that was not asked',
    [FIRST_OF_TWO_ROUTES, refused],
    'give-up unknown refused',
  ],
  [
    'reports the earlier failure when a fallback refuses the request',
    [FIRST_OF_TWO_ROUTES, failed('timeout'), ONLY, failed('refused')],
    'give-up healthy timeout',
  ],
  [
    'reports a prompt that is too long for the fallback',
    [FIRST_OF_TWO_ROUTES, failed('timeout'), ONLY, failed('refused', { code: CONTEXT_EXCEEDED })],
    'give-up healthy refused',
  ],
  [
    'skips the other endpoints of a fallback that refuses the request',
    [
      FIRST_OF_TWO_ROUTES,
      failed('timeout'),
      { ...FIRST_OF_TWO_ENDPOINTS, isLastRoute: false },
      failed('refused'),
    ],
    'next-route healthy',
  ],
  [
    'reports the rate limit of the first key rather than the refusal of the second',
    [
      FIRST_OF_TWO_ENDPOINTS,
      failed('limited', { retryAfterMs: 9_000 }),
      SECOND_ENDPOINT,
      failed('unauthorized'),
    ],
    'give-up unhealthy limited',
  ],
  ['gives up at the deadline', [ONLY, broken, WAITED], 'give-up unknown deadline', { leftMs: 0 }],
  [
    'does not wait beyond the deadline',
    [ONLY, broken],
    'give-up unhealthy broken',
    { leftMs: 150 },
  ],
  [
    'gives up at the most requests of a call',
    [FIRST_OF_TWO_ENDPOINTS, broken, SECOND_ENDPOINT],
    'give-up unknown broken',
    { requestsMax: 1 },
  ],
  [
    'does not wait after the last request',
    [ONLY, broken],
    'give-up unhealthy broken',
    {
      requestsMax: 1,
    },
  ],
]

for (const [title, outcomes, step, limits] of ROWS) {
  test(title, () => assert.equal(play(outcomes, limits).text, step))
}

test('does not count a request that was rejected before it was sent', () => {
  const { state } = play([FIRST_OF_TWO_ROUTES, failed('timeout'), ONLY, refused])
  assert.equal(state.requests, 1)
})

// The gateway's metrics: calls, durations, attempts and waiting calls.
// Recording happens at a call's first chunk and at its end, never per token.
import type { Count, Metrics, Times } from '#platform/telemetry/metrics.ts'
import type { UsageOutcome } from '#usage/record.ts'
import { SKIPPED } from './attempt-log.ts'
import type { Breaker, BreakerState, ModelBreakers } from './breaker.ts'
import type { ConcurrencyLimiter } from './concurrency-limiter.ts'
import type { Usage } from './vendors/vendor.ts'

export type CallEnd = {
  vendor: string
  /** The catalogue's name, or `other`: names that callers invent must not become labels. */
  model: string
  outcome: UsageOutcome
  /** Steps of the attempt log. */
  steps: readonly string[]
  latencyMs: number
  usage: Pick<Usage, 'prompt' | 'completion' | 'cached'>
  costUsd: number
}

export type GatewayMetrics = {
  /** Records the time to the first chunk of a stream. */
  recordFirstChunk(vendor: string, ms: number): void
  recordEnd(call: CallEnd): void
}

const CALL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const FIRST_TOKEN_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const STATES: Record<BreakerState, number> = { closed: 0, 'half-open': 1, open: 2 }

type Sources = {
  breakers: Readonly<Record<string, Breaker>>
  modelBreakers: Pick<ModelBreakers, 'open'>
  limiter: Pick<ConcurrencyLimiter, 'running' | 'waiting'>
}

export function createGatewayMetrics(
  metrics: Metrics,
  { breakers, modelBreakers, limiter }: Sources,
): GatewayMetrics {
  const calls = metrics.counts('latchkey_ai_calls_total', 'Calls to models by outcome', [
    'vendor',
    'model',
    'outcome',
  ])
  const attempts = metrics.counts('latchkey_ai_attempts_total', 'Requests to vendors by result', [
    'vendor',
    'result',
  ])
  const retries = metrics.counts(
    'latchkey_ai_retries_total',
    'Requests repeated at the same vendor',
    ['vendor'],
  )
  const failovers = metrics.counts(
    'latchkey_ai_failovers_total',
    'Calls that continued with another vendor after a failure',
    ['from', 'to'],
  )
  const tokens = metrics.counts(
    'latchkey_ai_tokens_total',
    'Tokens; cached tokens are also prompt tokens',
    ['vendor', 'kind'],
  )
  const costs = metrics.counts(
    'latchkey_ai_cost_usd_total',
    'Cost of calls in US dollars, by the price list',
    ['vendor', 'model'],
  )
  const seconds = metrics.times(
    'latchkey_ai_call_seconds',
    'Time from a call to its end',
    ['vendor'],
    CALL_SECONDS,
  )
  const firstTokens = metrics.times(
    'latchkey_ai_first_token_seconds',
    'Time from a streamed call to its first chunk',
    ['vendor'],
    FIRST_TOKEN_SECONDS,
  )
  const perVendor = (read: (vendor: string, breaker: Breaker) => number) => () =>
    Object.entries(breakers).map(([vendor, breaker]) => ({
      labels: { vendor },
      value: read(vendor, breaker),
    }))
  metrics.readings(
    'latchkey_ai_breaker_state',
    'Circuit breaker of an endpoint. 0: closed; 1: half-open; 2: open',
    perVendor((_, { state }) => STATES[state]),
  )
  metrics.readings(
    'latchkey_ai_resting_models',
    'Models that receive no requests because of a rate limit',
    perVendor((name) => modelBreakers.open.filter(({ vendor }) => vendor === name).length),
  )
  metrics.readings('latchkey_ai_calls_running', 'Calls that are running', () => [
    { labels: {}, value: limiter.running },
  ])
  metrics.readings('latchkey_ai_calls_waiting', 'Calls that wait in the queue', () => [
    { labels: {}, value: limiter.waiting },
  ])

  const countSteps = (steps: readonly string[]) => {
    let before = ''
    let resultBefore = ''
    for (const step of steps) {
      const colon = step.indexOf(':')
      if (colon === -1) continue
      const hash = step.indexOf('#')
      const vendor = step.slice(0, hash === -1 ? colon : hash)
      const result = step.slice(colon + 1)
      if (before !== '' && before !== vendor) failovers(before, vendor).value++
      // After a success follows the next request of the same call (embedding a long text), and
      // after a skipped route the first to another endpoint.
      else if (
        before === vendor &&
        result !== SKIPPED &&
        resultBefore !== 'ok' &&
        resultBefore !== SKIPPED
      ) {
        retries(vendor).value++
      }
      if (result !== SKIPPED) attempts(vendor, result).value++
      before = vendor
      resultBefore = result
    }
  }
  const findCounters = memoize((vendor: string) => ({
    prompt: tokens(vendor, 'prompt'),
    completion: tokens(vendor, 'completion'),
    cached: tokens(vendor, 'cached'),
    seconds: seconds(vendor),
  }))

  return {
    recordFirstChunk: (vendor, ms) => firstTokens(vendor).observe(ms / 1_000),
    recordEnd({ vendor, model, outcome, steps, latencyMs, usage, costUsd }) {
      const counters: VendorCounters = findCounters(vendor)
      calls(vendor, model, outcome).value++
      countSteps(steps)
      counters.prompt.value += usage.prompt
      counters.completion.value += usage.completion
      counters.cached.value += usage.cached
      costs(vendor, model).value += costUsd
      counters.seconds.observe(latencyMs / 1_000)
    },
  }
}

type VendorCounters = { prompt: Count; completion: Count; cached: Count; seconds: Times }

function memoize<T>(open: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    let value = known.get(name)
    if (value === undefined) {
      value = open(name)
      known.set(name, value)
    }
    return value
  }
}

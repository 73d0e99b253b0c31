// How long a call waits for an answer to begin, in total and per attempt, and how often it asks.
import { findModel, getVendor, type Route } from '#models/catalogue.ts'
import type { RoutingConfig } from './routing.ts'
import type { AnswerLimits } from './vendors/exchange.ts'

export type Patience = {
  /** The limit of all attempts together, until an answer begins. */
  deadlineMs: number
  attemptsMax: number
  /** Returns the limits of one attempt; `hasNext`: another model or endpoint remains. */
  computeLimits(route: Route, leftMs: number, hasNext: boolean): AnswerLimits
}

/** `wantedMs`: the caller's deadline, which can only shorten the operator's. */
export function createPatience(
  config: Pick<RoutingConfig, 'vendors' | 'deadlineMs' | 'headersTimeoutMs' | 'attemptsMax'>,
  { isStream = false, wantedMs = null }: { isStream?: boolean; wantedMs?: number | null } = {},
): Patience {
  const { deadlineMs, headersTimeoutMs, attemptsMax } = config
  return {
    deadlineMs: Math.min(deadlineMs, wantedMs ?? deadlineMs),
    attemptsMax,
    computeLimits({ vendor: name, model }, leftMs, hasNext) {
      const vendor = getVendor(config.vendors, name)
      const ownMs = findModel(vendor, model)?.timeoutMs ?? vendor.timeoutMs
      if (ownMs !== null)
        return { headMs: Math.min(ownMs, leftMs), answerMs: Math.min(ownMs, leftMs) }
      // Models are silent while they reason, so half of the time remains for the next route.
      const answerMs = hasNext ? leftMs / 2 : leftMs
      return { headMs: isStream ? Math.min(headersTimeoutMs, answerMs) : answerMs, answerMs }
    },
  }
}

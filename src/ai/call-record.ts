// The record of one call to a model: opened before anybody is asked, settled once whatever became of it.
// One thing to know: the ledger, its budgets and the metrics learn of a call here and nowhere else, so they tell the same.
import type { Model } from '#models/catalogue.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Reservation } from '#usage/ledger.ts'
import type { UsageOutcome } from '#usage/record.ts'
import { newTrail, type Trail } from './attempts.ts'
import { costOf } from './cost.ts'
import type { Gateway } from './gateway.ts'
import type { Usage } from './vendors/vendor.ts'

export type CallTerms = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier'>
  /** As the ledger shall name it: `/api/ai/chat`. */
  route: string
  kind: Model['kind']
  /** Who is asked first. */
  first: { vendor: string; model: string }
  /** A guess, rather too many. */
  promptTokens: number
  /** What the answer may take at most. */
  completionTokens: number
  /** What will do where a budget is short. */
  completionTokensMin?: number
  /** False: it costs nobody anything and needs no place in a budget. */
  isReserved?: boolean
  signal: AbortSignal
}

/** What was used, as the one counted it who answered; `model` as he called it. */
export type Spent = { model: string | null; usage: Usage; isEstimated: boolean }

export type CallRecord = {
  readonly trail: Trail
  /** Null where nothing was reserved. */
  readonly reservation: Reservation | null
  /** The first piece of the answer has come. */
  begun(): void
  /** Resolves when the record is committed. */
  settle(outcome: UsageOutcome, spent: Spent): Promise<void>
  /** No call was made after all: what was reserved is given back, and nothing is recorded. */
  release(): Promise<void>
}

export const NOTHING: Usage = { prompt: 0, completion: 0, cached: 0, cacheWrites: 0 }

/** @throws Problem 429 when a budget is exhausted; the signal's reason when the caller leaves meanwhile. */
export async function openCall(
  { config, clock, ledger, meters }: Pick<Gateway, 'config' | 'clock' | 'ledger' | 'meters'>,
  {
    caller,
    route,
    kind,
    first,
    promptTokens,
    completionTokens,
    completionTokensMin,
    isReserved = true,
    signal,
  }: CallTerms,
): Promise<CallRecord> {
  const { userId, keyId, tier } = caller
  const trail = newTrail(promptTokens)
  const startedAt = clock.now()
  const startedMs = performance.now()
  const priced = (vendor: string, names: string[], usage: Usage) => costOf(config, vendor, names, usage, kind)
  const guess = () => priced(first.vendor, [first.model], { ...NOTHING, prompt: promptTokens }).usd
  const reservation = isReserved
    ? await ledger.reserve({
        userId,
        keyId,
        tier,
        promptTokens,
        completionTokens,
        completionTokensMin,
        signal,
        call: { route, ...first, costUsd: guess() },
      })
    : null

  return {
    trail,
    reservation,
    begun: () => meters.begun(trail.vendor ?? first.vendor, performance.now() - startedMs),
    async settle(outcome, { model: answered, usage: said, isEstimated }) {
      const vendor = trail.vendor ?? first.vendor
      const asked = trail.model ?? first.model
      const model = answered ?? asked
      const { usd, isListed } = priced(vendor, [model, asked], said)
      let costUsd = usd
      let unansweredTokens = 0
      for (const lost of trail.unanswered) {
        unansweredTokens += lost.promptTokens
        costUsd += priced(lost.vendor, [lost.model], { ...NOTHING, prompt: lost.promptTokens }).usd
      }
      // An answer's tokens are told as its vendor counted them; what others read before is in the cost alone.
      const usage = outcome === 'ok' ? said : { ...said, prompt: said.prompt + unansweredTokens }
      const latencyMs = performance.now() - startedMs
      meters.ended({ vendor, outcome, tried: trail.tried, latencyMs, usage, costUsd })
      await ledger.settle(reservation, {
        userId,
        keyId,
        route,
        vendor,
        model,
        promptTokens: usage.prompt,
        completionTokens: usage.completion,
        cachedTokens: usage.cached,
        costUsd,
        latencyMs,
        attempts: trail.attempts,
        tried: told(trail.tried),
        outcome,
        isEstimated: isEstimated || !isListed || trail.unanswered.length > 0,
        startedAt,
      })
    },
    release: async () => {
      if (reservation !== null) await ledger.release(reservation)
    },
  }
}

/** A long text is embedded in many requests: those that went well one after the other are told once. */
function told(tried: readonly string[]): string {
  if (tried.length < 2) return tried[0] ?? ''
  return tried.filter((step, index) => !(step.endsWith(':ok') && step === tried[index - 1])).join(',')
}

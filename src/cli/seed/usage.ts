/** Writes the calls of the seeded year to the ledger, without a model. */
import { randomUUID } from 'node:crypto'
import { computeCost } from '#ai/cost.ts'
import type { Config } from '#config/config.ts'
import type { Call } from './script.ts'

type Caller = { userId: string; keyId: string | null; tier: string }

/** Builds the ledger's record of a call. */
export function buildRecord(
  { ai }: Pick<Config, 'ai'>,
  call: Call,
  { userId, keyId, tier }: Caller,
) {
  const { vendor, model } = ai.slots[call.vendor] ??
    ai.slots[0] ?? { vendor: 'openai', model: 'unknown' }
  const { promptTokens, completionTokens, cachedTokens, latencyMs, outcome, route } = call
  const tokens = {
    prompt: promptTokens,
    completion: completionTokens,
    cached: cachedTokens,
    cacheWrites: 0,
  }
  const first = ai.slots[0]?.vendor
  const stepped = call.vendor === 1 && first !== undefined && first !== vendor
  return {
    userId,
    keyId: call.withKey ? keyId : null,
    route,
    vendor,
    model,
    promptTokens,
    completionTokens,
    cachedTokens,
    latencyMs,
    outcome,
    costUsd: outcome === 'failed' ? 0 : computeCost(ai, vendor, [model], tokens).usd,
    tier,
    reasoningTokens: 0,
    firstTokenMs: outcome === 'ok' && route === '/api/ai/chat' ? latencyMs / 3 : null,
    ...ENDED[outcome],
    requestId: randomUUID(),
    vendorRequestId: null,
    endUser: call.endUser,
    labels: '',
    attempts: stepped ? 2 : 1,
    tried: `${stepped ? `${first}:limited,` : ''}${vendor}:${outcome}`,
    isEstimated: false,
    startedAt: call.at,
  }
}

/** The reply for each outcome of a call. */
const ENDED = {
  ok: { status: 200, errorCode: null },
  failed: { status: 502, errorCode: 'vendor_failed' },
  cancelled: { status: 499, errorCode: null },
}

// Spends an allowance through the ledger, as a call to a model does, without a vendor.
import { findGrants } from '#catalogue/catalogue.ts'
import { callerNow } from '../api-keys/caller-now.ts'
import type { UsageRecord } from '../usage/record.ts'
import type { UsageNeeds } from '../usage/usage.ts'
import type { TestApp } from './app.ts'

/** A separate ledger, without keys, emails and claims of free allowances. */
export const USAGE_NEEDS: UsageNeeds = {
  freeAllowance: { claim: async () => 'granted', isAvailable: async () => true },
  keyBudgets: async () => [],
  notifyOwner: async () => {},
}

/** @returns whether a call of this cost was admitted, and is recorded. */
export async function spend(app: TestApp, userId: string, usd: number): Promise<boolean> {
  const { platform, service } = app
  const caller = await callerNow(platform, { userId, keyId: null })
  if (caller === null || !findGrants(platform.config.catalogue, caller.tier).includes('home'))
    return false
  const { tier, slices } = caller
  const claim = {
    promptTokens: 1,
    promptNanos: Math.round(usd * 1e9),
    tokenNanos: 0,
    completionTokens: 0,
  }
  const { ledger } = service.usage
  const reservation = await ledger
    .reserve({ userId, keyId: null, tier, slices, ...claim, isTrial: true })
    .catch(() => null)
  if (reservation === null) return false
  await ledger.settle(reservation, buildRecord(userId, tier, reservation.at, usd))
  return true
}

function buildRecord(
  userId: string,
  tier: string,
  startedAt: string,
  costUsd: number,
): UsageRecord {
  return {
    userId,
    keyId: null,
    tier,
    route: '/api/ai/chat',
    vendor: 'openai',
    model: 'gpt-6-luna',
    promptTokens: 1,
    completionTokens: 0,
    cachedTokens: 0,
    reasoningTokens: 0,
    costUsd,
    latencyMs: 1,
    firstTokenMs: null,
    attempts: 1,
    tried: 'openai:ok',
    outcome: 'ok',
    status: 200,
    errorCode: null,
    requestId: null,
    vendorRequestId: null,
    endUser: '',
    labels: '',
    isEstimated: false,
    startedAt,
  }
}

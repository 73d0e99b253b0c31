import type { Instant } from '#platform/clock.ts'

export type UsageOutcome = 'ok' | 'failed' | 'cancelled'

export type UsageRecord = {
  userId: string
  /** Null for a call with a JWT. */
  keyId: string | null
  /** As `/api/ai/chat`. */
  route: string
  vendor: string
  model: string
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  costUsd: number
  latencyMs: number
  attempts: number
  /** What was tried in its order, as `openai:limited,anthropic:ok`. */
  tried: string
  outcome: UsageOutcome
  /** The vendor did not say; counted from the text. */
  isEstimated: boolean
  startedAt: Instant
}

import type { Instant } from '#platform/clock.ts'

/** The ledger's unit: thousand-millionths of a dollar, in which sums are exact. */
export function toNanos(usd: number): number {
  return Math.round(usd * 1e9)
}

const MODEL_LENGTH_MAX = 200

/** A model's name may be a vendor's word for it, which is anything; a text with NUL is none to PostgreSQL. */
export function storableModel(model: string): string {
  if (model.length <= MODEL_LENGTH_MAX && !model.includes('\0')) return model
  return model.replaceAll('\0', '').slice(0, MODEL_LENGTH_MAX)
}

export type UsageOutcome = 'ok' | 'failed' | 'cancelled'

export type UsageRecord = {
  userId: string
  /** Null for a call with a JWT. */
  keyId: string | null
  /** The plan at the time of the call. */
  tier: string
  /** As `/api/ai/chat`. */
  route: string
  vendor: string
  model: string
  promptTokens: number
  completionTokens: number
  cachedTokens: number
  /** A part of `completionTokens`. */
  reasoningTokens: number
  costUsd: number
  latencyMs: number
  /** Of a stream that has begun; else null. */
  firstTokenMs: number | null
  attempts: number
  /** The attempts in their order, as `openai:limited,anthropic:ok`. */
  tried: string
  outcome: UsageOutcome
  /** The status that the caller got: 200 also for a stream that broke off later, 499 where the caller left. */
  status: number
  /** The `code` of the error that the caller got; null unless the call failed. */
  errorCode: string | null
  /** The vendor's own words for a failure, at most 500 characters; null or left out where it said nothing. */
  errorDetail?: string | null
  /** As the reply's X-Request-Id; null where the call came from no request. */
  requestId: string | null
  /** The vendor's own name for the request that counted, where it gave one. */
  vendorRequestId: string | null
  /** Whom the caller made it for; '' for nobody in particular. */
  endUser: string
  /** As labels.ts writes them. */
  labels: string
  /** The vendor sent no count; estimated from the text. */
  isEstimated: boolean
  startedAt: Instant
}

import type { Instant } from '#platform/clock.ts'
import type { CallParameters } from './parameters.ts'

/** Converts dollars to nanodollars, the ledger's unit, in which sums are exact. */
export function toNanos(usd: number): number {
  return Math.round(usd * 1e9)
}

const MODEL_LENGTH_MAX = 200

/** Shortens the name of a model, which a vendor may choose freely, and removes NUL, which PostgreSQL rejects. */
export function toStorableModel(model: string): string {
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
  /** The path of the request: `/api/ai/chat`. */
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
  /** Milliseconds until a stream began; null for other calls. */
  firstTokenMs: number | null
  attempts: number
  /** The attempts in order: `openai:limited,anthropic:ok`. */
  tried: string
  outcome: UsageOutcome
  /** The status of the reply: 200 even if the stream broke off later, 499 if the client disconnected. */
  status: number
  /** The `code` of the error in the reply; null unless the call failed. */
  errorCode: string | null
  /** The vendor's error message, at most 500 characters; null or omitted if there is none. */
  errorDetail?: string | null
  /** The reply's X-Request-Id; null for a call without a request. */
  requestId: string | null
  /** The vendor's id of the recorded attempt, if it sent one. */
  vendorRequestId: string | null
  /** The end user named by the caller; '' if none. */
  endUser: string
  /** In the format of labels.ts. */
  labels: string
  /** Null or omitted for models that do not chat and for answers from the cache. */
  parameters?: CallParameters | null
  /** True if the vendor sent no token counts, so that they are estimated from the text. */
  isEstimated: boolean
  startedAt: Instant
}

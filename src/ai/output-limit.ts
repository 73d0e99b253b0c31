// Computes the longest answer of a call, and the tokens to reserve for it.
import { findKnownModel, getVendor, type Route } from '#models/catalogue.ts'
import type { RoutingConfig } from './routing.ts'

/** Longest answer of a model whose limit is unknown. */
const UNKNOWN_ANSWER_TOKENS = 32_000
/** Highest limit that a caller may set for a model whose longest answer is unknown. */
const UNKNOWN_LIMIT_TOKENS_MAX = 128_000
/** Enough for a call without a limit when the budget is short. */
const SHORT_BUDGET_TOKENS = 4_096

/** All lengths are in tokens, for one answer. */
export type OutputLimit = {
  /** The limit that the vendor receives; null: none. */
  limit: number | null
  /** Tokens to reserve in the budget. */
  reserved: number
  /** Tokens to reserve when the budget is short. */
  reservedMin: number
}

/** The longest prompt and answer of the models that may serve a call, in tokens. */
export type ModelLengths = {
  promptMax: number
  answerMax: number
  /** The highest limit that a vendor accepts. */
  limitMax: number
  /** True when the answer limits of all models are known. */
  isAnswerMaxKnown: boolean
}

export function measureModels(config: RoutingConfig, routes: readonly Route[]): ModelLengths {
  const lengths = { promptMax: 0, answerMax: 0, limitMax: 0, isAnswerMaxKnown: true }
  for (const { vendor, model } of routes) {
    const known = findKnownModel(config, vendor, model)
    const ownMax = known?.outputTokensMax ?? null
    const answerMax = ownMax ?? findLongestAnswer(config, vendor)
    const limitMax = ownMax ?? Math.max(answerMax, UNKNOWN_LIMIT_TOKENS_MAX)
    const promptMax = known?.contextTokens ?? Number.POSITIVE_INFINITY
    lengths.promptMax = Math.max(lengths.promptMax, promptMax)
    lengths.answerMax = Math.max(lengths.answerMax, answerMax)
    lengths.limitMax = Math.max(lengths.limitMax, limitMax)
    if (ownMax === null) lengths.isAnswerMaxKnown = false
  }
  return lengths
}

function findLongestAnswer({ vendors }: RoutingConfig, vendor: string): number {
  let longest = 0
  for (const { outputTokensMax } of getVendor(vendors, vendor).models)
    longest = Math.max(longest, outputTokensMax ?? 0)
  return longest || UNKNOWN_ANSWER_TOKENS
}

/** `requested`: the caller's limit; `planMax`: the plan's; null: none. */
export function limitOutputTokens(
  requested: number | null,
  planMax: number | null,
  lengths: ModelLengths,
): OutputLimit {
  const { answerMax, isAnswerMaxKnown } = lengths
  const limit = chooseLimit(requested, planMax, lengths)
  if (limit === null) {
    return { limit, reserved: answerMax, reservedMin: Math.min(answerMax, SHORT_BUDGET_TOKENS) }
  }
  const reserved = isAnswerMaxKnown ? Math.min(limit, answerMax) : limit
  return { limit, reserved, reservedMin: reserved }
}

function chooseLimit(
  requested: number | null,
  planMax: number | null,
  { answerMax, limitMax, isAnswerMaxKnown }: ModelLengths,
): number | null {
  if (requested !== null) return Math.min(requested, planMax ?? Number.POSITIVE_INFINITY, limitMax)
  // A plan's limit is sent only to a model that could exceed it.
  return planMax !== null && isAnswerMaxKnown && answerMax <= planMax ? null : planMax
}

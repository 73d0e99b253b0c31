/**
 * How much of a request its budgets allow. A request that does not fit waits while other calls have
 * reserved amounts; otherwise the rest of the budget allows a shorter answer.
 */
import './tables.ts'
import type { Instant } from '#platform/clock.ts'
import {
  type AlertedBudget,
  type Amounts,
  type Budget,
  type BudgetChange,
  type BudgetLimit,
  type BudgetRow,
  type Held,
  toBudgets,
} from './budgets.ts'
import type { Period } from './periods.ts'

/** The amounts of a call before it starts. */
export type CallSize = {
  /** An estimate that is too high rather than too low. */
  promptTokens: number
  /** The maximum cost of the prompt, in nanodollars; `tokenNanos`: of each token of the answer. */
  promptNanos: number
  tokenNanos: number
  /** The longest answer. */
  completionTokens: number
  /**
   * The shortest useful answer if the budget is nearly used. The call waits for it while other calls
   * have reserved the rest.
   */
  completionTokensMin?: number | undefined
  /** The number of answers that share these tokens; each needs at least one token. */
  choices?: number | undefined
  /** True when the caller retries with less: a rejection writes no alert, and the call does not wait. */
  isTrial?: boolean | undefined
}

/** `id` is the id of the call, shared by its reservation, its note and its record. */
export type Request = CallSize & { id: string; userId: string; at: Instant; limits: BudgetLimit[] }

/** `wait`: the request may fit when a running call of this scope ends. `held` is null without a limit. */
export type ReservationResult =
  | { is: 'reserved'; held: Held | null; completionTokens: number }
  | { is: 'wait'; scope: string }
  | { is: 'exhausted'; scope: string; period: Period | null; unit: 'tokens' | 'nanos' }

export const NO_AMOUNTS: Amounts = { tokens: 0, nanos: 0 }

/** The reserved amounts, in memory (local-reservations.ts) or in rows (shared-reservations.ts). */
export type Reservations = {
  /** Reserves the longest answer that fits; the request has at least one limit. */
  reserve(request: Request): Promise<ReservationResult>
  /** Releases ended calls, right after the commit that changed these budgets. */
  release(ids: readonly string[], changed: readonly BudgetChange[]): void
  /** Returns the reserved amounts that are not in the budget's row. */
  readUnwritten(userId: string, budget: Budget): Amounts
}

/**
 * The reason why a request does not fit. `fit` is the number of answer tokens that would fit; it is
 * negative when the prompt alone does not fit.
 */
export type Shortage = {
  limit: BudgetLimit
  unit: 'tokens' | 'nanos'
  fit: number
  isHeldByOthers: boolean
  budget: AlertedBudget
}

/** The largest integer that a double holds exactly. It exceeds every budget and still fits a column. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

/**
 * Finds the longest answer that fits on all budgets, whose rows are in the limits' order. `refusal` is
 * set when the user must be alerted.
 */
export function fitRequest(
  request: Request,
  budgets: readonly BudgetRow[],
): { result: ReservationResult; refusal: Shortage | null } {
  const least = request.completionTokensMin ?? request.completionTokens
  for (let completionTokens = request.completionTokens; ; ) {
    const held = computeHeld(request, completionTokens)
    const shortage = findShortage(request, held, budgets)
    if (shortage === null)
      return { result: { is: 'reserved', held, completionTokens }, refusal: null }
    const { unit, fit, isHeldByOthers } = shortage
    const { scope, period } = shortage.limit
    const exhausted = { is: 'exhausted', scope, period, unit } as const
    if (request.isTrial && fit < least) return { result: exhausted, refusal: null }
    if (isHeldByOthers && fit < least) return { result: { is: 'wait', scope }, refusal: null }
    if (fit < Math.min(request.choices ?? 1, request.completionTokens))
      return { result: exhausted, refusal: scope === '' && unit === 'nanos' ? shortage : null }
    // A request without a limit gets half of the rest, so that the next one fits, too.
    completionTokens = Math.min(fit, Math.max(least, Math.floor(fit / 2)))
  }
}

function computeHeld(request: Request, completionTokens: number): Held {
  const { id, userId, limits, promptTokens, promptNanos, tokenNanos } = request
  return {
    id,
    userId,
    budgets: toBudgets(limits),
    // Callers may send any number.
    tokens: Math.min(NO_LIMIT, promptTokens + completionTokens),
    nanos: Math.min(NO_LIMIT, promptNanos + Math.ceil(completionTokens * tokenNanos)),
  }
}

/** Returns the first budget that the amounts exceed. */
function findShortage(
  { limits, promptTokens, promptNanos, tokenNanos }: Request,
  held: Held,
  budgets: readonly BudgetRow[],
): Shortage | null {
  for (const [index, limit] of limits.entries()) {
    const budget = budgets[index] as BudgetRow
    const tokens = (limit.tokens ?? NO_LIMIT) - budget.used_tokens - budget.reserved_tokens
    const nanos = (limit.nanos ?? NO_LIMIT) - budget.used_nanos - budget.reserved_nanos
    if (held.tokens <= tokens && held.nanos <= nanos) continue
    const tokensFit = tokens - promptTokens
    const left = nanos - promptNanos
    let nanosFit = left < 0 ? -1 : tokenNanos === 0 ? NO_LIMIT : Math.floor(left / tokenNanos)
    // Reservations are rounded up; without this step the same amount would be tried forever.
    if (nanosFit > 0 && Math.ceil(nanosFit * tokenNanos) > left) nanosFit--
    const unit = nanosFit < tokensFit ? 'nanos' : 'tokens'
    const reserved = unit === 'nanos' ? budget.reserved_nanos : budget.reserved_tokens
    const fit = Math.min(nanosFit, tokensFit)
    return { limit, unit, fit, isHeldByOthers: reserved > 0, budget }
  }
  return null
}

// Budgets in tokens and in dollars, of a user or of one of its keys: what is reserved and what is used never exceed a limit.
// A claim that does not fit because others still run waits for them, and the last of a budget goes to a shorter answer; so
// nothing is refused while something is left, and nothing is spent that is not there. What running calls hold stands in rows
// (shared-holds.ts), or in memory where there is one process (own-holds.ts).
import './tables.ts'
import type { QueryResult } from 'kysely'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import type { Run } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { Watched } from './alerts.ts'
import { type Period, spanAt } from './periods.ts'
import { usedIn } from './store.ts'

/** A transaction: `db` builds its queries. */
export type BudgetTx = { db: Db; run: Run }

/**
 * What may be used in a period. `scope` is '' for the user, or the id of a key; `name` is the period's, and `end` when it renews. `period`
 * is null for a slice that was paid for, which begins with nothing used. Null tokens or nanos: no limit in this unit.
 */
export type BudgetLimit = {
  scope: string
  period: Period | null
  name: string
  end: Instant
  tokens: number | null
  nanos: number | null
}

export type BudgetClaim = {
  userId: string
  at: Instant
  limits: BudgetLimit[]
  promptTokens: number
  /** What the prompt costs at most, in thousand-millionths of a dollar; `tokenNanos`: each token of the answer. */
  promptNanos: number
  tokenNanos: number
  completionTokens: number
  /** So many will do where a budget is short; none fewer than `completionTokens` where it is left out. */
  completionTokensMin?: number | undefined
  /** Answers that share these tokens: one each is the least that can be asked for. 1 where it is left out. */
  choices?: number | undefined
  /** Asked again for less where it does not fit: its refusal is no news, and it waits for nobody. */
  isTrial?: boolean | undefined
}

/** What a claim holds, on each of its budgets. */
export type Granted = {
  userId: string
  at: Instant
  budgets: { scope: string; name: string }[]
  tokens: number
  nanos: number
  completionTokens: number
}

export type Unit = 'tokens' | 'nanos'
/** `wait`: it may fit when a running call of this scope ends. */
export type BudgetAnswer =
  | { is: 'granted'; granted: Granted }
  | { is: 'wait'; scope: string }
  | { is: 'exhausted'; scope: string; period: Period | null; unit: Unit }

/** Holds the amounts on all of the claim's budgets, or on none. @returns null when held, else what the first that refused is like. */
export type Take = (
  claim: BudgetClaim,
  amounts: Amounts,
) => Promise<Refusal | null> | Refusal | null

/** `alert` writes that the plan's dollars are used up. */
export async function claimOne(
  claim: BudgetClaim,
  take: Take,
  alert: (refusal: Refusal) => Promise<void>,
): Promise<BudgetAnswer> {
  const least = claim.completionTokensMin ?? claim.completionTokens
  for (let completionTokens = claim.completionTokens; ; ) {
    const refusal = await take(claim, amountsOf(claim, completionTokens))
    if (refusal === null) return { is: 'granted', granted: granted(claim, completionTokens) }
    const { scope, period, unit, fit, isHeldByOthers } = refusal
    if (claim.isTrial && fit < least) return { is: 'exhausted', scope, period, unit }
    if (isHeldByOthers && fit < least) return { is: 'wait', scope }
    if (fit < Math.min(claim.choices ?? 1, claim.completionTokens)) {
      if (scope === '' && unit === 'nanos') await alert(refusal)
      return { is: 'exhausted', scope, period, unit }
    }
    // Who set no limit gets half of what is left, so that the next finds something, too.
    if (fit < completionTokens)
      completionTokens = Math.min(fit, Math.max(least, Math.floor(fit / 2)))
  }
}

export function amountsOf(
  { promptTokens, promptNanos, tokenNanos }: BudgetClaim,
  completionTokens: number,
) {
  // A caller may ask for any number; more than a column holds is refused by every budget all the same.
  return {
    tokens: Math.min(NO_LIMIT, promptTokens + completionTokens),
    nanos: Math.min(NO_LIMIT, promptNanos + Math.ceil(completionTokens * tokenNanos)),
  }
}

export function granted(claim: BudgetClaim, completionTokens: number): Granted {
  const { userId, at, limits } = claim
  const budgets = limits.map(({ scope, name }) => ({ scope, name }))
  return { userId, at, budgets, ...amountsOf(claim, completionTokens), completionTokens }
}

/** `fit`: the tokens of an answer that what is left would hold; below nothing where it does not even hold the prompt. */
export type Refusal = Pick<BudgetLimit, 'scope' | 'period' | 'name' | 'end'> & {
  unit: Unit
  fit: number
  isHeldByOthers: boolean
  nanosMax: number | null
} & Watched
export type Amounts = { tokens: number; nanos: number }

export function hasChanged({ numAffectedRows = 0n }: QueryResult<unknown>): boolean {
  return numAffectedRows > 0n
}

/** Beyond every sum that a double holds. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

/** A period's first claim: what was used without a budget counts, too. */
export async function openPeriod(
  { db, run }: BudgetTx,
  { userId, at }: BudgetClaim,
  limit: BudgetLimit,
): Promise<void> {
  const { scope, name: period } = limit
  const opened = await run(
    db
      .insertInto('usage_budgets')
      .values({
        user_id: userId,
        scope,
        period,
        used_tokens: 0,
        used_nanos: 0,
        reserved_tokens: 0,
        reserved_nanos: 0,
        alerted_nanos: 0,
        alerted_limit_nanos: 0,
      })
      .onConflict((conflict) => conflict.columns(['user_id', 'scope', 'period']).doNothing())
      .compile(),
  )
  if (!hasChanged(opened) || limit.period === null) return
  const used = await usedIn(
    { db, run },
    userId,
    scope === '' ? null : scope,
    spanAt(limit.period, at),
  )
  await run(
    db
      .updateTable('usage_budgets')
      .set({ used_tokens: used.tokens, used_nanos: used.nanos })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', period)
      .compile(),
  )
  // A plan's are kept, for what is taken back later. No call of a key runs that long.
  if (scope === '') return
  const past = plus(at, -KEPT_MS).slice(0, 10)
  await run(
    db
      .deleteFrom('usage_budgets')
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '<', past)
      .compile(),
  )
}

const KEPT_MS = 40 * DAY_MS

export type Budget = Pick<
  Tables['usage_budgets'],
  'used_tokens' | 'reserved_tokens' | 'reserved_nanos'
> &
  Watched

export function refusalOf(claim: BudgetClaim, limit: BudgetLimit, row: Budget): Refusal {
  const { scope, period, name, end, tokens, nanos } = limit
  const { promptTokens, promptNanos, tokenNanos } = claim
  const tokensLeft = (tokens ?? NO_LIMIT) - row.used_tokens - row.reserved_tokens - promptTokens
  const nanosLeft = (nanos ?? NO_LIMIT) - row.used_nanos - row.reserved_nanos - promptNanos
  let dollarsFit =
    nanosLeft < 0 ? -1 : tokenNanos === 0 ? NO_LIMIT : Math.floor(nanosLeft / tokenNanos)
  // A claim is rounded up: what does not fit that way would be asked for without end.
  if (dollarsFit > 0 && Math.ceil(dollarsFit * tokenNanos) > nanosLeft) dollarsFit--
  const unit = dollarsFit < tokensLeft ? 'nanos' : 'tokens'
  const held = unit === 'nanos' ? row.reserved_nanos : row.reserved_tokens
  const { used_nanos, alerted_nanos, alerted_limit_nanos } = row
  const fit = Math.min(dollarsFit, tokensLeft)
  const watched = { used_nanos, alerted_nanos, alerted_limit_nanos }
  return {
    scope,
    period,
    name,
    end,
    unit,
    fit,
    isHeldByOthers: held > 0,
    ...watched,
    nanosMax: nanos,
  }
}

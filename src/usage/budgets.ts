/**
 * Budgets in tokens and in dollars, for a user or for one of their keys. A call reserves its maximum
 * before it starts, and its end replaces the reservation by its actual use. Used plus reserved never
 * exceeds the limit, so no budget is overspent. A request that does not fit waits while other calls
 * have reserved amounts; otherwise the rest of the budget allows a shorter answer.
 */
import './tables.ts'
import { type CompiledQuery, type QueryResult, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Run } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { createQueryCache } from './compiled.ts'
import { computeSpan, type Period } from './periods.ts'
import { sumUse } from './store.ts'

/** A transaction: `db` builds its queries, `run` executes them. */
export type BudgetTx = { db: Db; run: Run }

/** Returns a BudgetTx that runs its queries on `db`, which may be a transaction. */
export function toBudgetTx(db: Db): BudgetTx {
  return { db, run: (query) => db.executeQuery(query) }
}

/** Tokens and nanodollars. */
export type Amounts = { tokens: number; nanos: number }

/** The key of a budget's row. `scope` is '' for the user, or the id of a key; `period` as in periods.ts. */
export type BudgetKey = { userId: string; scope: string; period: string }

/**
 * The limit of a budget in a period. `name` is the period in its row, and `end` is the end of the
 * period. Null tokens or nanos: no limit in this unit. `period` is null for a billing period, which
 * starts with no use.
 */
export type BudgetLimit = {
  scope: string
  period: Period | null
  name: string
  end: Instant
  tokens: number | null
  nanos: number | null
}

export type ReservationRequest = {
  /** The id of the call, shared by its reservation, its note and its record. */
  id: string
  userId: string
  at: Instant
  limits: BudgetLimit[]
  promptTokens: number
  /** The maximum cost of the prompt; `tokenNanos`: of each token of the answer. */
  promptNanos: number
  tokenNanos: number
  completionTokens: number
  /** The shortest useful answer if the budget is nearly used; `completionTokens` by default. */
  completionTokensMin?: number | undefined
  /** The number of answers that share these tokens; each needs at least one token. */
  choices?: number | undefined
  /** True when the caller retries with less: a rejection writes no alert, and the request does not wait. */
  isTrial?: boolean | undefined
}

/** The amounts that a running call has reserved on each of its budgets. */
export type Held = Amounts & { id: string; userId: string; budgets: BudgetKey[] }

export type Unit = 'tokens' | 'nanos'
/** `wait`: the request may fit when a running call of this scope ends. */
export type ReservationResult =
  | { is: 'reserved'; held: Held; completionTokens: number }
  | { is: 'wait'; scope: string }
  | { is: 'exhausted'; scope: string; period: Period | null; unit: Unit }

/**
 * The reason why a request does not fit. `fit` is the number of answer tokens that would fit; it is
 * negative when the prompt alone does not fit.
 */
export type Shortage = { limit: BudgetLimit; unit: Unit; fit: number; isHeldByOthers: boolean } & {
  budget: AlertedBudget
}

/**
 * Reserves the request, or a shorter answer that fits. `take` reserves the amounts on all budgets or
 * on none.
 */
export async function reserveFitting(
  request: ReservationRequest,
  take: (held: Held) => Promise<Shortage | null>,
  alert: (shortage: Shortage) => Promise<void>,
): Promise<ReservationResult> {
  const least = request.completionTokensMin ?? request.completionTokens
  for (let completionTokens = request.completionTokens; ; ) {
    const held = computeHeld(request, completionTokens)
    const shortage = await take(held)
    if (shortage === null) return { is: 'reserved', held, completionTokens }
    const { limit, unit, fit, isHeldByOthers } = shortage
    const { scope, period } = limit
    const isTooShort = fit < Math.min(request.choices ?? 1, request.completionTokens)
    if (request.isTrial && fit < least) return { is: 'exhausted', scope, period, unit }
    if (isHeldByOthers && fit < least) return { is: 'wait', scope }
    if (isTooShort) {
      if (scope === '' && unit === 'nanos') await alert(shortage)
      return { is: 'exhausted', scope, period, unit }
    }
    // A request without a limit gets half of the rest, so that the next one fits, too.
    if (fit < completionTokens)
      completionTokens = Math.min(fit, Math.max(least, Math.floor(fit / 2)))
  }
}

function computeHeld(request: ReservationRequest, completionTokens: number): Held {
  const { id, userId, limits, promptTokens, promptNanos, tokenNanos } = request
  return {
    id,
    userId,
    budgets: limits.map(({ scope, name }) => ({ userId, scope, period: name })),
    // Callers may send any number. NO_LIMIT exceeds every budget and still fits the column.
    tokens: Math.min(NO_LIMIT, promptTokens + completionTokens),
    nanos: Math.min(NO_LIMIT, promptNanos + Math.ceil(completionTokens * tokenNanos)),
  }
}

/** The largest integer that a double holds exactly. */
export const NO_LIMIT = Number.MAX_SAFE_INTEGER

export type AlertedBudget = Pick<
  Tables['usage_budgets'],
  'used_nanos' | 'alerted_nanos' | 'alerted_limit_nanos'
>

export type BudgetRow = AlertedBudget & {
  used_tokens: number
  reserved_tokens: number
  reserved_nanos: number
}

export function findShortage(
  request: ReservationRequest,
  limit: BudgetLimit,
  row: BudgetRow,
): Shortage {
  const { promptTokens, promptNanos, tokenNanos } = request
  const tokensLeft =
    (limit.tokens ?? NO_LIMIT) - row.used_tokens - row.reserved_tokens - promptTokens
  const nanosLeft = (limit.nanos ?? NO_LIMIT) - row.used_nanos - row.reserved_nanos - promptNanos
  let nanosFit =
    nanosLeft < 0 ? -1 : tokenNanos === 0 ? NO_LIMIT : Math.floor(nanosLeft / tokenNanos)
  // Reservations are rounded up; without this step the same amount would be tried forever.
  if (nanosFit > 0 && Math.ceil(nanosFit * tokenNanos) > nanosLeft) nanosFit--
  const unit = nanosFit < tokensLeft ? 'nanos' : 'tokens'
  const held = unit === 'nanos' ? row.reserved_nanos : row.reserved_tokens
  const fit = Math.min(nanosFit, tokensLeft)
  return { limit, unit, fit, isHeldByOthers: held > 0, budget: row }
}

const compiled = createQueryCache()

/** Reserves the amounts if they fit. Returns false if they do not, or if the budget has no row yet. */
export async function reserveBudget(
  { db, run }: BudgetTx,
  { userId, scope, period }: BudgetKey,
  { tokens, nanos }: Amounts,
  limit: BudgetLimit,
): Promise<boolean> {
  const [tokensMax, nanosMax] = [limit.tokens ?? NO_LIMIT, limit.nanos ?? NO_LIMIT]
  const parameters = [tokens, nanos, userId, scope, period, tokens, tokensMax, nanos, nanosMax]
  const query = compiled(db, 'reserve', parameters, () =>
    db
      .updateTable('usage_budgets')
      .set({
        reserved_tokens: sql`reserved_tokens + ${tokens}`,
        reserved_nanos: sql`reserved_nanos + ${nanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', period)
      .where(sql<boolean>`used_tokens + reserved_tokens + ${tokens} <= ${tokensMax}`)
      .where(sql<boolean>`used_nanos + reserved_nanos + ${nanos} <= ${nanosMax}`),
  )
  return hasChanged(await run(query))
}

/** One update for all periods of a scope, because a key's calls count in its day, week and month. */
export type BudgetChange = {
  userId: string
  scope: string
  periods: readonly string[]
  used: Amounts
  freed: Amounts
}

/** Builds the update of a budget. With `isWatched`, it returns the columns that alerts need. */
export function changeBudget(db: Db, change: BudgetChange, isWatched: boolean): CompiledQuery {
  const { userId, scope, periods, used, freed } = change
  const amounts = [used.tokens, used.nanos, freed.tokens, freed.nanos]
  const parameters = [...amounts, userId, scope, ...periods]
  return compiled(db, `change:${periods.length}:${isWatched}`, parameters, () => {
    const query = db
      .updateTable('usage_budgets')
      .set({
        used_tokens: sql`used_tokens + ${used.tokens}`,
        used_nanos: sql`used_nanos + ${used.nanos}`,
        reserved_tokens: sql`reserved_tokens - ${freed.tokens}`,
        reserved_nanos: sql`reserved_nanos - ${freed.nanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', 'in', periods)
    return isWatched
      ? query.returning(['used_nanos', 'alerted_nanos', 'alerted_limit_nanos'])
      : query
  })
}

/** Inserts the row for a period's first request, with the use of earlier calls in the period. */
export async function openBudget(
  { db, run }: BudgetTx,
  { userId, at }: Pick<ReservationRequest, 'userId' | 'at'>,
  { scope, name: period, period: length }: BudgetLimit,
): Promise<void> {
  const inserted = await run(
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
  if (!hasChanged(inserted) || length === null) return
  // Read after the insert: calls that settle later wait for the row and add their use to it.
  const used = await sumUse({ db, run }, userId, scope || null, computeSpan(length, at))
  const none = { tokens: 0, nanos: 0 }
  await run(changeBudget(db, { userId, scope, periods: [period], used, freed: none }, false))
}

function hasChanged({ numAffectedRows = 0n }: QueryResult<unknown>): boolean {
  return numAffectedRows > 0n
}

/** Retries deadlocks: when two nodes lock two users' budgets crosswise, PostgreSQL aborts one transaction (40P01). */
export async function retryDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (left === 0 || (error as { code?: unknown }).code !== '40P01') throw error
    }
  }
}

/**
 * Reservations of running calls: a sum in each budget's row, and one row per call, with which another
 * node can release the reservations of a dead node. Removing the row of a call twice releases its
 * amounts once. A request that does not fit waits while other calls have reserved amounts; otherwise
 * the rest of the budget allows a shorter answer.
 */
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import { databaseFailure } from '#platform/db/failures.ts'
import type { Tables } from '#platform/db/tables.ts'
import { batchWrites } from '#platform/db/write-batching.ts'
import { alertOnRefusal } from './alerts.ts'
import {
  type AlertedBudget,
  addReserved,
  type BudgetLimit,
  type BudgetRow,
  type BudgetTx,
  type Held,
  openBudgets,
  retryDeadlocks,
} from './budgets.ts'
import { createQueryCache } from './compiled.ts'
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
type Request = CallSize & { id: string; userId: string; at: Instant; limits: BudgetLimit[] }

/** `wait`: the request may fit when a running call of this scope ends. `held` is null without a limit. */
export type ReservationResult =
  | { is: 'reserved'; held: Held | null; completionTokens: number }
  | { is: 'wait'; scope: string }
  | { is: 'exhausted'; scope: string; period: Period | null; unit: 'tokens' | 'nanos' }

/**
 * The reason why a request does not fit. `fit` is the number of answer tokens that would fit; it is
 * negative when the prompt alone does not fit.
 */
type Shortage = {
  limit: BudgetLimit
  unit: 'tokens' | 'nanos'
  fit: number
  isHeldByOthers: boolean
  budget: AlertedBudget
}

/** The largest integer that a double holds exactly. It exceeds every budget and still fits a column. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

const compiled = createQueryCache()

export class Reservations {
  readonly #db: Db
  readonly #nodeId: string
  readonly #batches = batchWrites((requests: Request[]) => this.#reserveAll(requests))

  constructor(db: Db, nodeId: string) {
    this.#db = db
    this.#nodeId = nodeId
  }

  async reserve(request: Request): Promise<ReservationResult> {
    if (request.limits.length === 0)
      return { is: 'reserved', held: null, completionTokens: request.completionTokens }
    try {
      return await this.#batches.add(request)
    } catch (error) {
      if (databaseFailure(error) !== null) throw error
      // One faulty request must not fail the others of its batch.
      const [result] = await this.#reserveAll([request])
      return result as ReservationResult
    }
  }

  #reserveAll(requests: Request[]): Promise<ReservationResult[]> {
    return retryDeadlocks(() =>
      commitAsync(this.#db, async (run) => {
        const tx = { db: this.#db, run }
        const results = new Map<Request, ReservationResult>()
        // Sorted, so that all nodes lock rows in the same order.
        const sorted = requests.toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
        for (const group of Map.groupBy(sorted, nameBudgets).values())
          await reserveGroup(tx, group, results)
        const all = requests.map((request) => results.get(request) as ReservationResult)
        const reserved = all.flatMap((one) => (one.is === 'reserved' && one.held) || [])
        if (reserved.length > 0) await run(insertRows(this.#db, this.#nodeId, reserved))
        return all
      }),
    )
  }
}

const nameBudgets = ({ userId, limits }: Request) =>
  [userId, ...limits.map(({ scope, name }) => `${scope}|${name}`)].join(' ')

/** Reserves requests on the same budgets with one read and one update of the rows. */
async function reserveGroup(
  tx: BudgetTx,
  group: readonly Request[],
  results: Map<Request, ReservationResult>,
): Promise<void> {
  const [first] = group as [Request]
  const budgets = await openBudgets(tx, first, first.limits)
  const sum = { ...computeHeld(first, 0), tokens: 0, nanos: 0 }
  for (const request of group) {
    const result = await reserveOne(tx, request, budgets)
    results.set(request, result)
    if (result.is !== 'reserved' || result.held === null) continue
    const { tokens, nanos } = result.held
    sum.tokens += tokens
    sum.nanos += nanos
    for (const budget of budgets) {
      budget.reserved_tokens += tokens
      budget.reserved_nanos += nanos
    }
  }
  if (sum.tokens > 0 || sum.nanos > 0) await tx.run(addReserved(tx.db, sum))
}

/** Finds the longest answer that fits on all budgets; does not write the reservation. */
async function reserveOne(
  tx: BudgetTx,
  request: Request,
  budgets: readonly BudgetRow[],
): Promise<ReservationResult> {
  const least = request.completionTokensMin ?? request.completionTokens
  for (let completionTokens = request.completionTokens; ; ) {
    const held = computeHeld(request, completionTokens)
    const shortage = findShortage(request, held, budgets)
    if (shortage === null) return { is: 'reserved', held, completionTokens }
    const { unit, fit, isHeldByOthers } = shortage
    const { scope, period } = shortage.limit
    if (request.isTrial && fit < least) return { is: 'exhausted', scope, period, unit }
    if (isHeldByOthers && fit < least) return { is: 'wait', scope }
    if (fit < Math.min(request.choices ?? 1, request.completionTokens)) {
      if (scope === '' && unit === 'nanos') await alertOnRefusal(tx, request, shortage)
      return { is: 'exhausted', scope, period, unit }
    }
    // A request without a limit gets half of the rest, so that the next one fits, too.
    completionTokens = Math.min(fit, Math.max(least, Math.floor(fit / 2)))
  }
}

function computeHeld(request: Request, completionTokens: number): Held {
  const { id, userId, limits, promptTokens, promptNanos, tokenNanos } = request
  return {
    id,
    userId,
    budgets: limits.map(({ scope, name: period }) => ({ scope, period })),
    // Callers may send any number.
    tokens: Math.min(NO_LIMIT, promptTokens + completionTokens),
    nanos: Math.min(NO_LIMIT, promptNanos + Math.ceil(completionTokens * tokenNanos)),
  }
}

/** Returns the first budget that the amounts exceed; `budgets` has the rows in the limits' order. */
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

function insertRows(db: Db, nodeId: string, reserved: readonly Held[]): CompiledQuery {
  const rows = reserved.map(({ userId, id, budgets, tokens, nanos }) => {
    return { user_id: userId, id, node_id: nodeId, budgets_json: budgets, tokens, nanos }
  })
  return compiled(db, `insert:${rows.length}`, rows.flatMap(Object.values), () =>
    db.insertInto('usage_reservations').values(rows),
  )
}

/** Removes the rows of these calls and returns the removed ones, whose amounts must be released. */
export async function removeReservations(
  { db, run }: BudgetTx,
  calls: readonly { userId: string; id: string }[],
): Promise<Held[]> {
  if (calls.length === 0) return []
  const keys = calls.flatMap(({ userId, id }) => [userId, id])
  const query = compiled(db, `remove:${calls.length}`, keys, () => {
    const values = calls.map(({ userId, id }) => sql`(${userId}, ${id})`)
    return sql`
      delete from usage_reservations where (user_id, id) in (values ${sql.join(values)})
      returning user_id, id, budgets_json, tokens, nanos`
  })
  return ((await run(query)).rows as Omit<Tables['usage_reservations'], 'node_id'>[]).map(
    ({ user_id: userId, budgets_json: budgets, ...row }) => ({ ...row, userId, budgets }),
  )
}

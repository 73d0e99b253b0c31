/**
 * Reservations of running calls: a sum in each budget's row, and one row per call, with which another
 * node can release the reservations of a dead node. Removing the row of a call twice releases its
 * amounts once.
 */
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import { commitAsync } from '#platform/db/async-commit.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { databaseFailure } from '#platform/db/failures.ts'
import { batchWrites } from '#platform/db/write-batching.ts'
import { alertOnRefusal } from './alerts.ts'
import {
  type BudgetLimit,
  type BudgetRow,
  type BudgetTx,
  changeBudget,
  findShortage,
  type Held,
  openBudget,
  type ReservationRequest,
  type ReservationResult,
  reserveBudget,
  reserveFitting,
  retryDeadlocks,
  type Shortage,
} from './budgets.ts'
import { createQueryCache } from './compiled.ts'

const compiled = createQueryCache()

export class Reservations {
  readonly #db: Db
  readonly #nodeId: string
  readonly #batches = batchWrites((requests: ReservationRequest[]) => this.#reserveAll(requests))

  constructor(db: Db, nodeId: string) {
    this.#db = db
    this.#nodeId = nodeId
  }

  async reserve(request: ReservationRequest): Promise<ReservationResult> {
    try {
      return await this.#batches.add(request)
    } catch (error) {
      if (databaseFailure(error) !== null) throw error
      // One faulty request must not fail the others of its batch.
      const [result] = await this.#reserveAll([request])
      return result as ReservationResult
    }
  }

  #reserveAll(requests: ReservationRequest[]): Promise<ReservationResult[]> {
    return retryDeadlocks(() =>
      commitAsync(this.#db, async (run) => {
        const tx = { db: this.#db, run }
        const results = new Map<ReservationRequest, ReservationResult>()
        // Sorted, so that all nodes lock rows in the same order.
        for (const request of requests.toSorted((a, b) => (a.userId < b.userId ? -1 : 1)))
          results.set(request, await this.#reserveOne(tx, request))
        const all = requests.map((request) => results.get(request) as ReservationResult)
        const reserved = all.flatMap((result) => (result.is === 'reserved' ? [result.held] : []))
        if (reserved.length > 0) await run(insertRows(this.#db, this.#nodeId, reserved))
        return all
      }),
    )
  }

  #reserveOne(tx: BudgetTx, request: ReservationRequest): Promise<ReservationResult> {
    return reserveFitting(
      request,
      (held) => reserveOnAll(tx, request, held),
      (shortage) => alertOnRefusal(tx, request, shortage),
    )
  }
}

/** Reserves the amounts on all budgets, or on none. */
async function reserveOnAll(
  tx: BudgetTx,
  request: ReservationRequest,
  held: Held,
): Promise<Shortage | null> {
  for (const [index, limit] of request.limits.entries()) {
    const shortage = await reserveOnOne(tx, request, held, limit)
    if (shortage === null) continue
    const used = { tokens: 0, nanos: 0 }
    for (const { userId, scope, period } of held.budgets.slice(0, index))
      await tx.run(
        changeBudget(tx.db, { userId, scope, periods: [period], used, freed: held }, false),
      )
    return shortage
  }
  return null
}

async function reserveOnOne(
  tx: BudgetTx,
  request: ReservationRequest,
  held: Held,
  limit: BudgetLimit,
): Promise<Shortage | null> {
  const budget = { userId: request.userId, scope: limit.scope, period: limit.name }
  if (await reserveBudget(tx, budget, held, limit)) return null
  let row = await lockBudget(tx, request.userId, limit)
  if (row === undefined) {
    await openBudget(tx, request, limit)
    if (await reserveBudget(tx, budget, held, limit)) return null
    row = await lockBudget(tx, request.userId, limit)
  }
  if (row === undefined) throw new Error('a budget was removed while a call reserved it')
  return findShortage(request, limit, row)
}

/** Reads and locks the row, so that it does not change before the end of the transaction. */
async function lockBudget(
  { db, run }: BudgetTx,
  userId: string,
  { scope, name: period }: BudgetLimit,
): Promise<BudgetRow | undefined> {
  const query = compiled(db, 'lock', [userId, scope, period], () =>
    forUpdate(
      db,
      db
        .selectFrom('usage_budgets')
        .select(['used_tokens', 'used_nanos', 'reserved_tokens', 'reserved_nanos'])
        .select(['alerted_nanos', 'alerted_limit_nanos'])
        .where('user_id', '=', userId)
        .where('scope', '=', scope)
        .where('period', '=', period),
    ),
  )
  return (await run(query)).rows[0] as BudgetRow | undefined
}

function insertRows(db: Db, nodeId: string, reserved: readonly Held[]): CompiledQuery {
  const rows = reserved.map(({ userId, id, budgets, tokens, nanos }) => {
    const budgets_json = budgets.map(({ scope, period }) => ({ scope, period }))
    return { user_id: userId, id, node_id: nodeId, budgets_json, tokens, nanos }
  })
  return compiled(db, `insert:${rows.length}`, rows.flatMap(Object.values), () =>
    db.insertInto('usage_reservations').values(rows),
  )
}

type ReservationRow = {
  user_id: string
  id: string
  budgets_json: { scope: string; period: string }[]
  tokens: number
  nanos: number
}

function readRow({ user_id: userId, id, budgets_json, tokens, nanos }: ReservationRow): Held {
  const budgets = budgets_json.map((budget) => ({ userId, ...budget }))
  return { userId, id, budgets, tokens: Number(tokens), nanos: Number(nanos) }
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
    const text = sql`
      delete from usage_reservations where (user_id, id) in (values ${sql.join(values)})
      returning user_id, id, budgets_json, tokens, nanos`
    return { compile: () => text.compile(db) }
  })
  return ((await run(query)).rows as ReservationRow[]).map(readRow)
}

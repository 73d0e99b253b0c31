/**
 * Reservations that processes share: a sum in each budget's row, and one row per call, with which another
 * node can release the reservations of a dead node. Removing the row of a call twice releases its
 * amounts once.
 */
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import { databaseFailure } from '#platform/db/failures.ts'
import type { Tables } from '#platform/db/tables.ts'
import { batchWrites } from '#platform/db/write-batching.ts'
import { alertOnRefusal } from './alerts.ts'
import {
  type Amounts,
  addReserved,
  type BudgetTx,
  type Held,
  openBudgets,
  retryDeadlocks,
} from './budgets.ts'
import { createQueryCache } from './compiled.ts'
import {
  fitRequest,
  NO_AMOUNTS,
  type Request,
  type ReservationResult,
  type Reservations,
} from './reservations.ts'

const compiled = createQueryCache()

export class SharedReservations implements Reservations {
  readonly #db: Db
  readonly #nodeId: string
  readonly #batches = batchWrites((requests: Request[]) => this.#reserveAll(requests))

  constructor(db: Db, nodeId: string) {
    this.#db = db
    this.#nodeId = nodeId
  }

  async reserve(request: Request): Promise<ReservationResult> {
    try {
      return await this.#batches.add(request)
    } catch (error) {
      if (databaseFailure(error) !== null) throw error
      // One faulty request must not fail the others of its batch.
      const [result] = await this.#reserveAll([request])
      return result as ReservationResult
    }
  }

  /** The settlement has removed the rows. */
  release(): void {}

  readUnwritten = () => NO_AMOUNTS

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
  const sum: Amounts = { tokens: 0, nanos: 0 }
  for (const request of group) {
    const { result, refusal } = fitRequest(request, budgets)
    results.set(request, result)
    if (refusal !== null) await alertOnRefusal(tx, request, refusal)
    if (result.is !== 'reserved' || result.held === null) continue
    const { tokens, nanos } = result.held
    sum.tokens += tokens
    sum.nanos += nanos
    for (const budget of budgets) {
      budget.reserved_tokens += tokens
      budget.reserved_nanos += nanos
    }
  }
  if (sum.tokens > 0 || sum.nanos > 0) await tx.run(addReserved(tx.db, first, sum))
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

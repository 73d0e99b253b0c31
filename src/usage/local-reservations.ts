/**
 * Reservations in memory, where no other process uses the database: a call needs no transaction before
 * it starts. The budgets' rows have the used amounts. When the process dies, its calls end, and their
 * reservations with them.
 */
import './tables.ts'
import { LRUCache } from 'lru-cache'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { alertOnRefusal } from './alerts.ts'
import {
  type Amounts,
  BUDGET_COLUMNS,
  type Budget,
  type BudgetChange,
  type BudgetRow,
  type Held,
  openBudgets,
} from './budgets.ts'
import {
  fitRequest,
  NO_AMOUNTS,
  type Request,
  type ReservationResult,
  type Reservations,
} from './reservations.ts'

/** The number of rows that stay in memory until they change. */
const ROWS_MAX = 10_000

export class LocalReservations implements Reservations {
  readonly #db: Db
  readonly #rows = new LRUCache<string, BudgetRow>({ max: ROWS_MAX })
  /** By the id of the call. */
  readonly #held = new Map<string, Held>()
  /** The sum of `#held` on each budget. */
  readonly #reserved = new Map<string, Amounts>()

  constructor(db: Db) {
    this.#db = db
  }

  async reserve(request: Request): Promise<ReservationResult> {
    const { limits } = request
    let budgets = this.#readBudgets(request)
    while (budgets === null) {
      await commitAsync(this.#db, (run) => openBudgets({ db: this.#db, run }, request, limits))
      budgets = this.#readBudgets(request)
    }
    const { result, refusal } = fitRequest(request, budgets)
    // Before anything awaits, so that no other request reads these budgets in between.
    if (result.is === 'reserved' && result.held !== null) {
      this.#held.set(request.id, result.held)
      this.#addAmounts(result.held, 1)
    }
    if (refusal !== null) {
      await commitAsync(this.#db, (run) => alertOnRefusal({ db: this.#db, run }, request, refusal))
      this.#rows.delete(nameBudget(request.userId, '', refusal.limit.name))
    }
    return result
  }

  release(ids: readonly string[], changed: readonly BudgetChange[]): void {
    for (const { userId, scope, periods } of changed)
      for (const period of periods) this.#rows.delete(nameBudget(userId, scope, period))
    for (const id of ids) {
      const held = this.#held.get(id)
      if (held !== undefined) this.#addAmounts(held, -1)
      this.#held.delete(id)
    }
  }

  readUnwritten(userId: string, { scope, period }: Budget): Amounts {
    return this.#reserved.get(nameBudget(userId, scope, period)) ?? NO_AMOUNTS
  }

  /** Returns null while a budget has no row. */
  #readBudgets({ userId, limits }: Request): BudgetRow[] | null {
    const budgets: BudgetRow[] = []
    for (const { scope, name: period } of limits) {
      const name = nameBudget(userId, scope, period)
      const row = this.#rows.get(name) ?? readBudget(this.#db, userId, scope, period)
      if (row === undefined) return null
      this.#rows.set(name, row)
      const { tokens, nanos } = this.#reserved.get(name) ?? NO_AMOUNTS
      budgets.push({ ...row, reserved_tokens: tokens, reserved_nanos: nanos })
    }
    return budgets
  }

  #addAmounts({ userId, budgets, tokens, nanos }: Held, sign: 1 | -1): void {
    for (const { scope, period } of budgets) {
      const name = nameBudget(userId, scope, period)
      const before = this.#reserved.get(name) ?? NO_AMOUNTS
      const sum = { tokens: before.tokens + sign * tokens, nanos: before.nanos + sign * nanos }
      if (sum.tokens === 0 && sum.nanos === 0) this.#reserved.delete(name)
      else this.#reserved.set(name, sum)
    }
  }
}

const nameBudget = (userId: string, scope: string, period: string) => `${userId}|${scope}|${period}`

const readRow = prepared<BudgetRow>(
  (db) =>
    db
      .selectFrom('usage_budgets')
      .select(BUDGET_COLUMNS)
      .where('user_id', '=', '')
      .where('scope', '=', '')
      .where('period', '=', ''),
  3,
)

/** SQLite answers at once. */
const readBudget = (...args: Parameters<typeof readRow>) =>
  readRow(...args) as BudgetRow | undefined

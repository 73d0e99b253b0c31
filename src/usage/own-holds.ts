// What is used of budgets, and what running calls hold of them, where one process has the database to itself: in memory, so that a
// claim costs neither a transaction nor a read, and what a process held is nobody's once it is gone.
// The trap: a figure changes with the commit of what it counts and by nothing else, and between judging it and holding nothing may
// be awaited.
import './tables.ts'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import { prepared } from '#platform/db/prepared.ts'
import { alertOfRefusal } from './alerts.ts'
import {
  type Amounts,
  amountsOf,
  type Budget,
  type BudgetAnswer,
  type BudgetClaim,
  type BudgetLimit,
  claimOne,
  type Granted,
  granted,
  NO_LIMIT,
  openPeriod,
  type Refusal,
  refusalOf,
} from './budgets.ts'
import type { Counted } from './settlements.ts'

export type OwnHolds = {
  /** Without a turn of the queue; null where `reserve` has more to do or to say. */
  reserveAtOnce(claim: BudgetClaim): Granted | null
  reserve(claim: BudgetClaim): Promise<BudgetAnswer>
  /** After what the call used is counted: meanwhile it may count twice, and never not at all. */
  release(granted: Granted): void
  /** With the commit. */
  counted(changes: readonly Counted[]): void
  /** Something else has counted: what is used is read again. */
  forget(): void
  /** `period` by its name. */
  heldOf(userId: string, scope: string, period: string): Amounts
}

/** Budgets whose use is remembered, and for how long: whoever else writes their rows is followed then. */
const USED_MAX = 10_000
const USED_MS = 1_000
const NOTHING: Amounts = { tokens: 0, nanos: 0 }

/** @param db an embedded one, which answers a read at once. */
export function createOwnHolds(db: Db): OwnHolds {
  const held = new Map<string, Amounts>()
  const used = new Map<string, Amounts & { untilMs: number }>()
  const nameOf = (userId: string, scope: string, period: string) => `${userId}|${scope}|${period}`
  const heldOf = (userId: string, scope: string, period: string) =>
    held.get(nameOf(userId, scope, period)) ?? NOTHING
  const change = (
    userId: string,
    scope: string,
    period: string,
    { tokens, nanos }: Amounts,
    sign: 1 | -1,
  ) => {
    const name = nameOf(userId, scope, period)
    const before = held.get(name) ?? NOTHING
    const after = { tokens: before.tokens + sign * tokens, nanos: before.nanos + sign * nanos }
    if (after.tokens === 0 && after.nanos === 0) held.delete(name)
    else held.set(name, after)
  }

  /** @returns the limit whose period nobody has claimed from, which is to be opened first. */
  const takeNow = (
    claim: BudgetClaim,
    amounts: Amounts,
  ): { refusal: Refusal | null } | { unopened: BudgetLimit } => {
    const { userId, limits } = claim
    const nowMs = performance.now()
    for (const limit of limits) {
      const name = nameOf(userId, limit.scope, limit.name)
      const { tokens, nanos } = held.get(name) ?? NOTHING
      const fits = (known: Amounts) =>
        known.tokens + tokens + amounts.tokens <= (limit.tokens ?? NO_LIMIT) &&
        known.nanos + nanos + amounts.nanos <= (limit.nanos ?? NO_LIMIT)
      const known = used.get(name)
      if (known !== undefined && known.untilMs > nowMs && fits(known)) continue
      // Nobody is refused on a remembered figure.
      const row = readUsed(db, userId, limit.scope, limit.name) as Used | undefined
      if (row === undefined) return { unopened: limit }
      const read = { tokens: row.used_tokens, nanos: row.used_nanos, untilMs: nowMs + USED_MS }
      if (used.size >= USED_MAX) used.clear()
      used.set(name, read)
      if (!fits(read)) {
        return {
          refusal: refusalOf(claim, limit, {
            ...row,
            reserved_tokens: tokens,
            reserved_nanos: nanos,
          }),
        }
      }
    }
    for (const { scope, name } of limits) change(userId, scope, name, amounts, 1)
    return { refusal: null }
  }

  const take = async (claim: BudgetClaim, amounts: Amounts): Promise<Refusal | null> => {
    for (let left = claim.limits.length; ; left--) {
      const taken = takeNow(claim, amounts)
      if ('refusal' in taken) return taken.refusal
      if (left === 0) throw new Error('a budget has gone while it was claimed')
      await commitAsync(db, (run) => openPeriod({ db, run }, claim, taken.unopened))
    }
  }

  return {
    reserveAtOnce(claim) {
      const { completionTokens } = claim
      try {
        const taken = takeNow(claim, amountsOf(claim, completionTokens))
        return 'refusal' in taken && taken.refusal === null
          ? granted(claim, completionTokens)
          : null
      } catch {
        // The database cannot be read: `reserve` fails of it.
        return null
      }
    },
    reserve: (claim) =>
      claimOne(claim, take, (refusal) =>
        commitAsync(db, (run) => alertOfRefusal({ db, run }, claim, refusal)),
      ),
    release({ userId, budgets, tokens, nanos }) {
      for (const { scope, name } of budgets) change(userId, scope, name, { tokens, nanos }, -1)
    },
    counted(changes) {
      for (const change of changes) {
        for (const period of change.names) {
          const known = used.get(nameOf(change.userId, change.scope, period))
          if (known === undefined) continue
          known.tokens += change.usedTokens
          known.nanos += change.usedNanos
        }
      }
    },
    forget: () => used.clear(),
    heldOf,
  }
}

type Used = Omit<Budget, 'reserved_tokens' | 'reserved_nanos'>

const readUsed = prepared<Used>(
  (db) =>
    db
      .selectFrom('usage_budgets')
      .select(['used_tokens', 'used_nanos', 'alerted_nanos', 'alerted_limit_nanos'])
      .where('user_id', '=', '')
      .where('scope', '=', '')
      .where('period', '=', ''),
  3,
)

// Budgets in tokens and in dollars, of a user or of one of its keys: what is reserved and what is used never exceed a limit.
// A claim that does not fit because others still run waits for them, and the last of a budget goes to a shorter answer; so
// nothing is refused while something is left, and nothing is spent that is not there.
import './tables.ts'
import { type CompiledQuery, type QueryResult, sql } from 'kysely'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import type { Run } from '#platform/db/async-commit.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { alertDue, looked, NEARLY, needsLook, toldNanos } from './alerts.ts'
import { compiledQueries } from './compiled.ts'
import { type Period, periodsAt, spanAt } from './periods.ts'
import { nanosOf, type UsageRecord } from './record.ts'
import { usedIn } from './store.ts'

/** A transaction: `db` builds its queries. */
export type BudgetTx = { db: Db; run: Run }

/** What may be used in a period. `scope` is '' for the user, or the id of a key; null: no limit in this unit. */
export type BudgetLimit = { scope: string; period: Period; tokens: number | null; nanos: number | null }

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
  /** Asked again for less where it does not fit: its refusal is no news, and it waits for nobody. */
  isTrial?: boolean | undefined
}

/** What a claim holds, on each of its budgets. */
export type Granted = {
  userId: string
  at: Instant
  budgets: { scope: string; period: Period }[]
  tokens: number
  nanos: number
  completionTokens: number
}

export type Unit = 'tokens' | 'nanos'
/** `wait`: it may fit when a running call of this scope ends. */
export type BudgetAnswer =
  | { is: 'granted'; granted: Granted }
  | { is: 'wait'; scope: string }
  | { is: 'exhausted'; scope: string; period: Period; unit: Unit }

const compiled = compiledQueries()

/** Answers in the claims' order. */
export async function reserveAll(tx: BudgetTx, nodeId: string, claims: BudgetClaim[]): Promise<BudgetAnswer[]> {
  const [only] = claims
  if (only !== undefined && claims.length === 1) return [await reserveOne(tx, nodeId, only)]
  const answers: BudgetAnswer[] = []
  for (const entries of groupsOf(claims)) {
    const [first] = entries
    if (first === undefined) continue
    if (entries.length > 1) {
      const all = { tokens: 0, nanos: 0 }
      for (const { claim } of entries) {
        const { tokens, nanos } = amountsOf(claim, claim.completionTokens)
        all.tokens += tokens
        all.nanos += nanos
      }
      if ((await take(tx, nodeId, first.claim, all)) === null) {
        for (const { index, claim } of entries) {
          answers[index] = { is: 'granted', granted: granted(claim, claim.completionTokens) }
        }
        continue
      }
    }
    // Together they do not fit: one by one, first come, first served.
    let refused: { claim: BudgetClaim; answer: BudgetAnswer } | null = null
    for (const { index, claim } of entries) {
      // A crowd that asks for the same waits for the same: only its first is worth a look.
      const answer: BudgetAnswer =
        refused !== null && isAlike(refused.claim, claim) ? refused.answer : await reserveOne(tx, nodeId, claim)
      answers[index] = answer
      if (answer.is !== 'granted') refused = { claim, answer }
    }
  }
  return answers
}

/** Claims on the same budgets, in their order. */
function groupsOf(claims: BudgetClaim[]) {
  const groups = new Map<string, { index: number; claim: BudgetClaim }[]>()
  claims.forEach((claim, index) => {
    let name = `${claim.userId}|${claim.at.slice(0, 10)}`
    for (const { scope, period, tokens, nanos } of claim.limits) name += `|${scope}/${period}:${tokens}:${nanos}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [{ index, claim }])
    else group.push({ index, claim })
  })
  // Sorted, so that two nodes lock rows in one order.
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entries]) => entries)
}

function isAlike(a: BudgetClaim, b: BudgetClaim): boolean {
  return (
    a.promptTokens === b.promptTokens &&
    a.promptNanos === b.promptNanos &&
    a.tokenNanos === b.tokenNanos &&
    a.completionTokens === b.completionTokens &&
    a.completionTokensMin === b.completionTokensMin &&
    a.isTrial === b.isTrial
  )
}

async function reserveOne(tx: BudgetTx, nodeId: string, claim: BudgetClaim): Promise<BudgetAnswer> {
  const least = claim.completionTokensMin ?? claim.completionTokens
  for (let completionTokens = claim.completionTokens; ; ) {
    const refusal = await take(tx, nodeId, claim, amountsOf(claim, completionTokens))
    if (refusal === null) return { is: 'granted', granted: granted(claim, completionTokens) }
    const { scope, period, unit, fit, isHeldByOthers } = refusal
    if (claim.isTrial && fit < least) return { is: 'exhausted', scope, period, unit }
    if (isHeldByOthers && fit < least) return { is: 'wait', scope }
    if (fit < Math.min(1, claim.completionTokens)) {
      if (scope === '' && unit === 'nanos') await alertOfRefusal(tx, claim, refusal)
      return { is: 'exhausted', scope, period, unit }
    }
    // Who set no limit gets half of what is left, so that the next finds something, too.
    if (fit < completionTokens) completionTokens = Math.min(fit, Math.max(least, Math.floor(fit / 2)))
  }
}

function amountsOf({ promptTokens, promptNanos, tokenNanos }: BudgetClaim, completionTokens: number) {
  // A caller may ask for any number; more than a column holds is refused by every budget all the same.
  return {
    tokens: Math.min(NO_LIMIT, promptTokens + completionTokens),
    nanos: Math.min(NO_LIMIT, promptNanos + Math.ceil(completionTokens * tokenNanos)),
  }
}

function granted(claim: BudgetClaim, completionTokens: number): Granted {
  const { userId, at, limits } = claim
  return { userId, at, budgets: limits, ...amountsOf(claim, completionTokens), completionTokens }
}

/** `fit`: the tokens of an answer that what is left would hold; below nothing where it does not even hold the prompt. */
type Refusal = { scope: string; period: Period; unit: Unit; fit: number; isHeldByOthers: boolean } & Watched & {
    nanosMax: number | null
  }
type Amounts = { tokens: number; nanos: number }

/**
 * One conditional update for each budget: with several all or none is taken.
 * @returns null when taken, else what the first budget that refused looked like.
 */
async function take(tx: BudgetTx, nodeId: string, claim: BudgetClaim, amounts: Amounts): Promise<Refusal | null> {
  const { userId, at, limits } = claim
  const periods = periodsAt(at)
  for (const [index, limit] of limits.entries()) {
    const refusal = await takeOne(tx, claim, limit, amounts)
    if (refusal === null) continue
    for (const { scope, period } of limits.slice(0, index)) {
      await tx.run(giveBackOf(tx.db, { userId, scope, period: periods[period], ...amounts }))
    }
    return refusal
  }
  for (const { scope, period } of limits) {
    const row = { node_id: nodeId, user_id: userId, scope, period: periods[period], ...amounts }
    await tx.run(ownOf(tx.db, row))
  }
  return null
}

/** @returns null when taken. */
async function takeOne(
  tx: BudgetTx,
  claim: BudgetClaim,
  limit: BudgetLimit,
  amounts: Amounts,
): Promise<Refusal | null> {
  const query = takeOf(tx.db, claim.userId, limit.scope, periodsAt(claim.at)[limit.period], limit, amounts)
  if (hasChanged(await tx.run(query))) return null
  const row = await readBudget(tx, claim, limit)
  if (row !== null) return refusalOf(claim, limit, row)
  await openPeriod(tx, claim, limit)
  if (hasChanged(await tx.run(query))) return null
  const opened = await readBudget(tx, claim, limit)
  if (opened === null) throw new Error('a budget has gone while it was claimed')
  return refusalOf(claim, limit, opened)
}

function hasChanged({ numAffectedRows = 0n }: QueryResult<unknown>): boolean {
  return numAffectedRows > 0n
}

/** Beyond every sum that a double holds. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER

function takeOf(
  db: Db,
  userId: string,
  scope: string,
  period: string,
  { tokens: tokensMax, nanos: nanosMax }: Pick<BudgetLimit, 'tokens' | 'nanos'>,
  { tokens, nanos }: Amounts,
): CompiledQuery {
  const [most, dearest] = [tokensMax ?? NO_LIMIT, nanosMax ?? NO_LIMIT]
  const parameters = [tokens, nanos, userId, scope, period, tokens, most, nanos, dearest]
  return compiled(db, 'take', parameters, () =>
    db
      .updateTable('usage_budgets')
      .set({
        reserved_tokens: sql`reserved_tokens + ${tokens}`,
        reserved_nanos: sql`reserved_nanos + ${nanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', period)
      .where(sql<boolean>`used_tokens + reserved_tokens + ${tokens} <= ${most}`)
      .where(sql<boolean>`used_nanos + reserved_nanos + ${nanos} <= ${dearest}`),
  )
}

/** A period's first claim: what was used without a budget counts, too. */
async function openPeriod({ db, run }: BudgetTx, { userId, at }: BudgetClaim, limit: BudgetLimit): Promise<void> {
  const { scope } = limit
  const period = periodsAt(at)[limit.period]
  const opened = await run(
    db
      .insertInto('usage_budgets')
      .values({
        ...{ user_id: userId, scope, period },
        ...{ used_tokens: 0, used_nanos: 0, reserved_tokens: 0, reserved_nanos: 0 },
        ...{ alerted_nanos: 0, alerted_limit_nanos: 0 },
      })
      .onConflict((conflict) => conflict.columns(['user_id', 'scope', 'period']).doNothing())
      .compile(),
  )
  if (!hasChanged(opened)) return
  const used = await usedIn({ db, run }, userId, scope === '' ? null : scope, spanAt(limit.period, at))
  await run(
    db
      .updateTable('usage_budgets')
      .set({ used_tokens: used.tokens, used_nanos: used.nanos })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', period)
      .compile(),
  )
  // No call runs that long: nobody counts on them any more.
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

/** What an alert goes by. */
type Watched = Pick<Tables['usage_budgets'], 'used_nanos' | 'alerted_nanos' | 'alerted_limit_nanos'>
type Budget = Pick<Tables['usage_budgets'], 'used_tokens' | 'reserved_tokens' | 'reserved_nanos'> & Watched

/** Locked, so that what is decided on it holds. */
async function readBudget({ db, run }: BudgetTx, claim: BudgetClaim, limit: BudgetLimit): Promise<Budget | null> {
  const parameters = [claim.userId, limit.scope, periodsAt(claim.at)[limit.period]] as const
  const [userId, scope, period] = parameters
  const query = compiled(db, 'read', [...parameters], () =>
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
  return ((await run(query)).rows[0] as Budget | undefined) ?? null
}

function refusalOf(claim: BudgetClaim, { scope, period, tokens, nanos }: BudgetLimit, row: Budget): Refusal {
  const { promptTokens, promptNanos, tokenNanos } = claim
  const tokensLeft = (tokens ?? NO_LIMIT) - row.used_tokens - row.reserved_tokens - promptTokens
  const nanosLeft = (nanos ?? NO_LIMIT) - row.used_nanos - row.reserved_nanos - promptNanos
  let dollarsFit = nanosLeft < 0 ? -1 : tokenNanos === 0 ? NO_LIMIT : Math.floor(nanosLeft / tokenNanos)
  // A claim is rounded up: what does not fit that way would be asked for without end.
  if (dollarsFit > 0 && Math.ceil(dollarsFit * tokenNanos) > nanosLeft) dollarsFit--
  const unit = dollarsFit < tokensLeft ? 'nanos' : 'tokens'
  const held = unit === 'nanos' ? row.reserved_nanos : row.reserved_tokens
  const { used_nanos, alerted_nanos, alerted_limit_nanos } = row
  const fit = Math.min(dollarsFit, tokensLeft)
  const watched = { used_nanos, alerted_nanos, alerted_limit_nanos }
  return { scope, period, unit, fit, isHeldByOthers: held > 0, ...watched, nanosMax: nanos }
}

/** The plan's dollars do not hold this call, and most of them are used: they are used up. */
async function alertOfRefusal(tx: BudgetTx, { userId, at }: BudgetClaim, refusal: Refusal): Promise<void> {
  const { nanosMax, used_nanos: usedNanos } = refusal
  if (nanosMax === null || usedNanos < nanosMax * NEARLY || toldOf(nanosMax, refusal) >= nanosMax) return
  await writeAlert(tx, { userId, at, percent: 100, atNanos: nanosMax, limitNanos: nanosMax, usedNanos })
}

function toldOf(limitNanos: number, { alerted_nanos, alerted_limit_nanos }: Watched): number {
  return toldNanos(limitNanos, { nanos: alerted_nanos, limitNanos: alerted_limit_nanos })
}

type NewAlert = {
  userId: string
  at: Instant
  percent: number
  atNanos: number
  limitNanos: number
  usedNanos: number
}

/** Once: whoever comes second finds it told. */
async function writeAlert({ db, run }: BudgetTx, alert: NewAlert): Promise<void> {
  const { userId, at, percent, atNanos, limitNanos, usedNanos } = alert
  const period = periodsAt(at).month
  const marked = await run(
    db
      .updateTable('usage_budgets')
      .set({ alerted_nanos: atNanos, alerted_limit_nanos: limitNanos })
      .where('user_id', '=', userId)
      .where('scope', '=', '')
      .where('period', '=', period)
      .where((e) => e.or([e('alerted_nanos', '<', atNanos), e('alerted_limit_nanos', '>', limitNanos)]))
      .compile(),
  )
  if (!hasChanged(marked)) return
  const amounts = { limit_nanos: limitNanos, used_nanos: usedNanos }
  await run(
    db
      .insertInto('usage_alerts')
      .values({ user_id: userId, period, percent, ...amounts, created_at: at, sent_at: null })
      .onConflict((conflict) => conflict.doNothing())
      .compile(),
  )
}

/** Whose reservation it is, so that those of a node that died can be given back. */
function ownOf(db: Db, row: { node_id: string; user_id: string; scope: string; period: string } & Amounts) {
  return compiled(db, 'own', Object.values(row), () =>
    db
      .insertInto('usage_reservations')
      .values(row)
      .onConflict((conflict) =>
        conflict.columns(['node_id', 'user_id', 'scope', 'period']).doUpdateSet({
          tokens: sql`usage_reservations.tokens + excluded.tokens`,
          nanos: sql`usage_reservations.nanos + excluded.nanos`,
        }),
      ),
  )
}

/** Gives reservations back and counts what was used, also of calls that ran without a budget. */
export async function settleBudgets(tx: BudgetTx, nodeId: string, settled: Settlement[]): Promise<void> {
  for (const change of changesOf(settled)) {
    const isFreed = change.freedTokens > 0 || change.freedNanos > 0
    if (isFreed && !hasChanged(await tx.run(giveBackOwnOf(tx.db, nodeId, change))))
      await freeWhatIsLeft(tx, nodeId, change)
    const { rows } = await tx.run(settleOf(tx.db, change))
    const [budget] = rows as Watched[]
    if (budget !== undefined) await alertOfUse(tx, change, budget)
  }
}

/**
 * Of a node that was taken for dead: what it held then has been given back already, what it holds since has not. Which is
 * whose, nobody knows any more; so as much is freed as it still holds, and nothing stays behind when its last call has ended.
 */
async function freeWhatIsLeft({ db, run }: BudgetTx, nodeId: string, change: Change): Promise<void> {
  const query = forUpdate(
    db,
    db
      .selectFrom('usage_reservations')
      .select(['tokens', 'nanos'])
      .where('node_id', '=', nodeId)
      .where('user_id', '=', change.userId)
      .where('scope', '=', change.scope)
      .where('period', '=', periodsAt(change.at)[change.period ?? 'month']),
  )
  const own = (await run(query.compile())).rows[0]
  change.freedTokens = Math.min(change.freedTokens, Number(own?.tokens ?? 0))
  change.freedNanos = Math.min(change.freedNanos, Number(own?.nanos ?? 0))
  if (own !== undefined) await run(giveBackOwnOf(db, nodeId, change))
}

/** `allowanceNanos`: what the plan of the record's user has in a month; null or left out: no limit. */
export type Settlement = { granted: Granted | null; record: UsageRecord | null; allowanceNanos?: number | null }

/** `period`: the one that is changed; of a key's use, which may be limited in any of them, null. */
type Change = {
  userId: string
  scope: string
  at: Instant
  period: Period | null
  usedTokens: number
  usedNanos: number
  freedTokens: number
  freedNanos: number
  /** Of the user's own budget, where their plan has a limit in dollars. */
  allowanceNanos: number | null
}

/** Sorted, so that two nodes lock rows in one order. */
function changesOf(settled: Settlement[]): Change[] {
  const changes = new Map<string, Change>()
  const changeOf = (userId: string, scope: string, at: Instant, period: Period | null) => {
    const name = `${userId}|${scope}|${period === null ? at.slice(0, 10) : periodsAt(at)[period]}`
    let change = changes.get(name)
    if (change === undefined) {
      const none = { usedTokens: 0, usedNanos: 0, freedTokens: 0, freedNanos: 0, allowanceNanos: null }
      change = { userId, scope, at, period, ...none }
      changes.set(name, change)
    }
    return change
  }
  for (const { granted: grant, record, allowanceNanos = null } of settled) {
    if (record) {
      const tokens = record.promptTokens + record.completionTokens
      // Plans' budgets are monthly.
      const own = changeOf(record.userId, '', record.startedAt, 'month')
      own.allowanceNanos = allowanceNanos
      const all = [own]
      if (record.keyId !== null) all.push(changeOf(record.userId, record.keyId, record.startedAt, null))
      for (const change of all) {
        change.usedTokens += tokens
        change.usedNanos += nanosOf(record.costUsd)
      }
    }
    if (!grant) continue
    for (const { scope, period } of grant.budgets) {
      const change = changeOf(grant.userId, scope, grant.at, period)
      change.freedTokens += grant.tokens
      change.freedNanos += grant.nanos
    }
  }
  if (changes.size === 1) return [...changes.values()]
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, change]) => change)
}

function giveBackOwnOf(db: Db, nodeId: string, { userId, scope, at, period, freedTokens, freedNanos }: Change) {
  const name = periodsAt(at)[period ?? 'month']
  const parameters = [freedTokens, freedNanos, nodeId, userId, scope, name, freedTokens, freedNanos]
  return compiled(db, 'give-back-own', parameters, () =>
    db
      .updateTable('usage_reservations')
      .set({ tokens: sql`tokens - ${freedTokens}`, nanos: sql`nanos - ${freedNanos}` })
      .where('node_id', '=', nodeId)
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', name)
      .where('tokens', '>=', freedTokens)
      .where('nanos', '>=', freedNanos),
  )
}

/** Gives the row back where an alert may be due. */
function settleOf(db: Db, { userId, scope, at, period, ...change }: Change): CompiledQuery {
  const { usedTokens, usedNanos, freedTokens, freedNanos } = change
  const isWatched =
    change.allowanceNanos !== null && usedNanos > 0 && needsLook(userId, change.allowanceNanos, usedNanos)
  const { day, week, month } = periodsAt(at)
  const names = period === null ? [day, week, month] : [periodsAt(at)[period]]
  const parameters = [usedTokens, usedNanos, freedTokens, freedNanos, userId, scope, ...names]
  return compiled(db, `settle:${names.length}${isWatched ? ':watched' : ''}`, parameters, () => {
    const query = db
      .updateTable('usage_budgets')
      .set({
        used_tokens: sql`used_tokens + ${usedTokens}`,
        used_nanos: sql`used_nanos + ${usedNanos}`,
        reserved_tokens: sql`reserved_tokens - ${freedTokens}`,
        reserved_nanos: sql`reserved_nanos - ${freedNanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', 'in', names)
    return isWatched ? query.returning(['used_nanos', 'alerted_nanos', 'alerted_limit_nanos']) : query
  })
}

async function alertOfUse(tx: BudgetTx, { userId, at, allowanceNanos }: Change, budget: Watched): Promise<void> {
  if (allowanceNanos === null) return
  const { used_nanos: usedNanos } = budget
  const alertedNanos = toldOf(allowanceNanos, budget)
  const due = alertDue(allowanceNanos, usedNanos, alertedNanos)
  looked(userId, allowanceNanos, usedNanos, alertedNanos)
  if (due !== null) await writeAlert(tx, { userId, at, ...due, limitNanos: allowanceNanos, usedNanos })
}

type Held = { userId: string; scope: string; period: string } & Amounts

/** Gives back what was reserved under a period's name. */
export function giveBackOf(db: Db, { userId, scope, period, tokens, nanos }: Held): CompiledQuery {
  return compiled(db, 'give-back', [tokens, nanos, userId, scope, period], () =>
    db
      .updateTable('usage_budgets')
      .set({
        reserved_tokens: sql`reserved_tokens - ${tokens}`,
        reserved_nanos: sql`reserved_nanos - ${nanos}`,
      })
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', period),
  )
}

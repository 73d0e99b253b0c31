// What running calls hold of budgets where several processes share the database: sums in the budgets' rows, and beside them whose
// they are, so that those of a node that died can be given back. A claim is a conditional update, so no limit is passed.
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import { isCluster } from '#platform/db/cluster.ts'
import { type Db, dialectOf, forUpdate } from '#platform/db/db.ts'
import { alertOfRefusal } from './alerts.ts'
import {
  type Amounts,
  amountsOf,
  type Budget,
  type BudgetAnswer,
  type BudgetClaim,
  type BudgetLimit,
  type BudgetTx,
  claimOne,
  granted,
  hasChanged,
  NO_LIMIT,
  openPeriod,
  type Refusal,
  refusalOf,
} from './budgets.ts'
import { compiledQueries } from './compiled.ts'

const compiled = compiledQueries()

/** Answers in the claims' order. */
export async function reserveAll(
  tx: BudgetTx,
  nodeId: string,
  claims: BudgetClaim[],
): Promise<BudgetAnswer[]> {
  const [only] = claims
  if (only !== undefined && claims.length === 1) return [await reserveOne(tx, nodeId, only)]
  const answers: BudgetAnswer[] = []
  const groups = groupsOf(claims)
  const taken = await takeTogether(tx, nodeId, groups)
  for (const group of groups) {
    const { entries, first } = group
    const isTaken =
      taken.has(group) ||
      (entries.length > 1 && (await take(tx, nodeId, first, amountsOfAll(group))) === null)
    if (isTaken) {
      for (const { index, claim } of entries) {
        answers[index] = { is: 'granted', granted: granted(claim, claim.completionTokens) }
      }
      continue
    }
    // Together they do not fit: one by one, first come, first served.
    let refused: { claim: BudgetClaim; answer: BudgetAnswer } | null = null
    for (const { index, claim } of entries) {
      // A crowd that asks for the same waits for the same: only its first is worth a look.
      const answer: BudgetAnswer =
        refused !== null && isAlike(refused.claim, claim)
          ? refused.answer
          : await reserveOne(tx, nodeId, claim)
      answers[index] = answer
      if (answer.is !== 'granted') refused = { claim, answer }
    }
  }
  return answers
}

type Group = { first: BudgetClaim; entries: { index: number; claim: BudgetClaim }[] }

/** Claims on the same budgets, in their order. */
function groupsOf(claims: BudgetClaim[]): Group[] {
  const groups = new Map<string, Group>()
  claims.forEach((claim, index) => {
    let name = claim.userId
    for (const { scope, name: period, tokens, nanos } of claim.limits)
      name += `|${scope}/${period}:${tokens}:${nanos}`
    const group = groups.get(name)
    if (group === undefined) groups.set(name, { first: claim, entries: [{ index, claim }] })
    else group.entries.push({ index, claim })
  })
  // Sorted, so that two nodes lock rows in one order.
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}

function amountsOfAll({ entries }: Group): Amounts {
  const all = { tokens: 0, nanos: 0 }
  for (const { claim } of entries) {
    const { tokens, nanos } = amountsOf(claim, claim.completionTokens)
    all.tokens += tokens
    all.nanos += nanos
  }
  return all
}

/**
 * Many users' claims in two statements on a server, where each costs a round trip, as long as each is on one budget alone: of several
 * all or none is taken. Rows are locked in the groups' order. @returns what is taken; what is not may fit in part, or has no row yet.
 */
async function takeTogether(
  tx: BudgetTx,
  nodeId: string,
  groups: Group[],
): Promise<ReadonlySet<Group>> {
  const taken = new Set<Group>()
  if (dialectOf(tx.db) !== 'postgres' || groups.length === 1) return taken
  if (groups.some(({ first }) => first.limits.length !== 1)) return taken
  if (await isCluster(tx.db, tx.run)) return taken
  // One row is changed once in a statement: of a user's groups (two limits of one budget, two days) the later come after it.
  const asked = new Map<string, Group>()
  const rows: (BudgetName & Amounts & { n: number; most: number; dearest: number })[] = []
  for (const group of groups) {
    const { first } = group
    const [limit] = first.limits
    if (limit === undefined) continue
    const row = { user_id: first.userId, scope: limit.scope, period: limit.name }
    const name = nameOf(row)
    if (asked.has(name)) continue
    asked.set(name, group)
    const most = { most: limit.tokens ?? NO_LIMIT, dearest: limit.nanos ?? NO_LIMIT }
    rows.push({ n: rows.length, ...row, ...amountsOfAll(group), ...most })
  }
  const changed = await tx.run(takeManyOf(tx.db, rows))
  for (const row of changed.rows as BudgetName[]) {
    const group = asked.get(nameOf(row))
    if (group !== undefined) taken.add(group)
  }
  const own = rows.filter((row) => taken.has(asked.get(nameOf(row)) as Group))
  if (own.length > 0) await tx.run(ownManyOf(tx.db, nodeId, own))
  return taken
}

type BudgetName = { user_id: string; scope: string; period: string }
const nameOf = ({ user_id, scope, period }: BudgetName) => `${user_id}|${scope}|${period}`

function takeManyOf(db: Db, rows: object[]): CompiledQuery {
  const json = JSON.stringify(rows)
  const query = sql`
    with locked as materialized (
      select asked.*
      from jsonb_to_recordset(${json}::jsonb) as asked
        (n int, user_id text, scope text, period text, tokens bigint, nanos bigint, most bigint, dearest bigint)
      join usage_budgets using (user_id, scope, period)
      order by n
      for update of usage_budgets
    )
    update usage_budgets as budget
    set reserved_tokens = reserved_tokens + locked.tokens, reserved_nanos = reserved_nanos + locked.nanos
    from locked
    where budget.user_id = locked.user_id and budget.scope = locked.scope and budget.period = locked.period
      and used_tokens + reserved_tokens + locked.tokens <= locked.most
      and used_nanos + reserved_nanos + locked.nanos <= locked.dearest
    returning budget.user_id, budget.scope, budget.period`
  return compiled(db, 'take-many', [json], () => ({ compile: () => query.compile(db) }))
}

function ownManyOf(db: Db, nodeId: string, rows: object[]): CompiledQuery {
  const json = JSON.stringify(rows)
  const query = sql`
    insert into usage_reservations (node_id, user_id, scope, period, tokens, nanos)
    select ${nodeId}, user_id, scope, period, tokens, nanos
    from jsonb_to_recordset(${json}::jsonb) as own
      (user_id text, scope text, period text, tokens bigint, nanos bigint)
    on conflict (node_id, user_id, scope, period) do update
    set tokens = usage_reservations.tokens + excluded.tokens, nanos = usage_reservations.nanos + excluded.nanos`
  return compiled(db, 'own-many', [nodeId, json], () => ({ compile: () => query.compile(db) }))
}

function isAlike(a: BudgetClaim, b: BudgetClaim): boolean {
  return (
    a.promptTokens === b.promptTokens &&
    a.promptNanos === b.promptNanos &&
    a.tokenNanos === b.tokenNanos &&
    a.completionTokens === b.completionTokens &&
    a.completionTokensMin === b.completionTokensMin &&
    a.choices === b.choices &&
    a.isTrial === b.isTrial
  )
}

function reserveOne(tx: BudgetTx, nodeId: string, claim: BudgetClaim): Promise<BudgetAnswer> {
  return claimOne(
    claim,
    (_, amounts) => take(tx, nodeId, claim, amounts),
    (refusal) => alertOfRefusal(tx, claim, refusal),
  )
}

/**
 * One conditional update for each budget: with several all or none is taken.
 * @returns null when taken, else what the first budget that refused looked like.
 */
async function take(
  tx: BudgetTx,
  nodeId: string,
  claim: BudgetClaim,
  amounts: Amounts,
): Promise<Refusal | null> {
  const { userId, limits } = claim
  for (const [index, limit] of limits.entries()) {
    const refusal = await takeOne(tx, claim, limit, amounts)
    if (refusal === null) continue
    for (const { scope, name } of limits.slice(0, index)) {
      await tx.run(giveBackOf(tx.db, { userId, scope, period: name, ...amounts }))
    }
    return refusal
  }
  for (const { scope, name } of limits) {
    const row = { node_id: nodeId, user_id: userId, scope, period: name, ...amounts }
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
  const query = takeOf(tx.db, claim.userId, limit.scope, limit.name, limit, amounts)
  if (hasChanged(await tx.run(query))) return null
  const row = await readBudget(tx, claim, limit)
  if (row !== null) return refusalOf(claim, limit, row)
  await openPeriod(tx, claim, limit)
  if (hasChanged(await tx.run(query))) return null
  const opened = await readBudget(tx, claim, limit)
  if (opened === null) throw new Error('a budget has gone while it was claimed')
  return refusalOf(claim, limit, opened)
}

/** Locked, so that what is decided on it holds. */
async function readBudget(
  { db, run }: BudgetTx,
  claim: BudgetClaim,
  limit: BudgetLimit,
): Promise<Budget | null> {
  const parameters = [claim.userId, limit.scope, limit.name] as const
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

/** Whose reservation it is, so that those of a node that died can be given back. */
function ownOf(
  db: Db,
  row: { node_id: string; user_id: string; scope: string; period: string } & Amounts,
) {
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

/**
 * Gives back what a node held. Where it was taken for dead, that has been done already, and what it holds since has not. Which is
 * whose, nobody knows any more; so as much is freed as it still holds, and nothing stays behind when its last call has ended.
 * @returns what is free by that, and is to be taken from the budget's own sum.
 */
export async function giveBackOwn(
  { db, run }: BudgetTx,
  nodeId: string,
  held: Held,
): Promise<Amounts> {
  if (hasChanged(await run(giveBackOwnOf(db, nodeId, held)))) return held
  const query = forUpdate(
    db,
    db
      .selectFrom('usage_reservations')
      .select(['tokens', 'nanos'])
      .where('node_id', '=', nodeId)
      .where('user_id', '=', held.userId)
      .where('scope', '=', held.scope)
      .where('period', '=', held.period),
  )
  const own = (await run(query.compile())).rows[0]
  const tokens = Math.min(held.tokens, Number(own?.tokens ?? 0))
  const nanos = Math.min(held.nanos, Number(own?.nanos ?? 0))
  if (own !== undefined) await run(giveBackOwnOf(db, nodeId, { ...held, tokens, nanos }))
  return { tokens, nanos }
}

function giveBackOwnOf(db: Db, nodeId: string, { userId, scope, period, tokens, nanos }: Held) {
  const parameters = [tokens, nanos, nodeId, userId, scope, period, tokens, nanos]
  return compiled(db, 'give-back-own', parameters, () =>
    db
      .updateTable('usage_reservations')
      .set({ tokens: sql`tokens - ${tokens}`, nanos: sql`nanos - ${nanos}` })
      .where('node_id', '=', nodeId)
      .where('user_id', '=', userId)
      .where('scope', '=', scope)
      .where('period', '=', period)
      .where('tokens', '>=', tokens)
      .where('nanos', '>=', nanos),
  )
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

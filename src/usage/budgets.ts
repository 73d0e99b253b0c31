// The months' budgets: what is reserved and what is used never exceed the limit together.
// A claim that does not fit because others still run waits for them, and the last tokens of a month go to a shorter answer;
// so nothing is refused while tokens are left, and nothing is spent that is not there.
import './tables.ts'
import { sql } from 'kysely'
import { type Db, forUpdate, transaction, withoutTimeLimit } from '#platform/db/db.ts'
import type { UsageRecord } from './record.ts'
import { monthTokens } from './store.ts'

/** `scope` is '' for the user's budget, or the id of a key with its own. */
export type BudgetLimit = { scope: string; tokens: number }

export type BudgetClaim = {
  userId: string
  month: string
  limits: BudgetLimit[]
  promptTokens: number
  completionTokens: number
  /** So many will do while other calls hold the rest; none fewer than `completionTokens` where it is left out. */
  completionTokensMin?: number | undefined
}

export type Granted = { userId: string; month: string; scopes: string[]; tokens: number }

/** Answers in the claims' order. `wait`: it may fit when a running call ends. */
export async function reserveAll(
  tx: Db,
  nodeId: string,
  claims: BudgetClaim[],
): Promise<(Granted | 'wait' | 'exhausted')[]> {
  const answers: (Granted | 'wait' | 'exhausted')[] = []
  for (const group of groupsOf(claims)) {
    const first = group.claims[0]
    if (first === undefined) continue
    const all = group.claims.reduce((sum, claim) => sum + wanted(claim), 0)
    if (group.claims.length > 1 && (await take(tx, nodeId, first, all)) === null) {
      for (const { index, claim } of group.entries) answers[index] = granted(claim, wanted(claim))
      continue
    }
    // Together they do not fit: one by one, first come, first served.
    for (const { index, claim } of group.entries) answers[index] = await reserveOne(tx, nodeId, claim)
  }
  return answers
}

/** Claims on the same budgets, in their order. */
function groupsOf(claims: BudgetClaim[]) {
  const groups = new Map<string, { claims: BudgetClaim[]; entries: { index: number; claim: BudgetClaim }[] }>()
  claims.forEach((claim, index) => {
    const limits = claim.limits.map(({ scope, tokens }) => `${scope}:${tokens}`).join(',')
    const name = `${claim.userId}|${claim.month}|${limits}`
    const group = groups.get(name) ?? { claims: [], entries: [] }
    group.claims.push(claim)
    group.entries.push({ index, claim })
    groups.set(name, group)
  })
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
}

async function reserveOne(tx: Db, nodeId: string, claim: BudgetClaim): Promise<Granted | 'wait' | 'exhausted'> {
  const refusal = await take(tx, nodeId, claim, wanted(claim))
  if (refusal === null) return granted(claim, wanted(claim))
  const least = claim.promptTokens + (claim.completionTokensMin ?? claim.completionTokens)
  if (refusal.isHeldByOthers && refusal.left < least) return 'wait'
  if (refusal.left <= claim.promptTokens) return 'exhausted'
  // Where nothing else runs, what is left is all there will be; else some is left to the next.
  const tokens = refusal.isHeldByOthers ? least : refusal.left
  const second = await take(tx, nodeId, claim, tokens)
  if (second === null) return granted(claim, tokens)
  return second.isHeldByOthers ? 'wait' : second.left <= claim.promptTokens ? 'exhausted' : 'wait'
}

function wanted(claim: BudgetClaim): number {
  return claim.promptTokens + claim.completionTokens
}

function granted(claim: BudgetClaim, tokens: number): Granted {
  return { userId: claim.userId, month: claim.month, scopes: claim.limits.map(({ scope }) => scope), tokens }
}

type Refusal = { left: number; isHeldByOthers: boolean }

/**
 * The one conditional update of a budget. With several limits all or none is taken.
 * @returns null when taken, else what the first limit that refused looked like.
 */
async function take(tx: Db, nodeId: string, claim: BudgetClaim, tokens: number): Promise<Refusal | null> {
  const taken: BudgetLimit[] = []
  for (const limit of claim.limits) {
    if (await takeOne(tx, claim, limit, tokens)) {
      taken.push(limit)
      continue
    }
    for (const { scope } of taken) await addReserved(tx, claim, scope, -tokens)
    return readRefusal(tx, claim, limit)
  }
  for (const { scope } of claim.limits) await addOwn(tx, nodeId, claim, scope, tokens)
  return null
}

async function takeOne(tx: Db, claim: BudgetClaim, { scope, tokens: limit }: BudgetLimit, tokens: number) {
  const update = () =>
    tx
      .updateTable('usage_budgets')
      .set({ reserved_tokens: sql`reserved_tokens + ${tokens}` })
      .where('user_id', '=', claim.userId)
      .where('month', '=', claim.month)
      .where('scope', '=', scope)
      .where(sql<boolean>`used_tokens + reserved_tokens + ${tokens} <= ${limit}`)
      .executeTakeFirst()

  if ((await update()).numUpdatedRows > 0n) return true
  if (await hasRow(tx, claim, scope)) return false
  await openMonth(tx, claim, scope)
  return (await update()).numUpdatedRows > 0n
}

async function hasRow(tx: Db, { userId, month }: BudgetClaim, scope: string): Promise<boolean> {
  const row = await tx
    .selectFrom('usage_budgets')
    .select('scope')
    .where('user_id', '=', userId)
    .where('month', '=', month)
    .where('scope', '=', scope)
    .executeTakeFirst()
  return row !== undefined
}

/** The month's first claim: what was used without a budget counts, too. */
async function openMonth(tx: Db, { userId, month }: BudgetClaim, scope: string): Promise<void> {
  await tx
    .insertInto('usage_budgets')
    .values({ user_id: userId, month, scope, used_tokens: 0, reserved_tokens: 0 })
    .onConflict((conflict) => conflict.columns(['user_id', 'month', 'scope']).doNothing())
    .execute()
  const used = await monthTokens(tx, userId, month, scope === '' ? null : scope)
  await tx
    .updateTable('usage_budgets')
    .set({ used_tokens: used })
    .where('user_id', '=', userId)
    .where('month', '=', month)
    .where('scope', '=', scope)
    // Another node may have opened and used it meanwhile; its count includes what we read.
    .where('used_tokens', '<', used)
    .execute()
}

async function readRefusal(tx: Db, claim: BudgetClaim, limit: BudgetLimit): Promise<Refusal> {
  const row = await forUpdate(
    tx,
    tx
      .selectFrom('usage_budgets')
      .select(['used_tokens', 'reserved_tokens'])
      .where('user_id', '=', claim.userId)
      .where('month', '=', claim.month)
      .where('scope', '=', limit.scope),
  ).executeTakeFirstOrThrow()
  const left = limit.tokens - row.used_tokens - row.reserved_tokens
  return { left, isHeldByOthers: row.reserved_tokens > 0 }
}

/** Less than nothing gives back. */
export async function addReserved(tx: Db, claim: { userId: string; month: string }, scope: string, tokens: number) {
  await tx
    .updateTable('usage_budgets')
    .set({ reserved_tokens: sql`reserved_tokens + ${tokens}` })
    .where('user_id', '=', claim.userId)
    .where('month', '=', claim.month)
    .where('scope', '=', scope)
    .execute()
}

async function addOwn(tx: Db, nodeId: string, claim: { userId: string; month: string }, scope: string, tokens: number) {
  await tx
    .insertInto('usage_reservations')
    .values({ node_id: nodeId, user_id: claim.userId, month: claim.month, scope, tokens })
    .onConflict((conflict) =>
      conflict
        .columns(['node_id', 'user_id', 'month', 'scope'])
        .doUpdateSet({ tokens: sql`usage_reservations.tokens + excluded.tokens` }),
    )
    .execute()
}

/** Gives reservations back and counts what was used, also of calls that ran without a budget. */
export async function settleBudgets(
  tx: Db,
  nodeId: string,
  settled: { granted: Granted | null; record: UsageRecord | null }[],
): Promise<void> {
  const changes = new Map<string, { userId: string; month: string; scope: string; used: number; freed: number }>()
  const changeOf = (userId: string, month: string, scope: string) => {
    const name = `${userId}|${month}|${scope}`
    const change = changes.get(name) ?? { userId, month, scope, used: 0, freed: 0 }
    changes.set(name, change)
    return change
  }
  for (const { granted: grant, record } of settled) {
    if (record) {
      const month = record.startedAt.slice(0, 7)
      const tokens = record.promptTokens + record.completionTokens
      changeOf(record.userId, month, '').used += tokens
      if (record.keyId !== null) changeOf(record.userId, month, record.keyId).used += tokens
    }
    for (const scope of grant?.scopes ?? []) {
      if (grant) changeOf(grant.userId, grant.month, scope).freed += grant.tokens
    }
  }

  for (const [, change] of [...changes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // A node that was taken for dead has had its reservations given back already.
    const freed = change.freed > 0 && (await giveBackOwn(tx, nodeId, change)) ? change.freed : 0
    await tx
      .updateTable('usage_budgets')
      .set({
        used_tokens: sql`used_tokens + ${change.used}`,
        reserved_tokens: sql`reserved_tokens - ${freed}`,
      })
      .where('user_id', '=', change.userId)
      .where('month', '=', change.month)
      .where('scope', '=', change.scope)
      .execute()
  }
}

async function giveBackOwn(
  tx: Db,
  nodeId: string,
  { userId, month, scope, freed }: { userId: string; month: string; scope: string; freed: number },
): Promise<boolean> {
  const result = await tx
    .updateTable('usage_reservations')
    .set({ tokens: sql`tokens - ${freed}` })
    .where('node_id', '=', nodeId)
    .where('user_id', '=', userId)
    .where('month', '=', month)
    .where('scope', '=', scope)
    .where('tokens', '>=', freed)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** While no tier has a limit, calls are not counted here; when one gets a limit, what the days say is counted anew. */
export async function recountBudgets(db: Db, month: string): Promise<void> {
  await transaction(db, async (tx) => {
    await withoutTimeLimit(tx)
    // PostgreSQL's subquery would see the days as they were before a settlement that the update waited for.
    await forUpdate(tx, tx.selectFrom('usage_budgets').select('user_id').where('month', '=', month)).execute()
    await tx
      .updateTable('usage_budgets')
      .set({
        used_tokens: sql`coalesce((
          select sum(d.prompt_tokens + d.completion_tokens) from usage_days as d
          where d.user_id = usage_budgets.user_id and d.day >= ${`${month}-01`} and d.day <= ${`${month}-31`}
            and (usage_budgets.scope = '' or d.key_id = usage_budgets.scope)), 0)`,
      })
      .where('month', '=', month)
      .execute()
  })
}

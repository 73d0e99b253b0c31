// Usage of all users, for the operator: sums by day, and durations of single calls.
// Sums are exact. Durations cover all answered calls or, if there are too many, a sample spread over
// the time span. The users with the highest cost then come from the sample.
import './tables.ts'
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { computeDurations, type Durations } from './percentiles.ts'
import type { Span } from './span.ts'

/** The groupings of sums and their columns, the same for days and single calls. */
const COLUMNS = {
  day: 'day',
  vendor: 'vendor',
  model: 'model',
  plan: 'tier',
  user: 'user_id',
  outcome: 'outcome',
} as const
export type OperatorGrouping = keyof typeof COLUMNS

export type OperatorSum = {
  key: string
  requests: number
  failed: number
  cancelled: number
  prompt_tokens: number
  cached_tokens: number
  completion_tokens: number
  cost_nanos: number
}

/**
 * Returns at most `limit` groups, the most expensive first, or days by date. Excludes the calls of
 * deleted users.
 */
export async function sumAllUsage(
  db: Db,
  { from, to }: Span,
  groupBy: Exclude<OperatorGrouping, 'user'>,
  limit: number,
): Promise<OperatorSum[]> {
  const column = COLUMNS[groupBy]
  const order =
    groupBy === 'day' ? sql`day` : sql`sum(cost_nanos) desc, sum(requests) desc, ${sql.ref(column)}`
  const rows = await db
    .selectFrom('usage_totals')
    .select([`${column} as key` as const, ...SUMS])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy(column)
    .having(sql<boolean>`sum(requests) > 0`)
    .orderBy(order)
    .limit(limit)
    .execute()
  return rows
}

export type ModelSum = OperatorSum & { vendor: string; model: string }

/** Returns the sums of at most `limit` models of all vendors, the most expensive first. */
export async function sumModelsUsage(
  db: Db,
  { from, to }: Span,
  limit: number,
): Promise<ModelSum[]> {
  const rows = await db
    .selectFrom('usage_totals')
    .select(['vendor', 'model', 'model as key', ...SUMS])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy(['vendor', 'model'])
    .having(sql<boolean>`sum(requests) > 0`)
    .orderBy(sql`sum(cost_nanos) desc, vendor, model`)
    .limit(limit)
    .execute()
  return rows
}

/**
 * Returns the sums by user, the most expensive first. If there are too many users to sum them all,
 * `among` limits the result to some; their sums are exact.
 */
export async function sumUsersUsage(
  db: Db,
  { from, to }: Span,
  among: readonly string[] | null,
  limit: number,
): Promise<OperatorSum[]> {
  if (among?.length === 0) return []
  const rows = await db
    .selectFrom('usage_days')
    .select(['user_id as key', ...SUMS])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .$if(among !== null, (query) => query.where('user_id', 'in', among ?? []))
    .groupBy('user_id')
    .orderBy(sql`sum(cost_nanos) desc, sum(requests) desc, user_id`)
    .limit(limit)
    .execute()
  return rows
}

export async function readUsageTotal(
  db: Db,
  { from, to }: Span,
): Promise<Omit<OperatorSum, 'key'>> {
  return db
    .selectFrom('usage_totals')
    .select(SUMS)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow()
}

/** Returns the cost, in nanodollars, of deleted users' calls in a month (`2026-09`). */
export async function readArchivedCost(db: Db, month: string): Promise<number> {
  const row = await db
    .selectFrom('usage_archive')
    .select(sql<number>`coalesce(sum(cost_nanos), 0)`.as('cost_nanos'))
    .where('month', '=', month)
    .executeTakeFirstOrThrow()
  return row.cost_nanos
}

/** Returns the cost, in nanodollars, of deleted users' calls and removed days, by month. */
export async function listArchivedCosts(
  db: Db,
  { from, to }: { from: string; to: string },
): Promise<{ month: string; cost_nanos: number }[]> {
  const rows = await db
    .selectFrom('usage_archive')
    .select(['month', ({ fn }) => fn.sum<number>('cost_nanos').as('cost_nanos')])
    .where('month', '>=', from)
    .where('month', '<=', to)
    .groupBy('month')
    .execute()
  return rows
}

const SUMS = [
  sql<number>`coalesce(sum(requests), 0)`.as('requests'),
  sql<number>`coalesce(sum(case when outcome = 'failed' then requests else 0 end), 0)`.as('failed'),
  sql<number>`coalesce(sum(case when outcome = 'cancelled' then requests else 0 end), 0)`.as(
    'cancelled',
  ),
  sql<number>`coalesce(sum(prompt_tokens), 0)`.as('prompt_tokens'),
  sql<number>`coalesce(sum(cached_tokens), 0)`.as('cached_tokens'),
  sql<number>`coalesce(sum(completion_tokens), 0)`.as('completion_tokens'),
  sql<number>`coalesce(sum(cost_nanos), 0)`.as('cost_nanos'),
] as const

/**
 * `ofKey` has no entry for a group without answered calls. `users` are the users of the calls, the
 * most expensive first.
 */
export type CallSample = {
  isSampled: boolean
  ofAll: Durations
  ofKey: ReadonlyMap<string, Durations>
  users: string[]
}

/** The maximum number of rows for one request; reading them takes about 20 ms. */
const READ_MAX = 5_000
/** The parts of one statement. SQLite allows at most 500. */
const SLICES = 50

/** Reads the calls of a time span, or a sample spread over it if `requests` exceeds `readMax`. */
export async function sampleCalls(
  db: Db,
  span: Span,
  groupBy: OperatorGrouping,
  requests: number,
  readMax = READ_MAX,
): Promise<CallSample> {
  const isSampled = requests > readMax
  const rows = await readSample(db, span, groupBy, { isSampled, readMax })
  const answeredCalls =
    groupBy === 'outcome' ? rows : rows.filter(({ outcome }) => outcome === 'ok')
  const byKey = Map.groupBy(answeredCalls, ({ key }) =>
    groupBy === 'day' ? key.slice(0, 10) : key,
  )
  return {
    isSampled,
    ofAll: computeDurations(answeredCalls),
    ofKey: new Map([...byKey].map(([key, own]) => [key, computeDurations(own)])),
    users: sortUsersByCost(rows),
  }
}

/**
 * Returns the times to the first token of answered calls, in milliseconds, with their day; a sample
 * if there are too many calls.
 */
export async function sampleFirstTokens(
  db: Db,
  span: Span,
  requests: number,
): Promise<{ day: string; ms: number }[]> {
  const how = { isSampled: requests > READ_MAX, readMax: READ_MAX }
  const rows = await readSample(db, span, 'day', how)
  return rows.flatMap(({ key, outcome, first_token_ms: ms }) =>
    outcome === 'ok' && ms !== null ? [{ day: key.slice(0, 10), ms }] : [],
  )
}

async function readSample(
  db: Db,
  span: Span,
  groupBy: OperatorGrouping,
  { isSampled, readMax }: { isSampled: boolean; readMax: number },
): Promise<Sampled[]> {
  const slices = isSampled ? SLICES : 1
  const firstMs = Date.parse(`${span.from}T00:00:00.000Z`)
  const sliceMs = Math.ceil((Date.parse(`${span.to}T00:00:00.000Z`) + DAY_MS - firstMs) / slices)
  const at = (slice: number) => new Date(firstMs + slice * sliceMs).toISOString()
  const limit = Math.ceil(readMax / slices)
  const parts = Array.from({ length: slices }, (_, slice) =>
    selectSample(at(slice), at(slice + 1), groupBy, limit),
  )
  const { rows } = await sql<Sampled>`${sql.join(parts, sql` union all `)}`.execute(db)
  return rows
}

type Sampled = {
  key: string
  user_id: string
  outcome: string
  cost_nanos: number
  latency_ms: number
  first_token_ms: number | null
}

function selectSample(
  from: string,
  before: string,
  groupBy: OperatorGrouping,
  limit: number,
): RawBuilder<Sampled> {
  const column = groupBy === 'day' ? 'created_at' : COLUMNS[groupBy]
  return sql`select * from (
    select ${sql.ref(column)} as "key", user_id, outcome, cost_nanos, latency_ms, first_token_ms from usage_records
    where created_at >= ${from} and created_at < ${before} order by created_at limit ${sql.lit(limit)}) as part`
}

function sortUsersByCost(rows: readonly Sampled[]): string[] {
  const costs = new Map<string, number>()
  for (const { user_id, cost_nanos } of rows)
    costs.set(user_id, (costs.get(user_id) ?? 0) + cost_nanos)
  return [...costs].sort(([, a], [, b]) => b - a).map(([user]) => user)
}

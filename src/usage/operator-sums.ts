// Use of all users together, for the operator: sums of days, and durations from single calls.
// Sums are exact; durations are of every answered call where they are few, else of a sample that is spread over the time, and users
// who used most are then looked for among those of the sample.
import './tables.ts'
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
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

/** The dearest first, but days in their order; at most `limit` groups. Deleted users' calls are not among them. */
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
  return rows.map((row) => numbered(row.key, row))
}

export type ModelSum = OperatorSum & { vendor: string; model: string }

/** Sums of each vendor's models, the most expensive first; at most `limit`. */
export async function sumModelsUsage(
  db: Db,
  { from, to }: Span,
  limit: number,
): Promise<ModelSum[]> {
  const rows = await db
    .selectFrom('usage_totals')
    .select(['vendor', 'model', ...SUMS])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy(['vendor', 'model'])
    .having(sql<boolean>`sum(requests) > 0`)
    .orderBy(sql`sum(cost_nanos) desc, vendor, model`)
    .limit(limit)
    .execute()
  return rows.map(({ vendor, model, ...row }) => ({ vendor, model, ...numbered(model, row) }))
}

/**
 * Sums by user, the most expensive first. `among`: those alone, where there are too many to add all up; what is said of each is exact.
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
  return rows.map((row) => numbered(row.key, row))
}

export async function totalAllUsage(db: Db, { from, to }: Span): Promise<OperatorSum> {
  const row = await db
    .selectFrom('usage_totals')
    .select(SUMS)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow()
  return numbered('', row)
}

/** The cost in a month, as `2026-09`, of calls whose users were deleted. */
export async function archivedCost(db: Db, month: string): Promise<number> {
  const row = await db
    .selectFrom('usage_archive')
    .select(sql<number>`coalesce(sum(cost_nanos), 0)`.as('cost_nanos'))
    .where('month', '=', month)
    .executeTakeFirstOrThrow()
  return Number(row.cost_nanos)
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

/** PostgreSQL gives sums of bigint as text. */
function numbered(key: string, row: Omit<OperatorSum, 'key'>): OperatorSum {
  return {
    key,
    requests: Number(row.requests),
    failed: Number(row.failed),
    cancelled: Number(row.cancelled),
    prompt_tokens: Number(row.prompt_tokens),
    cached_tokens: Number(row.cached_tokens),
    completion_tokens: Number(row.completion_tokens),
    cost_nanos: Number(row.cost_nanos),
  }
}

export type Percentiles = { p50: number; p95: number }
export type Durations = { latency_ms: Percentiles | null; first_token_ms: Percentiles | null }
/** `ofKey` has nothing of a group without an answered call. `users`: whose calls they were, the dearest of them first. */
export type CallSample = {
  isSampled: boolean
  ofAll: Durations
  ofKey: ReadonlyMap<string, Durations>
  users: string[]
}

/** More are not read for one look: some 20 ms. */
const READ_MAX = 5_000
/** One statement; SQLite joins 500 parts at most. */
const SLICES = 50

/** The calls of a time, all of them or, where `requests` in all are too many, a part that is spread over the time. */
export async function sampleCalls(
  db: Db,
  span: Span,
  groupBy: OperatorGrouping,
  requests: number,
  readMax = READ_MAX,
): Promise<CallSample> {
  const isSampled = requests > readMax
  const slices = isSampled ? SLICES : 1
  const firstMs = Date.parse(`${span.from}T00:00:00.000Z`)
  const sliceMs = Math.ceil((Date.parse(`${span.to}T00:00:00.000Z`) + DAY_MS - firstMs) / slices)
  const at = (slice: number) => new Date(firstMs + slice * sliceMs).toISOString()
  const limit = Math.ceil(readMax / slices)
  const parts = Array.from({ length: slices }, (_, slice) =>
    selectSample(at(slice), at(slice + 1), groupBy, limit),
  )
  const { rows } = await sql<Sampled>`${sql.join(parts, sql` union all `)}`.execute(db)
  const timed = groupBy === 'outcome' ? rows : rows.filter(({ outcome }) => outcome === 'ok')
  const byKey = Map.groupBy(timed, ({ key }) => (groupBy === 'day' ? key.slice(0, 10) : key))
  return {
    isSampled,
    ofAll: computeDurations(timed),
    ofKey: new Map([...byKey].map(([key, own]) => [key, computeDurations(own)])),
    users: dearestUsers(rows),
  }
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

function dearestUsers(rows: readonly Sampled[]): string[] {
  const costs = new Map<string, number>()
  for (const { user_id, cost_nanos } of rows)
    costs.set(user_id, (costs.get(user_id) ?? 0) + Number(cost_nanos))
  return [...costs].sort(([, a], [, b]) => b - a).map(([user]) => user)
}

function computeDurations(timed: readonly Sampled[]): Durations {
  return {
    latency_ms: percentiles(timed.map((one) => one.latency_ms)),
    first_token_ms: percentiles(timed.flatMap((one) => one.first_token_ms ?? [])),
  }
}

/** By nearest rank. */
function percentiles(values: number[]): Percentiles | null {
  const sorted = values.sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) }
}

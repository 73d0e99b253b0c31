// What all users together used, for the operator: sums of the days, and how long calls took, from the calls themselves.
// Sums are exact; durations are of every answered call where they are few, else of a sample that is spread over the time.
import './tables.ts'
import { type ReferenceExpression, sql } from 'kysely'
import { DAY_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { Span } from './span.ts'

/** What sums are told by, and its column, which days and single calls have alike. */
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
export async function sumAllUsage(db: Db, { from, to }: Span, groupBy: OperatorGrouping, limit: number) {
  const column = COLUMNS[groupBy]
  const order = groupBy === 'day' ? sql`day` : sql`sum(cost_nanos) desc, sum(requests) desc, ${sql.ref(column)}`
  const rows = await db
    .selectFrom('usage_days')
    .select([`${column} as key` as const, ...SUMS])
    .where('day', '>=', from)
    .where('day', '<=', to)
    .groupBy(column)
    .orderBy(order)
    .limit(limit)
    .execute()
  return rows.map((row) => numbered(row.key, row))
}

export async function totalAllUsage(db: Db, { from, to }: Span): Promise<OperatorSum> {
  const row = await db
    .selectFrom('usage_days')
    .select(SUMS)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .executeTakeFirstOrThrow()
  return numbered('', row)
}

/** What calls of users who are deleted since cost in a month, as `2026-09`. */
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
  sql<number>`coalesce(sum(case when outcome = 'cancelled' then requests else 0 end), 0)`.as('cancelled'),
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
/** `ofKey` has nothing of a group without an answered call. */
export type AllDurations = { isSampled: boolean; ofAll: Durations; ofKey: ReadonlyMap<string, Durations> }

/** More are not read for one look: some 30 ms of SQLite. */
const READ_MAX = 20_000
const SLICES = 100

/** How long answered calls took; `requests` is how many there were in all. */
export async function durationsOfAll(
  db: Db,
  span: Span,
  groupBy: OperatorGrouping,
  requests: number,
  readMax = READ_MAX,
): Promise<AllDurations> {
  const isSampled = requests > readMax
  const slices = isSampled ? SLICES : 1
  const firstMs = Date.parse(`${span.from}T00:00:00.000Z`)
  const sliceMs = Math.ceil((Date.parse(`${span.to}T00:00:00.000Z`) + DAY_MS - firstMs) / slices)
  const at = (slice: number) => new Date(firstMs + slice * sliceMs).toISOString()
  const timed: Timed[] = []
  for (let slice = 0; slice < slices; slice++) {
    timed.push(...(await timesBetween(db, at(slice), at(slice + 1), groupBy, Math.ceil(readMax / slices))))
  }
  const byKey = Map.groupBy(timed, ({ key }) => key)
  return {
    isSampled,
    ofAll: durationsOf(timed),
    ofKey: new Map([...byKey].map(([key, own]) => [key, durationsOf(own)])),
  }
}

type Timed = { key: string; latency_ms: number; first_token_ms: number | null }

function timesBetween(
  db: Db,
  from: string,
  before: string,
  groupBy: OperatorGrouping,
  limit: number,
): Promise<Timed[]> {
  const column = COLUMNS[groupBy] satisfies ReferenceExpression<Tables, 'usage_records'>
  let query = db
    .selectFrom('usage_records')
    .select([`${column} as key` as const, 'latency_ms', 'first_token_ms'])
    .where('created_at', '>=', from)
    .where('created_at', '<', before)
  if (groupBy !== 'outcome') query = query.where('outcome', '=', 'ok')
  return query.orderBy('created_at').limit(limit).execute()
}

function durationsOf(timed: Timed[]): Durations {
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

// SQL of the ledger: records of calls, their sums by day, and the erasure of a user's calls.
import './tables.ts'
import { type CompiledQuery, sql } from 'kysely'
import type { Run } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import { deleteSlice } from '#platform/db/slices.ts'
import { archiveDays } from './archive.ts'
import { createQueryCache } from './compiled.ts'
import type { PeriodSpan } from './periods.ts'
import { toNanos, type UsageRecord } from './record.ts'
import type { CallScope, Span } from './span.ts'
import type { UsageDaysTable } from './tables.ts'
import { buildTotalQueries } from './totals.ts'

/** Rows per statement: limits the number of prepared statements and stays below SQLite's 32,766 parameters. */
const ROWS_MAX = 64

/** The key of a day's sum. */
const DAY_KEY = [
  'user_id',
  'day',
  'key_id',
  'model',
  'vendor',
  'tier',
  'outcome',
  'end_user',
] as const

const compiled = createQueryCache()

/** Builds the queries that insert the records and add them to their days, in this order. */
export function buildRecordQueries(
  db: Db,
  recorded: readonly { id: string; record: UsageRecord }[],
): CompiledQuery[] {
  const queries: CompiledQuery[] = []
  for (let from = 0; from < recorded.length; from += ROWS_MAX) {
    const rows = recorded.slice(from, from + ROWS_MAX).map(createRow)
    const values: unknown[] = []
    for (const row of rows) for (const name in row) values.push(row[name as keyof typeof row])
    queries.push(
      compiled(db, `records:${rows.length}`, values, () =>
        db.insertInto('usage_records').values(rows),
      ),
    )
  }
  const days = sumDays(recorded.map(({ record }) => record))
  for (const day of days) {
    queries.push(
      compiled(db, 'day', Object.values(day), () =>
        db
          .insertInto('usage_days')
          .values(day)
          .onConflict((conflict) =>
            conflict.columns(DAY_KEY).doUpdateSet({
              requests: sql`usage_days.requests + excluded.requests`,
              prompt_tokens: sql`usage_days.prompt_tokens + excluded.prompt_tokens`,
              completion_tokens: sql`usage_days.completion_tokens + excluded.completion_tokens`,
              cached_tokens: sql`usage_days.cached_tokens + excluded.cached_tokens`,
              cost_nanos: sql`usage_days.cost_nanos + excluded.cost_nanos`,
            }),
          ),
      ),
    )
  }
  // Written last, because other processes may wait for these rows.
  queries.push(...buildTotalQueries(db, days, 1))
  return queries
}

export async function isRecorded(
  { db, run }: { db: Db; run: Run },
  userId: string,
  id: string,
): Promise<boolean> {
  const query = db
    .selectFrom('usage_records')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '=', id)
  return (await run(query.compile())).rows.length > 0
}

/** Returns the row with its members in the order of the statement's columns. */
function createRow({ id, record }: { id: string; record: UsageRecord }) {
  return {
    user_id: record.userId,
    id,
    key_id: encodeKeyId(record),
    tier: record.tier,
    route: record.route,
    vendor: record.vendor,
    model: record.model,
    prompt_tokens: record.promptTokens,
    completion_tokens: record.completionTokens,
    cached_tokens: record.cachedTokens,
    reasoning_tokens: record.reasoningTokens,
    cost_nanos: toNanos(record.costUsd),
    latency_ms: limitMs(record.latencyMs),
    first_token_ms: record.firstTokenMs === null ? null : limitMs(record.firstTokenMs),
    attempts: record.attempts,
    tried: record.tried,
    outcome: record.outcome,
    status: record.status,
    error_code: record.errorCode,
    error_detail: record.errorDetail ?? null,
    request_id: record.requestId,
    vendor_request_id: record.vendorRequestId,
    end_user: record.endUser,
    labels: record.labels,
    parameters_json: record.parameters ?? null,
    is_estimated: record.isEstimated,
    created_at: record.startedAt,
  }
}

/** Limits durations to PostgreSQL's `integer` (24 days): a call of a dead process may be found weeks later. */
const limitMs = (ms: number) => Math.min(Math.round(ms), 2 ** 31 - 1)

/** Returns sorted sums, so that two nodes lock rows in the same order. */
function sumDays(records: UsageRecord[]): UsageDaysTable[] {
  const sums = new Map<string, UsageDaysTable>()
  for (const record of records) {
    const { userId, model, vendor, tier, outcome, endUser } = record
    const day = record.startedAt.slice(0, 10)
    const keyId = encodeKeyId(record)
    // NUL is a safe separator: no text in the ledger contains it.
    const name = [userId, day, keyId, model, vendor, tier, outcome, endUser].join('\0')
    let sum = sums.get(name)
    if (sum === undefined) {
      sum = {
        user_id: userId,
        day,
        key_id: keyId,
        model,
        vendor,
        tier,
        outcome,
        end_user: endUser,
        requests: 0,
        prompt_tokens: 0,
        completion_tokens: 0,
        cached_tokens: 0,
        cost_nanos: 0,
      }
      sums.set(name, sum)
    }
    sum.requests++
    sum.prompt_tokens += record.promptTokens
    sum.completion_tokens += record.completionTokens
    sum.cached_tokens += record.cachedTokens
    sum.cost_nanos += toNanos(record.costUsd)
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}

/** The key id of calls with a JWT. */
export const SESSION = 'session'

function encodeKeyId({ keyId }: UsageRecord): string {
  return keyId ?? SESSION
}

/** Returns the key id for the API: null for calls with a JWT. */
export function decodeKeyId(keyId: string): string | null {
  return keyId === SESSION ? null : keyId
}

/** The groupings of sums and their columns; an unnamed end user is ''. */
const COLUMNS = {
  day: 'day',
  model: 'model',
  key: 'key_id',
  vendor: 'vendor',
  outcome: 'outcome',
  end_user: 'end_user',
} as const
export type GroupBy = keyof typeof COLUMNS

export type UsageSum = {
  key: string
  requests: number
  prompt_tokens: number
  completion_tokens: number
  cached_tokens: number
  cost_nanos: number
}

/**
 * Sums the days from `from` to `to`, both included, for the user or for one key. Returns at most
 * `limit` groups, the most expensive first; with `day`, returns all days by date.
 */
export async function sumUsage(
  db: Db,
  { userId, keyId }: CallScope,
  { from, to }: Span,
  groupBy: GroupBy,
  limit: number,
): Promise<UsageSum[]> {
  const column = COLUMNS[groupBy]
  let query = db
    .selectFrom('usage_days')
    .select(({ fn }) => [
      `${column} as key` as const,
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('prompt_tokens').as('prompt_tokens'),
      fn.sum<number>('completion_tokens').as('completion_tokens'),
      fn.sum<number>('cached_tokens').as('cached_tokens'),
      fn.sum<number>('cost_nanos').as('cost_nanos'),
    ])
    .where('user_id', '=', userId)
    .where('day', '>=', from)
    .where('day', '<=', to)
  if (keyId !== null) query = query.where('key_id', '=', keyId)
  query = query.groupBy(column)
  const ordered =
    groupBy === 'day'
      ? query.orderBy('day')
      : query
          .orderBy(sql`sum(cost_nanos) desc, sum(requests) desc, ${sql.ref(column)}`)
          .limit(limit)
  return ordered.execute()
}

/** Adds up the use of the user (or of one key) in a period, from the sums of days. */
export async function sumUse(
  { db, run }: { db: Db; run: Run },
  userId: string,
  keyId: string | null,
  { start, end }: PeriodSpan,
): Promise<{ tokens: number; nanos: number }> {
  let query = db
    .selectFrom('usage_days')
    .select(({ fn }) => [
      fn.sum<number | null>('prompt_tokens').as('prompt'),
      fn.sum<number | null>('completion_tokens').as('completion'),
      fn.sum<number | null>('cost_nanos').as('nanos'),
    ])
    .where('user_id', '=', userId)
    .where('day', '>=', start.slice(0, 10))
    .where('day', '<', end.slice(0, 10))
  if (keyId !== null) query = query.where('key_id', '=', keyId)
  const [row] = (await run(query.compile())).rows
  return { tokens: (row?.prompt ?? 0) + (row?.completion ?? 0), nanos: row?.nanos ?? 0 }
}

/** Lists the user's budgets in these periods, with used and reserved amounts. A budget has a row from its first request on. */
export async function listBudgets(db: Db, userId: string, periods: readonly string[]) {
  return db
    .selectFrom('usage_budgets')
    .select(['scope', 'period', 'used_tokens', 'used_nanos', 'reserved_nanos'])
    .where('user_id', '=', userId)
    .where('period', 'in', periods)
    .execute()
}

/** Lists the newest calls, for the user's export. */
export async function listRecords(db: Db, userId: string) {
  const rows = await db
    .selectFrom('usage_records')
    .select([
      'created_at',
      'key_id',
      'route',
      'vendor',
      'model',
      'prompt_tokens',
      'completion_tokens',
      'outcome',
      'status',
      'error_code',
      'error_detail',
      'request_id',
      'end_user',
      'labels',
      'parameters_json',
      'is_estimated',
    ])
    .where('user_id', '=', userId)
    .orderBy('id', 'desc')
    .limit(RECORDS_MAX)
    .execute()
  return rows.map(({ parameters_json: parameters, ...row }) => ({ ...row, parameters }))
}

/** Keeps the export small enough to open. */
const RECORDS_MAX = 50_000

/** Removes the rows that affect a user's next call. The calls are removed in slices. */
export async function eraseBudgets(tx: Db, userId: string): Promise<void> {
  for (const table of [
    'usage_budgets',
    'usage_alerts',
    'usage_reservations',
    'usage_open_calls',
  ] as const) {
    await tx.deleteFrom(table).where('user_id', '=', userId).execute()
  }
}

/**
 * Removes a slice of a user's calls and days; anonymous monthly sums remain.
 * @returns the number of removed rows
 */
export async function eraseCallsSlice(db: Db, userId: string): Promise<number> {
  const isOwn = sql`user_id = ${userId}`
  const deleted = await deleteSlice(db, 'usage_records', ['id'], isOwn)
  return deleted || archiveDays(db, isOwn)
}

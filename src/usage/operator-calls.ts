/** Pages of the calls of all users, newest first, for the operator. */
import './tables.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { encodeCursor, readCursor } from '#platform/http/keyset.ts'
import { computeLowestId } from './ids.ts'
import type { UsageOutcome } from './record.ts'

const COLUMNS = [
  'id',
  'created_at',
  'user_id',
  'route',
  'model',
  'vendor',
  'outcome',
  'status',
  'cost_nanos',
  'latency_ms',
  'error_code',
  'request_id',
] as const

export type OperatorCall = {
  id: string
  created_at: Instant
  user_id: string
  route: string
  model: string
  vendor: string
  outcome: UsageOutcome
  status: number
  cost_nanos: number
  latency_ms: number
  error_code: string | null
  request_id: string | null
}

type Asked = { outcome?: UsageOutcome | undefined; cursor: string | undefined; limit: number }

/** The rows read by one statement, during which SQLite blocks the process, and the statements per page. */
const READ_LIMITS = { rows: 10_000, times: 10 }

/**
 * Returns at most `limit` calls. A page ends early, with a cursor, where few calls have the outcome.
 * @throws Problem 422 for an invalid cursor
 */
export async function listOperatorCalls(
  db: Db,
  { from, before }: { from: Instant; before: Instant },
  { outcome, cursor, limit }: Asked,
  { rows: rowsMax, times } = READ_LIMITS,
): Promise<{ calls: OperatorCall[]; next_cursor: string | null }> {
  let below = cursor === undefined ? { at: before, id: LOWEST_ID } : readCursor(cursor)
  const calls: OperatorCall[] = []
  for (let time = 0; time < times; time++) {
    const rest = db
      .selectFrom('usage_records')
      .where('created_at', '>=', from)
      // The index is by time only.
      .where('created_at', '<=', below.at)
      .where(sql<boolean>`(created_at, id) < (${below.at}, ${below.id})`)
    const last = await rest
      .select('created_at')
      .orderBy('created_at', 'desc')
      .limit(1)
      .offset(rowsMax - 1)
      .executeTakeFirst()
    const found = await rest
      .select(COLUMNS)
      .$if(last !== undefined, (query) => query.where('created_at', '>=', last?.created_at ?? ''))
      .$if(outcome !== undefined, (query) => query.where('outcome', '=', outcome ?? 'ok'))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      // One row more than the limit shows that there is another page.
      .limit(limit + 1 - calls.length)
      .execute()
    calls.push(...found)
    if (calls.length > limit)
      return { calls: calls.slice(0, limit), next_cursor: endPage(calls, limit) }
    if (last === undefined) return { calls, next_cursor: null }
    below = { at: last.created_at, id: LOWEST_ID }
    await nextTurn()
  }
  return { calls, next_cursor: encodeCursor(below) }
}

/** Sorts before the id of each call. */
const LOWEST_ID = computeLowestId('1970-01-01T00:00:00.000Z')

function endPage(calls: readonly OperatorCall[], limit: number): string | null {
  const last = calls[limit - 1]
  return last === undefined ? null : encodeCursor({ at: last.created_at, id: last.id })
}

// Pages of a user's calls, newest first. Each page continues after the previous one, even while new
// calls are written.
// The trap: a filter that matches few calls would read all of them. So a page reads a limited number
// of rows, and may then end early with a cursor.
import './tables.ts'
import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Selectable, sql } from 'kysely'
import { DAY_MS, plus } from '#platform/clock.ts'
import { type Db, findDialect } from '#platform/db/db.ts'
import { computeLowestId } from './ids.ts'
import { formatLabelLine, readLabels } from './labels.ts'
import type { UsageOutcome } from './record.ts'
import type { CallScope, Span } from './span.ts'
import { decodeKeyId } from './store.ts'
import type { UsageRecordsTable } from './tables.ts'

export type CallFilter = Span & {
  model?: string | undefined
  vendor?: string | undefined
  route?: string | undefined
  /** A key's id, or `session`. */
  key?: string | undefined
  outcome?: UsageOutcome | undefined
  endUser?: string | undefined
  label?: { name: string; value: string } | undefined
  requestId?: string | undefined
}

export type CallRow = Selectable<UsageRecordsTable>

/** `next` is the id before which the next page continues; null on the last page. */
export type CallPage = { calls: CallRow[]; next: string | null }

/** The rows read by one statement, during which SQLite blocks the process, and the statements per page. */
const READ_LIMITS = { rows: 10_000, times: 10 }

export async function readCallPage(
  db: Db,
  scope: CallScope,
  filter: CallFilter,
  { before, limit }: { before: string | null; limit: number },
  readLimits = READ_LIMITS,
): Promise<CallPage> {
  const first = computeLowestId(`${filter.from}T00:00:00.000Z`)
  const end = computeLowestId(plus(`${filter.to}T00:00:00.000Z`, DAY_MS))
  let below = before !== null && before < end ? before : end
  const calls: CallRow[] = []

  for (let time = 0; time < readLimits.times; time++) {
    const last = await findWindowEnd(db, scope.userId, first, below, readLimits.rows)
    // One row more than the limit shows that there is another page.
    const rows = await selectCalls(
      db,
      scope,
      filter,
      last ?? first,
      below,
      limit + 1 - calls.length,
    )
    calls.push(...rows)
    if (calls.length > limit) {
      calls.length = limit
      return { calls, next: calls.at(-1)?.id ?? null }
    }
    if (last === null) return { calls, next: null }
    below = last
    await nextTurn()
  }
  return { calls, next: below }
}

/** Returns null for an unknown call. */
export async function findCall(
  db: Db,
  { userId, keyId }: CallScope,
  id: string,
): Promise<CallRow | null> {
  let query = db
    .selectFrom('usage_records')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
  if (keyId !== null) query = query.where('key_id', '=', keyId)
  return (await query.executeTakeFirst()) ?? null
}

/** Returns the id that is `rows` rows before `below`; null if fewer rows are left. */
async function findWindowEnd(
  db: Db,
  userId: string,
  first: string,
  below: string,
  rows: number,
): Promise<string | null> {
  const row = await db
    .selectFrom('usage_records')
    .select('id')
    .where('user_id', '=', userId)
    .where('id', '>=', first)
    .where('id', '<', below)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(rows - 1)
    .executeTakeFirst()
  return row?.id ?? null
}

function selectCalls(
  db: Db,
  { userId, keyId }: CallScope,
  filter: CallFilter,
  first: string,
  below: string,
  limit: number,
): Promise<CallRow[]> {
  const { model, vendor, route, key, outcome, endUser, label, requestId } = filter
  let query = db
    .selectFrom('usage_records')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '>=', first)
    .where('id', '<', below)
  if (keyId !== null) query = query.where('key_id', '=', keyId)
  if (key !== undefined) query = query.where('key_id', '=', key)
  if (model !== undefined) query = query.where('model', '=', model)
  if (vendor !== undefined) query = query.where('vendor', '=', vendor)
  if (route !== undefined) query = query.where('route', '=', route)
  if (outcome !== undefined) query = query.where('outcome', '=', outcome)
  if (endUser !== undefined) query = query.where('end_user', '=', endUser)
  if (requestId !== undefined) query = query.where('request_id', '=', requestId)
  if (label !== undefined) {
    const find = sql.raw(findDialect(db) === 'sqlite' ? 'instr' : 'strpos')
    query = query.where(
      sql<boolean>`${find}(labels, ${formatLabelLine(label.name, label.value)}) > 0`,
    )
  }
  return query.orderBy('id', 'desc').limit(limit).execute()
}

/** Returns the call as the API shows it. */
export function formatCall(row: CallRow) {
  return {
    id: row.id,
    at: row.created_at,
    route: row.route,
    model: row.model,
    vendor: row.vendor,
    key_id: decodeKeyId(row.key_id),
    outcome: row.outcome,
    status: row.status,
    prompt_tokens: row.prompt_tokens,
    cached_tokens: row.cached_tokens,
    completion_tokens: row.completion_tokens,
    reasoning_tokens: row.reasoning_tokens,
    cost_usd: row.cost_nanos / 1e9,
    is_estimated: row.is_estimated,
    latency_ms: row.latency_ms,
    first_token_ms: row.first_token_ms,
    attempts: row.attempts,
    tried: row.tried,
    request_id: row.request_id,
    vendor_request_id: row.vendor_request_id,
    error_code: row.error_code,
    error_detail: row.error_detail,
    end_user: row.end_user === '' ? null : row.end_user,
    labels: readLabels(row.labels),
    parameters: row.parameters_json,
  }
}
export type CallView = ReturnType<typeof formatCall>

/** Opaque to clients, and bound to its user: other users cannot use it. */
export function createCursor(userId: string, id: string): string {
  return `${id}.${computeSeal(userId, id)}`
}

/** Returns the id in the cursor; null for a cursor of another user. */
export function readCursor(userId: string, cursor: string): string | null {
  const dot = cursor.lastIndexOf('.')
  const id = cursor.slice(0, dot)
  return dot > 0 && cursor.slice(dot + 1) === computeSeal(userId, id) ? id : null
}

function computeSeal(userId: string, id: string): string {
  return createHash('sha256').update(`${userId}\n${id}`).digest('base64url').slice(0, 16)
}

// Running calls, so that a crash forgets none: what runs for longer than a second stands in a table until it ends.
// A short call writes nothing here: once a second what has run for that long is noted, all in one statement, and while words come
// so is what they cost. The note is removed in the transaction of the record, and the notes of a dead process become records.
import './tables.ts'
import type { CompiledQuery } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import type { PlanPeriod } from './plan-budgets.ts'
import { nanosOf, storableModel, type UsageRecord } from './record.ts'
import { settleBudgets } from './settlements.ts'
import { isRecorded, recordQueries } from './store.ts'

/**
 * What is known of a call that runs: `vendor` is who is asked first, `promptTokens` a guess, and `costUsd` what these cost.
 * No more is known of one that nobody has answered yet.
 */
export type OpenCall = Pick<
  UsageRecord,
  | 'userId'
  | 'keyId'
  | 'tier'
  | 'route'
  | 'vendor'
  | 'model'
  | 'promptTokens'
  | 'costUsd'
  | 'requestId'
  | 'endUser'
  | 'labels'
  | 'startedAt'
> & {
  /** The plan's budget that it counts in. */
  plan: PlanPeriod
  /** What it will have used a second from now, as far as can be told; null while nothing was said. Asked once a second. */
  soFar?(): SoFar | null
}
export type SoFar = Pick<
  UsageRecord,
  'vendor' | 'model' | 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'costUsd'
>
/** What the call itself tells; who makes it and what its prompt may take is told with its reservation. */
export type OpenCallTerms = Omit<OpenCall, 'userId' | 'keyId' | 'promptTokens' | 'plan'>

type Entry = {
  call: OpenCall
  /** Where it stands among those that run; -1: nowhere. */
  at: number
  /** When it is to be noted next. */
  dueMs: number
  /** From the first try to note it, and kept: whether one that broke off was committed cannot be told. */
  id: string | null
  /** As it was noted last. */
  noted: Noted | null
  noting: Promise<void> | null
}
type Noted = ReturnType<typeof notedOf>
/** What is to be removed with the record; `noting` while it is being written. */
export type CallNote = { userId: string; id: string; noting: Promise<void> | null }
/** What `open` gives and `close` takes. */
export type OpenHandle = { readonly entry: Entry }

export type OpenCalls = {
  open(call: OpenCall): OpenHandle
  /** The note to remove with the record; null when the call was too short to have one. */
  close(handle: OpenHandle): CallNote | null
  start(): void
  stop(): void
}

/** The `error_code` of a call whose process died: nobody was there to tell another. */
const CRASHED = 'crashed'
const NOTE_AFTER_MS = 1_000
const ROWS_MAX = 500

type Deps = Pick<Platform, 'db' | 'log'>

export function createOpenCalls(
  { db, log }: Deps,
  nodeId: string,
  nextId: (at: Instant) => string,
): OpenCalls {
  // No Set: as it turns over, each table that it gave up keeps the next alive, and all calls in them, until a whole collection;
  // at 5,000 calls a second that was a fifth of the CPU.
  const entries: Entry[] = []
  const say = seldom((details, message) => log.warn(details, message))
  let timer: NodeJS.Timeout | null = null
  let isNoting = false

  const noteAll = async () => {
    if (isNoting) return
    isNoting = true
    try {
      const now = performance.now()
      for (let due = takeDue(now); due.length > 0; due = takeDue(now)) await note(due)
    } catch (error) {
      say({ err: error }, 'running calls were not noted')
    } finally {
      isNoting = false
    }
  }

  const takeDue = (now: number): Entry[] => {
    const due = entries.filter(({ dueMs }) => dueMs <= now).slice(0, ROWS_MAX)
    for (const entry of due) entry.dueMs = now + NOTE_AFTER_MS
    return due
  }

  /** The last takes its place: their order says nothing. */
  const remove = (entry: Entry) => {
    const { at } = entry
    if (at === -1) return
    const last = entries.pop() as Entry
    if (last !== entry) {
      entries[at] = last
      last.at = at
    }
    entry.at = -1
  }

  /** One that cannot be told keeps no other from being noted. */
  const toldOf = ({ call }: Entry): Noted | null => {
    try {
      const told = notedOf(call)
      if (Number.isFinite(told.cost_nanos)) return told
      throw new Error(`a call to ${told.model} costs ${told.cost_nanos}`)
    } catch (error) {
      say({ err: error }, 'running calls were not noted')
      return null
    }
  }

  const note = async (due: Entry[]) => {
    const changed = due.flatMap((entry) => {
      const told = toldOf(entry)
      if (told === null || told.completion_tokens === entry.noted?.completion_tokens) return []
      return [{ entry, told }]
    })
    if (changed.length === 0) return
    const rows = changed.map(({ entry, told }) => {
      entry.id ??= nextId(entry.call.startedAt)
      return rowOf(nodeId, entry.id, entry.call, told)
    })
    const query = db
      .insertInto('usage_open_calls')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['user_id', 'id']).doUpdateSet(({ ref }) => ({
          vendor: ref('excluded.vendor'),
          model: ref('excluded.model'),
          prompt_tokens: ref('excluded.prompt_tokens'),
          completion_tokens: ref('excluded.completion_tokens'),
          cached_tokens: ref('excluded.cached_tokens'),
          cost_nanos: ref('excluded.cost_nanos'),
        })),
      )
      .compile()
    const written = commitAsync(db, async (run) => run(query)).then(
      () => {
        for (const { entry, told } of changed) entry.noted = told
      },
      (error) => say({ err: error }, 'running calls were not noted'),
    )
    for (const { entry } of changed) entry.noting = written
    await written
    for (const { entry } of changed) entry.noting = null
  }

  return {
    open(call) {
      const dueMs = performance.now() + NOTE_AFTER_MS
      const entry: Entry = { call, at: -1, dueMs, id: null, noted: null, noting: null }
      if (timer !== null) entry.at = entries.push(entry) - 1
      return { entry }
    },
    close({ entry }) {
      remove(entry)
      return entry.id === null
        ? null
        : { userId: entry.call.userId, id: entry.id, noting: entry.noting }
    },
    start() {
      timer ??= setInterval(noteAll, NOTE_AFTER_MS).unref()
    },
    stop() {
      if (timer) clearInterval(timer)
      timer = null
    },
  }
}

function notedOf({ soFar, vendor, model, promptTokens, costUsd }: OpenCall) {
  const known = soFar?.() ?? {
    vendor,
    model,
    promptTokens,
    completionTokens: 0,
    cachedTokens: 0,
    costUsd,
  }
  return {
    vendor: known.vendor,
    model: storableModel(known.model),
    prompt_tokens: known.promptTokens,
    completion_tokens: known.completionTokens,
    cached_tokens: known.cachedTokens,
    cost_nanos: nanosOf(known.costUsd),
  }
}

function rowOf(nodeId: string, id: string, call: OpenCall, noted: Noted) {
  return {
    user_id: call.userId,
    id,
    node_id: nodeId,
    key_id: call.keyId,
    tier: call.tier,
    route: call.route,
    ...noted,
    request_id: call.requestId,
    end_user: call.endUser,
    labels: call.labels,
    plan_json: call.plan,
    started_at: call.startedAt,
  }
}

/** Takes a note away. */
export function removalOf(db: Db, userId: string, id: string): CompiledQuery {
  return db
    .deleteFrom('usage_open_calls')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .compile()
}

/** Makes records of the calls that a dead process had running; `seenAt` is its last sign of life. */
export async function recordOrphans(tx: Db, deadNodeId: string, seenAt: Instant): Promise<void> {
  const notes = await tx
    .deleteFrom('usage_open_calls')
    .where('node_id', '=', deadNodeId)
    .returningAll()
    .execute()
  const rows: typeof notes = []
  // Its own record, where it came to that, says more.
  for (const note of notes) if (!(await isRecorded(tx, note.user_id, note.id))) rows.push(note)
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  const records = rows.map(
    (row): UsageRecord => ({
      userId: row.user_id,
      keyId: row.key_id,
      tier: row.tier,
      route: row.route,
      vendor: row.vendor,
      model: row.model,
      promptTokens: row.prompt_tokens,
      completionTokens: row.completion_tokens,
      cachedTokens: row.cached_tokens,
      reasoningTokens: 0,
      costUsd: row.cost_nanos / 1e9,
      latencyMs: Math.max(0, Date.parse(seenAt) - Date.parse(row.started_at)),
      firstTokenMs: null,
      attempts: 1,
      tried: 'crash',
      outcome: 'failed',
      status: 500,
      errorCode: CRASHED,
      requestId: row.request_id,
      vendorRequestId: null,
      endUser: row.end_user,
      labels: row.labels,
      isEstimated: true,
      startedAt: row.started_at,
    }),
  )
  let next = 0
  for (const query of recordQueries(tx, records, () => ids[next++] ?? ''))
    await tx.executeQuery(query)
  await settleBudgets(
    { db: tx, run: (query) => tx.executeQuery(query) },
    deadNodeId,
    records.map((record, index) => ({
      granted: null,
      record,
      plan: rows[index]?.plan_json ?? null,
    })),
  )
}

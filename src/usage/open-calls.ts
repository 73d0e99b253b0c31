/**
 * Notes of running calls, so that a crash loses no call. A call that runs for longer than a second has
 * a row, which is updated every second while text arrives. Its settlement removes the row; the rows
 * of a dead process become records.
 */
import './tables.ts'
import type { CompiledQuery } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import { toStorableModel, type UsageRecord } from './record.ts'
import type { PlanPeriod } from './tables.ts'

/**
 * A running call. `vendor` is the first vendor to be called, `promptTokens` is an estimate, and
 * `costUsd` is the cost of those tokens.
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
  | 'parameters'
  | 'startedAt'
> & {
  /** The id of the later record. */
  id: string
  plan: PlanPeriod
  /** Estimates the use one second ahead; null before the first text. Called once a second. */
  soFar?(): UsageSoFar | null
}
export type UsageSoFar = Pick<
  UsageRecord,
  'vendor' | 'model' | 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'costUsd'
>
/** The fields that the gateway supplies; the reservation adds the others. */
export type OpenCallTerms = Omit<
  OpenCall,
  'id' | 'userId' | 'keyId' | 'promptTokens' | 'plan' | 'startedAt'
>

type Entry = {
  call: OpenCall
  /** Its index in the array; -1 after it ended. */
  index: number
  /** The time of the next note. */
  dueMs: number
  /** Null before the first try to write a note; a failed try may have been committed. */
  note: { completionTokens: number | null; writing: Promise<void> | null } | null
}
/** Returned by `open`, required by `close`. */
export type OpenHandle = { readonly entry: Entry }

const CRASHED = 'crashed'
const NOTE_AFTER_MS = 1_000
const ROWS_MAX = 500

export class OpenCalls {
  readonly #db: Db
  readonly #nodeId: string
  readonly #warn: (error: unknown) => void
  /**
   * Not a Set: V8 chains the outgrown tables of a Set, which retained every ended call (160 MB instead
   * of 56).
   */
  readonly #entries: Entry[] = []
  #timer: NodeJS.Timeout | undefined
  #isNoting = false

  constructor({ db, log }: Pick<Platform, 'db' | 'log'>, nodeId: string) {
    this.#db = db
    this.#nodeId = nodeId
    const warn = seldom((details, message) => log.warn(details, message))
    this.#warn = (err) =>
      warn({ err }, 'notes of running calls could not be written; a crash would lose these calls')
  }

  open(call: OpenCall): OpenHandle {
    const entry: Entry = { call, index: -1, dueMs: performance.now() + NOTE_AFTER_MS, note: null }
    if (this.#timer !== undefined) entry.index = this.#entries.push(entry) - 1
    return { entry }
  }

  /** Returns null for a call without a note; otherwise resolves after the insert of the note. */
  close({ entry }: OpenHandle): Promise<void> | null {
    const { index, note } = entry
    if (index !== -1) {
      // The last entry fills the gap; the order of the entries does not matter.
      const last = this.#entries.pop() as Entry
      if (last !== entry) {
        this.#entries[index] = last
        last.index = index
      }
      entry.index = -1
    }
    return note && (note.writing ?? Promise.resolve())
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#noteAll(), NOTE_AFTER_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async #noteAll(): Promise<void> {
    if (this.#isNoting) return
    this.#isNoting = true
    try {
      const now = performance.now()
      for (let due = this.#takeDue(now); due.length > 0; due = this.#takeDue(now))
        await this.#note(due)
    } catch (error) {
      this.#warn(error)
    } finally {
      this.#isNoting = false
    }
  }

  #takeDue(now: number): Entry[] {
    const due = this.#entries.filter(({ dueMs }) => dueMs <= now).slice(0, ROWS_MAX)
    for (const entry of due) entry.dueMs = now + NOTE_AFTER_MS
    return due
  }

  async #note(due: Entry[]): Promise<void> {
    const drafts = due.flatMap((entry) => this.#draft(entry) ?? [])
    if (drafts.length === 0) return
    const rows = drafts.map(({ entry: { call }, record }) => ({
      user_id: call.userId,
      id: call.id,
      node_id: this.#nodeId,
      plan_json: call.plan,
      record_json: record,
    }))
    const query = this.#db
      .insertInto('usage_open_calls')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['user_id', 'id'])
          .doUpdateSet(({ ref }) => ({ record_json: ref('excluded.record_json') })),
      )
      .compile()
    const write = async () => {
      try {
        await commitAsync(this.#db, async (run) => run(query))
        for (const { entry, record } of drafts)
          entry.note = { completionTokens: record.completionTokens, writing: null }
      } catch (error) {
        this.#warn(error)
      }
    }
    const writing = write()
    for (const { entry } of drafts)
      entry.note = { completionTokens: entry.note?.completionTokens ?? null, writing }
    await writing
  }

  /** Returns null if nothing new has arrived. Reports errors, so that one faulty call does not affect the others. */
  #draft(entry: Entry): { entry: Entry; record: UsageRecord } | null {
    try {
      const record = draftRecord(entry.call)
      if (!Number.isFinite(record.costUsd)) throw new Error(`${record.model} has no finite cost`)
      return record.completionTokens === entry.note?.completionTokens ? null : { entry, record }
    } catch (error) {
      this.#warn(error)
      return null
    }
  }
}

/** Builds the record that is written if the process dies now. */
function draftRecord({ id, plan, soFar, ...call }: OpenCall): UsageRecord {
  const record = { ...call, completionTokens: 0, cachedTokens: 0, ...soFar?.() }
  return {
    ...record,
    model: toStorableModel(record.model),
    reasoningTokens: 0,
    latencyMs: 0,
    firstTokenMs: null,
    attempts: 1,
    tried: 'crash',
    outcome: 'failed',
    status: 500,
    errorCode: CRASHED,
    vendorRequestId: null,
    isEstimated: true,
  }
}

export function removeNote(db: Db, userId: string, id: string): CompiledQuery {
  return db
    .deleteFrom('usage_open_calls')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .compile()
}

/** Removes the notes of a dead process, last seen at `seenAt`, and returns them as records. */
export async function takeNotes(tx: Db, deadNodeId: string, seenAt: Instant) {
  const notes = await tx
    .deleteFrom('usage_open_calls')
    .where('node_id', '=', deadNodeId)
    .returningAll()
    .execute()
  return notes.map(({ user_id: userId, id, plan_json: plan, record_json: record }) => {
    const latencyMs = Math.max(0, Date.parse(seenAt) - Date.parse(record.startedAt))
    return { userId, id, plan, record: { ...record, latencyMs } }
  })
}

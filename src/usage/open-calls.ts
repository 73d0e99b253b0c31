/**
 * Notes of running calls, so that a crash loses none. A call that runs for longer than a second has a row until it ends, updated
 * each second while words arrive. Its settlement removes the row; the rows of a dead process become records.
 */
import './tables.ts'
import type { CompiledQuery } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import { storableModel, type UsageRecord } from './record.ts'
import type { PlanPeriod } from './tables.ts'

/** A running call: `vendor` is the first to be requested, `promptTokens` an estimate, `costUsd` what these cost. */
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
  /** Shared with the record. */
  id: string
  plan: PlanPeriod
  /** Estimates the use one second ahead; null before the first words. Called once a second. */
  soFar?(): SoFar | null
}
export type SoFar = Pick<
  UsageRecord,
  'vendor' | 'model' | 'promptTokens' | 'completionTokens' | 'cachedTokens' | 'costUsd'
>
/** The part that its caller gives; the reservation adds the rest. */
export type OpenCallTerms = Omit<
  OpenCall,
  'id' | 'userId' | 'keyId' | 'promptTokens' | 'plan' | 'startedAt'
>

type Entry = {
  call: OpenCall
  /** Its index in the array; -1 after it ended. */
  index: number
  /** When it is noted next. */
  dueMs: number
  /** Null before the first try, which may be committed even if it fails. */
  note: { completionTokens: number | null; writing: Promise<void> | null } | null
}
/** `open` returns it, and `close` takes it. */
export type OpenHandle = { readonly entry: Entry }

const CRASHED = 'crashed'
const NOTE_AFTER_MS = 1_000
const ROWS_MAX = 500

export class OpenCalls {
  readonly #db: Db
  readonly #nodeId: string
  readonly #warn: (error: unknown) => void
  /** Not a Set: V8 chains the tables that a Set outgrew, and so retained every ended call (160 MB instead of 56). */
  readonly #entries: Entry[] = []
  #timer: NodeJS.Timeout | undefined
  #isNoting = false

  constructor({ db, log }: Pick<Platform, 'db' | 'log'>, nodeId: string) {
    this.#db = db
    this.#nodeId = nodeId
    const warn = seldom((details, message) => log.warn(details, message))
    this.#warn = (err) => warn({ err }, 'running calls could not be noted; a crash would lose them')
  }

  open(call: OpenCall): OpenHandle {
    const entry: Entry = { call, index: -1, dueMs: performance.now() + NOTE_AFTER_MS, note: null }
    if (this.#timer !== undefined) entry.index = this.#entries.push(entry) - 1
    return { entry }
  }

  /** @returns null for a call without a note; else resolves when a removal cannot overtake the note's insert. */
  close({ entry }: OpenHandle): Promise<void> | null {
    const { index, note } = entry
    if (index !== -1) {
      // The last entry takes its place: their order means nothing.
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

  /** Null where nothing new arrived. One faulty call does not keep others from being noted. */
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

/** The record of the call if its process dies now. */
function draftRecord({ id, plan, soFar, ...call }: OpenCall): UsageRecord {
  const record = { ...call, completionTokens: 0, cachedTokens: 0, ...soFar?.() }
  return {
    ...record,
    model: storableModel(record.model),
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

/** Removes the notes of a dead process, which was seen last at `seenAt`. @returns the records to make of them. */
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

// The ledger: every call to a model becomes one record, whatever became of it, and no budget is overspent.
// A budget is reserved before a call and settled after it, and the caller's reply (a stream's last event) waits until the
// record is committed: a crash of ours loses none that was acknowledged. Under a budget it waits for the disk as well.
import { isUniqueViolation } from '#platform/db/db.ts'
import { databaseFailure } from '#platform/db/failures.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { createBudgetWaits } from './budget-waits.ts'
import type { BudgetClaim, BudgetLimit, Granted } from './budgets.ts'
import { timeOrderedIds } from './ids.ts'
import { type Entry, type Result, type Spooled, writeEntries, writeSpooled } from './ledger-entries.ts'
import type { OpenCalls, OpenCallTerms, OpenHandle } from './open-calls.ts'
import { usageProblem } from './problems.ts'
import type { UsageRecord } from './record.ts'
import { createSpool } from './spool.ts'
import { batchWrites } from './write-batching.ts'

export type ReserveCall = {
  userId: string
  keyId: string | null
  tier: string
  /** A fair guess at the prompt's tokens, rather too many. */
  promptTokens: number
  /** What the answer may take at most. */
  completionTokens: number
  /** What will do while other calls hold the rest of a budget; else the call waits for them. */
  completionTokensMin?: number | undefined
  signal?: AbortSignal
  /** What to record if the process dies meanwhile; `costUsd` is the prompt's. */
  call?: OpenCallTerms
}

/** `completionTokens` is what the answer may take; less than asked for where a budget ends. */
export type Reservation = { completionTokens: number; granted: Granted | null; open: OpenHandle | null }

export type Ledger = {
  /** @throws Problem 429 `Monthly token budget exhausted`; the signal's reason when the caller leaves meanwhile. */
  reserve(call: ReserveCall): Promise<Reservation>
  /** Resolves when the record is committed. Gives back what was reserved and not used. */
  settle(reservation: Reservation | null, record: UsageRecord): Promise<void>
  /** Gives the reservation back without a record: no call was made. */
  release(reservation: Reservation): Promise<void>
  /** Writes what an earlier process could not. */
  start(): Promise<void>
  close(): Promise<void>
}

export type LedgerNeeds = {
  /** The month's tokens for a tier; null: no limit. */
  tierTokens(tier: string): number | null
  keyTokens(keyId: string): number | null
  /** True when any tier has a limit; then calls without one are counted for the day when they have. */
  readonly countsAll: boolean
}

/** How long a call waits for others of the same budget to end before it is refused. */
const WAIT_MS = 30_000
const MODEL_LENGTH_MAX = 200
const RETRY_DELAYS_MS = [100, 500, 2_000]

export type Deps = Pick<Platform, 'db' | 'clock' | 'log' | 'config'>

export function createLedger(deps: Deps, needs: LedgerNeeds, nodeId: string, openCalls: OpenCalls): Ledger {
  const { db, clock, log, config } = deps
  const nextId = timeOrderedIds()
  const waits = createBudgetWaits()
  const writeDeps = { db, countsAll: needs.countsAll }
  const writes = batchWrites<Entry, Result>((entries) => writeEntries(writeDeps, nodeId, entries))
  const spool = createSpool<Spooled>({ dataDir: config.dataDir, log }, (entries) => writeSpooled(writeDeps, entries))

  const opened = ({ userId, keyId, promptTokens, call }: ReserveCall): OpenHandle | null =>
    call === undefined ? null : openCalls.open({ userId, keyId, promptTokens, ...call })

  /** Tried at once, then after pauses; what the database does not take goes to the spool. */
  const settleEntry = async (granted: Granted | null, record: UsageRecord | null, open: OpenHandle | null) => {
    const note = open === null ? null : openCalls.close(open)
    // Its removal must not overtake it.
    if (note !== null && !spool.isFailing()) await note.noting
    // Known before the first try: whether one that broke off was committed cannot be told, and it is booked once.
    const id = note?.id ?? nextId(record?.startedAt ?? clock.now())
    const entry = { kind: 'settle' as const, granted, record, note: note && { userId: note.userId, id }, id }
    const keep = () => spool.add({ granted, record, note: entry.note, id, nodeId })
    if (spool.isFailing()) return keep()
    let isFirst = true
    for (const delay of [...RETRY_DELAYS_MS, null]) {
      try {
        // What failed among others is tried again alone: one record that cannot be written keeps no other from it.
        if (isFirst) await writes.add(entry)
        else await writeEntries(writeDeps, nodeId, [entry])
        break
      } catch (error) {
        // The try before was committed, or another node has taken this one for dead and recorded its call.
        if (!isFirst && isUniqueViolation(error)) break
        const failure = databaseFailure(error)
        if (delay === null || (failure !== null && failure !== 'busy')) {
          await keep()
          break
        }
        isFirst = false
        await new Promise((resolve) => setTimeout(resolve, delay))
      }
    }
    if (granted) waits.wake(granted.userId)
  }

  return {
    async reserve(call) {
      const limits = limitsOf(needs, call)
      if (limits.length === 0) return { completionTokens: call.completionTokens, granted: null, open: opened(call) }

      const claim: BudgetClaim = {
        userId: call.userId,
        month: clock.now().slice(0, 7),
        limits,
        promptTokens: call.promptTokens,
        completionTokens: call.completionTokens,
        completionTokensMin: call.completionTokensMin,
      }
      const until = performance.now() + WAIT_MS
      while (true) {
        const result = await writes.add({ kind: 'reserve', claim })
        if (call.signal?.aborted) {
          if (result !== null && typeof result === 'object') await settleEntry(result, null, null)
          throw call.signal.reason
        }
        if (result !== null && typeof result === 'object') {
          return { completionTokens: result.tokens - call.promptTokens, granted: result, open: opened(call) }
        }
        if (result !== 'wait' || performance.now() > until) {
          if (result !== 'wait') waits.wakeAll(call.userId)
          throw exhausted()
        }
        await waits.anotherEnds(call.userId, call.signal)
      }
    },
    settle: (reservation, record) =>
      settleEntry(reservation?.granted ?? null, storable(record), reservation?.open ?? null),
    async release({ granted, open }) {
      if (granted || open) await settleEntry(granted, null, open)
    },
    start: spool.start,
    async close() {
      await writes.idle()
      await spool.stop()
    },
  }
}

function exhausted(): Problem {
  // OpenAI's clients repeat a 429 otherwise, and the month does not end so soon.
  return usageProblem('budget_exhausted', { headers: { 'x-should-retry': 'false' } })
}

function limitsOf(needs: LedgerNeeds, { tier, keyId }: ReserveCall): BudgetLimit[] {
  const limits: BudgetLimit[] = []
  const tierTokens = needs.tierTokens(tier)
  if (tierTokens !== null) limits.push({ scope: '', tokens: tierTokens })
  const keyTokens = keyId === null ? null : needs.keyTokens(keyId)
  if (keyId !== null && keyTokens !== null) limits.push({ scope: keyId, tokens: keyTokens })
  return limits
}

/** A model's name may be a vendor's word for it, which is anything; a text with NUL is none to PostgreSQL. */
function storable(record: UsageRecord): UsageRecord {
  const { model } = record
  if (model.length <= MODEL_LENGTH_MAX && !model.includes('\0')) return record
  return { ...record, model: model.replaceAll('\0', '').slice(0, MODEL_LENGTH_MAX) }
}

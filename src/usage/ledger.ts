// Guards the books: every call to a model becomes one record, whatever became of it, and no budget is overspent.
// One thing to know: a budget is reserved before a call and settled after it, and the caller's reply (a stream's last
// event) waits until the record is committed: a crash of ours loses none that was acknowledged. Under a budget it waits
// for the disk as well.
import './tables.ts'
import type { CompiledQuery } from 'kysely'
import { commitAsync } from '#platform/db/async-commit.ts'
import { isUniqueViolation } from '#platform/db/db.ts'
import { databaseFailure } from '#platform/db/failures.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { type BudgetClaim, type BudgetLimit, type Granted, reserveAll, settleBudgets } from './budgets.ts'
import { timeOrderedIds } from './ids.ts'
import { type OpenCalls, type OpenHandle, removalOf } from './open-calls.ts'
import { usageProblem } from './problems.ts'
import type { UsageRecord } from './record.ts'
import { createSpool } from './spool.ts'
import { isRecorded, recordQueries } from './store.ts'
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
  call?: Pick<UsageRecord, 'route' | 'vendor' | 'model' | 'costUsd'>
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

type Entry =
  | { kind: 'settle'; granted: Granted | null; record: UsageRecord | null; note: Note | null; id: string }
  | { kind: 'reserve'; claim: BudgetClaim }
/** Of a running call, to be removed with its end. */
type Note = { userId: string; id: string }
type Result = Granted | 'wait' | 'exhausted' | null

/** How long a call waits for others of the same budget to end before it is refused. */
const WAIT_MS = 30_000
/** Other nodes' settlements are not heard of. Those far back in the line ask seldom. */
const POLL_MS = 250
const POLL_FAR_MS = 2_000
/** A call that ends frees little more than one place: waking the whole line each time would be quadratic. */
const WOKEN_MAX = 8
const MODEL_LENGTH_MAX = 200
const RETRY_DELAYS_MS = [100, 500, 2_000]

export type Deps = Pick<Platform, 'db' | 'clock' | 'log' | 'config'>

export function createLedger(deps: Deps, needs: LedgerNeeds, nodeId: string, openCalls: OpenCalls): Ledger {
  const { clock, log } = deps
  const nextId = timeOrderedIds(deps)
  const waitingByUser = new Map<string, Set<() => void>>()

  const turns = batchWrites<Entry, Result>((entries) => withoutDeadlock(() => writeTurn(deps, needs, nodeId, entries)))
  const spool = createSpool<Spooled>({ dataDir: deps.config.dataDir, log }, (entries) =>
    withoutDeadlock(() => writeSpooled(deps, needs, entries)),
  )

  const wake = (userId: string, most: number) => {
    for (const retry of [...(waitingByUser.get(userId) ?? [])].slice(0, most)) retry()
  }

  /** Resolves when another call of the user ends, or after a while. */
  const anotherEnds = (userId: string, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve) => {
      const set = waitingByUser.get(userId) ?? new Set()
      waitingByUser.set(userId, set)
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        set.delete(done)
        if (set.size === 0) waitingByUser.delete(userId)
        resolve()
      }
      const timer = setTimeout(done, set.size < WOKEN_MAX ? POLL_MS : POLL_FAR_MS)
      signal?.addEventListener('abort', done)
      set.add(done)
    })

  const opened = ({ userId, keyId, promptTokens, call }: ReserveCall): OpenHandle | null =>
    call === undefined ? null : openCalls.open({ userId, keyId, promptTokens, ...call })

  const settleEntry = async (granted: Granted | null, record: UsageRecord | null, open: OpenHandle | null) => {
    const note = open === null ? null : openCalls.close(open)
    // Its removal must not overtake it.
    if (note !== null && !spool.isFailing()) await note.noting
    // Known before the first try: whether one that broke off was committed cannot be told, and it is booked once.
    const id = note?.id ?? nextId()
    const entry = { kind: 'settle' as const, granted, record, note: note && { userId: note.userId, id }, id }
    const keep = () => spool.add({ granted, record, note: entry.note, id, nodeId })
    if (spool.isFailing()) return keep()
    let isFirst = true
    for (const delay of [...RETRY_DELAYS_MS, null]) {
      try {
        // What failed among others is tried again alone: one record that cannot be written keeps no other from it.
        if (isFirst) await turns.add(entry)
        else await withoutDeadlock(() => writeTurn(deps, needs, nodeId, [entry]))
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
    if (granted) wake(granted.userId, WOKEN_MAX)
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
        const result = await turns.add({ kind: 'reserve', claim })
        if (call.signal?.aborted) {
          if (result !== null && typeof result === 'object') await settleEntry(result, null, null)
          throw call.signal.reason
        }
        if (result !== null && typeof result === 'object') {
          return { completionTokens: result.tokens - call.promptTokens, granted: result, open: opened(call) }
        }
        if (result !== 'wait' || performance.now() > until) {
          // Nothing is left: the others in line need not wait to hear it.
          if (result !== 'wait') wake(call.userId, Number.POSITIVE_INFINITY)
          throw exhausted()
        }
        await anotherEnds(call.userId, call.signal)
      }
    },
    settle: (reservation, record) =>
      settleEntry(reservation?.granted ?? null, storable(record), reservation?.open ?? null),
    async release({ granted, open }) {
      if (granted || open) await settleEntry(granted, null, open)
    },
    start: spool.start,
    async close() {
      await turns.idle()
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

/** Two nodes may lock two users' budgets crosswise; PostgreSQL then ends one of the transactions (40P01). */
async function withoutDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let left = 3; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (left === 0 || (error as { code?: unknown }).code !== '40P01') throw error
    }
  }
}

/**
 * Records alone are handed over without waiting for the disk. Where a budget is decided on, the disk has it first, or a
 * power cut would give back what was spent. Settlements go first: they free what the reservations of the turn may take.
 */
async function writeTurn(deps: Deps, needs: LedgerNeeds, nodeId: string, entries: Entry[]): Promise<Result[]> {
  const settled = entries.filter((entry) => entry.kind === 'settle')
  const counted = settled.filter(({ granted }) => needs.countsAll || granted !== null)
  const queries = queriesOf(deps, settled)
  if (counted.length === 0 && settled.length === entries.length) {
    await commitAsync(deps.db, queries)
    return entries.map(() => null)
  }

  return deps.db.transaction().execute(async (tx) => {
    for (const query of queries) await tx.executeQuery(query)
    await settleBudgets(tx, nodeId, counted)

    const claims = entries.flatMap((entry) => (entry.kind === 'reserve' ? [entry.claim] : []))
    const answers = claims.length === 0 ? [] : await reserveAll(tx, nodeId, claims)
    let next = 0
    return entries.map((entry) => (entry.kind === 'reserve' ? (answers[next++] ?? null) : null))
  })
}

type Settled = Extract<Entry, { kind: 'settle' }>

/** The records under their own ids, and the notes away. */
function queriesOf({ db }: Deps, settled: Pick<Settled, 'id' | 'record' | 'note'>[]): CompiledQuery[] {
  const written = settled.flatMap(({ id, record }) => (record === null ? [] : [{ id, record }]))
  const ids = written.map(({ id }) => id).values()
  const records = written.map(({ record }) => record)
  const queries = recordQueries(db, records, () => ids.next().value ?? '')
  for (const { note } of settled) if (note !== null) queries.push(removalOf(db, note.userId, note.id))
  return queries
}

/** `nodeId` is that of the process that made the reservation: another one's has been given back. */
type Spooled = Omit<Settled, 'kind'> & { nodeId: string }

/** What is there already was committed by the try that seemed to fail, or by a replay whose process died. */
async function writeSpooled(deps: Deps, needs: LedgerNeeds, entries: Spooled[]): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    const fresh: Spooled[] = []
    for (const entry of entries) {
      const { record, id } = entry
      if (record === null || !(await isRecorded(tx, record.userId, id))) fresh.push(entry)
    }
    for (const query of queriesOf({ ...deps, db: tx }, fresh)) await tx.executeQuery(query)
    for (const entry of fresh) {
      if (needs.countsAll || entry.granted !== null) await settleBudgets(tx, entry.nodeId, [entry])
    }
  })
}

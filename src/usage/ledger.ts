// The ledger: every call to a model becomes one record, whatever became of it, and no budget is overspent.
// A budget is reserved before a call and settled after it, and the caller's reply (a stream's last event) waits until the
// record is committed: a crash of ours loses none that was acknowledged.
import type { Instant } from '#platform/clock.ts'
import type { Run } from '#platform/db/async-commit.ts'
import { isUniqueViolation } from '#platform/db/db.ts'
import { DatabaseUnreachable, databaseFailure } from '#platform/db/failures.ts'
import { batchWrites } from '#platform/db/write-batching.ts'
import type { Caller, KeyBudget } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { type BudgetWaits, createBudgetWaits } from './budget-waits.ts'
import type { BudgetAnswer, BudgetClaim, BudgetLimit, Granted } from './budgets.ts'
import { timeOrderedIds } from './ids.ts'
import {
  type Entry,
  type Result,
  type Spooled,
  writeEntries,
  writeSpooled,
} from './ledger-entries.ts'
import { isAlone } from './nodes.ts'
import type { OpenCalls, OpenCallTerms, OpenHandle } from './open-calls.ts'
import { createOwnHolds, type OwnHolds } from './own-holds.ts'
import { type Period, periodsAt, spanAt } from './periods.ts'
import { lessOveruse, type PlanBudget, type PlanBudgets, type PlanPeriod } from './plan-budgets.ts'
import { usageProblem } from './problems.ts'
import { storableModel, type UsageRecord } from './record.ts'
import { createSpool } from './spool.ts'

export type ReserveCall = {
  userId: string
  keyId: string | null
  tier: string
  /** What payments bought of the plan's allowance. */
  slices: Caller['slices']
  /** The key's own budgets. */
  budget?: KeyBudget | null | undefined
  /** A fair guess at the prompt's tokens, rather too many. */
  promptTokens: number
  /** What the prompt costs at most, in thousand-millionths of a dollar; `tokenNanos`: each token of the answer. */
  promptNanos: number
  tokenNanos: number
  /** What the answer may take at most. */
  completionTokens: number
  /** What will do where a budget is short; else the call waits for those that hold the rest of it. */
  completionTokensMin?: number | undefined
  /** Answers that share them: one token each is the least that is reserved. */
  choices?: number | undefined
  /** Asked again for less where it does not fit: it waits for nobody, and tells nobody. */
  isTrial?: boolean | undefined
  signal?: AbortSignal
  /** What to record if the process dies meanwhile; `costUsd` is the prompt's. */
  call?: Omit<OpenCallTerms, 'startedAt'>
}

/**
 * `completionTokens` is what the answer may take; less than asked for where a budget ends. `at` and `plan`: the days and the plan's budget
 * that it counts in.
 */
export type Reservation = {
  completionTokens: number
  at: Instant
  plan: PlanBudget
  granted: Granted | null
  open: OpenHandle | null
}

export type Ledger = {
  /** @throws Problem 429 when a budget is exhausted; the signal's reason when the caller leaves meanwhile. */
  reserve(call: ReserveCall): Promise<Reservation>
  /** Resolves when the record is committed. Gives back what was reserved and not used. */
  settle(reservation: Reservation | null, record: UsageRecord): Promise<void>
  /** Gives the reservation back without a record: no call was made. */
  release(reservation: Reservation): Promise<void>
  /** What running calls of this process hold of a budget and no row tells, in thousand-millionths of a dollar. */
  heldNanos(userId: string, scope: string, period: string): number
  /** Writes what an earlier process could not. */
  start(): Promise<void>
  close(): Promise<void>
}

export type LedgerNeeds = { planBudget: PlanBudgets }

/** How long a call waits for others of the same budget to end before it is refused. */
const WAIT_MS = 30_000
const RETRY_DELAYS_MS = [100, 500, 2_000]

export type Deps = Pick<Platform, 'db' | 'clock' | 'log' | 'config' | 'metrics'>

export function createLedger(
  deps: Deps,
  needs: LedgerNeeds,
  nodeId: string,
  openCalls: OpenCalls,
): Ledger {
  const { db, clock, log, config } = deps
  const nextId = timeOrderedIds()
  const waits = createBudgetWaits()
  const ownHolds = isAlone({ db, config }) ? createOwnHolds(db) : null
  const writes = createWrites(db, nodeId, ownHolds)
  /** What calls hold whose ends wait in the spool, by the ends' ids. */
  const spooledHolds = new Map<string, Granted>()
  const giveBack = (granted: Granted) => {
    ownHolds?.release(granted)
    wakeWaiting(waits, granted)
  }
  const releaseSpooled = ({ id }: Spooled) => {
    const granted = spooledHolds.get(id)
    spooledHolds.delete(id)
    if (granted !== undefined) giveBack(granted)
  }
  const writeFromSpool = async (entries: Spooled[]) => {
    await writeSpooled(db, entries)
    ownHolds?.forget()
    entries.forEach(releaseSpooled)
  }
  const spool = createSpool<Spooled>(
    { dataDir: config.dataDir, log, onLost: releaseSpooled },
    writeFromSpool,
  )
  deps.metrics.readings(
    'latchkey_usage_spooling',
    '1: ends of calls wait in a file, as the database takes none',
    () => [{ labels: {}, value: Number(spool.isFailing()) }],
  )

  const opened = (
    { userId, keyId, promptTokens, call }: ReserveCall,
    plan: PlanBudget,
    startedAt: Instant,
  ) => {
    if (call === undefined) return null
    const { name, end, nanos } = plan
    return openCalls.open({
      userId,
      keyId,
      promptTokens,
      ...call,
      plan: { name, end, nanos },
      startedAt,
    })
  }

  /** Tried at once, then after pauses; what the database does not take goes to the spool. */
  const settleEntry = async (
    { granted, open, plan }: Pick<Reservation, 'granted' | 'open'> & { plan: PlanPeriod | null },
    record: UsageRecord | null,
  ) => {
    const note = open === null ? null : openCalls.close(open)
    if (ownHolds !== null && record === null && note === null) {
      // Nothing of it stands in a row.
      if (granted !== null) giveBack(granted)
      return
    }
    // Its removal must not overtake it.
    if (note !== null && !spool.isFailing()) await note.noting
    // Known before the first try: whether one that broke off was committed cannot be told, and it is booked once.
    const id = note?.id ?? nextId(record?.startedAt ?? clock.now())
    const settled = {
      kind: 'settle' as const,
      id,
      record,
      plan: record && plan && { name: plan.name, end: plan.end, nanos: plan.nanos },
      note: note && { userId: note.userId, id },
      // What is held in memory stands in no row.
      granted: ownHolds === null ? granted : null,
    }
    const keep = async () => {
      if (ownHolds !== null && granted !== null) spooledHolds.set(id, granted)
      await spool.add({ ...settled, nodeId })
    }
    if (spool.isFailing()) return keep()
    if (!(await writes.written(settled))) await keep()
    else if (granted !== null) ownHolds?.release(granted)
    // Where the database takes nothing they are told so.
    if (granted !== null) wakeWaiting(waits, granted)
  }

  /** What failed among others is tried again alone: one claim that cannot be written refuses no other. */
  const claimed = async (claim: BudgetClaim): Promise<Result> => {
    if (ownHolds !== null) {
      if (spool.isFailing()) throw new DatabaseUnreachable('the database takes no records of calls')
      return ownHolds.reserve(claim)
    }
    const entry = { kind: 'reserve' as const, claim }
    try {
      return await writes.add(entry)
    } catch (error) {
      if (databaseFailure(error) !== null) throw error
      const [answer = null] = await writeEntries(db, nodeId, [entry])
      return answer
    }
  }

  const reserved = (call: ReserveCall, plan: PlanBudget, granted: Granted): Reservation => {
    const { completionTokens, at } = granted
    return { completionTokens, at, plan, granted, open: opened(call, plan, at) }
  }

  /** Waits for other calls of a budget while it is short. */
  const reserve = async (call: ReserveCall): Promise<Reservation> => {
    const { userId, isTrial, signal } = call
    const until = performance.now() + WAIT_MS
    while (true) {
      const at = clock.now()
      const run: Run = (query) => db.executeQuery(query)
      const plan = await lessOveruse({ db, run }, userId, needs.planBudget(call, at))
      const answer = await claimed(claimOf(call, limitsOf(plan, call, at), at))
      if (answer === null) throw new Error('a claim was not answered')
      if (signal?.aborted) {
        if (answer.is === 'granted')
          await settleEntry({ granted: answer.granted, open: null, plan }, null)
        throw signal.reason
      }
      if (answer.is === 'granted') return reserved(call, plan, answer.granted)
      const budget = waitName(userId, answer.scope)
      if (answer.is === 'exhausted') {
        if (!isTrial) waits.wakeAll(budget)
        throw exhausted(answer)
      }
      if (performance.now() > until)
        throw usageProblem('budget_busy', { headers: { 'Retry-After': '5' } })
      await waits.anotherEnds(budget, signal)
    }
  }

  return {
    reserve(call) {
      const { completionTokens, signal } = call
      const at = clock.now()
      const plan = needs.planBudget(call, at)
      const limits = limitsOf(plan, call, at)
      if (limits.length === 0) {
        return Promise.resolve({
          completionTokens,
          at,
          plan,
          granted: null,
          open: opened(call, plan, at),
        })
      }
      const isReady =
        ownHolds !== null && !spool.isFailing() && !signal?.aborted && plan.earlier.length === 0
      const granted = isReady ? ownHolds.reserveAtOnce(claimOf(call, limits, at)) : null
      return granted === null ? reserve(call) : Promise.resolve(reserved(call, plan, granted))
    },
    settle: (reservation, record) =>
      settleEntry(reservation ?? { granted: null, open: null, plan: null }, storable(record)),
    async release(reservation) {
      if (reservation.granted || reservation.open) await settleEntry(reservation, null)
    },
    heldNanos: (userId, scope, period) => ownHolds?.heldOf(userId, scope, period).nanos ?? 0,
    start: spool.start,
    async close() {
      await writes.idle()
      await spool.stop()
    },
  }
}

/** In batches: what comes at one moment is one transaction. */
function createWrites(db: Deps['db'], nodeId: string, ownHolds: OwnHolds | null) {
  const batches = batchWrites<Entry, Result>((entries) =>
    writeEntries(db, nodeId, entries, ownHolds?.counted),
  )

  /** What failed among others is tried again alone: one record that cannot be written keeps no other from it. */
  const writtenAlone = async (entry: Entry, failed: unknown): Promise<boolean> => {
    let error = failed
    for (const delay of RETRY_DELAYS_MS) {
      if (!mayPass(error)) return false
      await new Promise((resolve) => setTimeout(resolve, delay))
      try {
        await writeEntries(db, nodeId, [entry], ownHolds?.counted)
        return true
      } catch (again) {
        // The try before was committed, or another node has taken this one for dead and recorded its call.
        if (isUniqueViolation(again)) return isThere(ownHolds)
        error = again
      }
    }
    return false
  }

  return {
    ...batches,
    /** Tried at once, then after pauses; false where the database does not take it. */
    written: (entry: Entry): Promise<boolean> =>
      batches.add(entry).then(yes, (error) => writtenAlone(entry, error)),
  }
}

const yes = () => true

function mayPass(error: unknown): boolean {
  const failure = databaseFailure(error)
  return failure === null || failure === 'busy'
}

/** Nobody has told the memory what the commit that wrote it has counted. */
function isThere(ownHolds: Pick<OwnHolds, 'forget'> | null): true {
  ownHolds?.forget()
  return true
}

function claimOf(call: ReserveCall, limits: BudgetLimit[], at: Instant): BudgetClaim {
  return {
    userId: call.userId,
    at,
    limits,
    promptTokens: call.promptTokens,
    promptNanos: call.promptNanos,
    tokenNanos: call.tokenNanos,
    completionTokens: call.completionTokens,
    completionTokensMin: call.completionTokensMin,
    choices: call.choices,
    isTrial: call.isTrial,
  }
}

function wakeWaiting(waits: Pick<BudgetWaits, 'wake'>, { userId, budgets }: Granted): void {
  for (const { scope } of budgets) waits.wake(waitName(userId, scope))
}

const waitName = (userId: string, scope: string) => `${userId}|${scope}`

const ADVERBS = { day: 'Daily', week: 'Weekly', month: 'Monthly' } as const

function exhausted({ scope, period, unit }: Extract<BudgetAnswer, { is: 'exhausted' }>): Problem {
  // OpenAI's clients repeat a 429 otherwise, and no budget begins anew so soon.
  const headers = { 'x-should-retry': 'false' }
  if (unit === 'tokens') return usageProblem('token_budget_exhausted', { headers })
  if (scope === '') return usageProblem('budget_exhausted', { headers })
  return usageProblem('key_budget_exhausted', { period: ADVERBS[period ?? 'month'] }, { headers })
}

function limitsOf(
  plan: PlanBudget,
  { keyId, budget, promptNanos, tokenNanos }: ReserveCall,
  at: Instant,
): BudgetLimit[] {
  const limits: BudgetLimit[] = []
  // What costs nothing is refused by no price.
  const isFree = promptNanos === 0 && tokenNanos === 0
  const add = ({ tokens, nanos: dollars, ...limit }: BudgetLimit) => {
    const nanos = isFree ? null : dollars
    if (tokens !== null || nanos !== null) limits.push({ ...limit, tokens, nanos })
  }
  const { name, end, tokens, nanos } = plan
  add({ scope: '', period: plan.isPaid ? null : 'month', name, end, tokens, nanos })
  if (keyId === null || !budget) return limits
  const { monthlyTokens, dollars } = budget
  const ofKey = (period: Period) => ({
    scope: keyId,
    period,
    name: periodsAt(at)[period],
    end: spanAt(period, at).end,
  })
  const isMonthly = dollars?.period === 'month'
  add({ ...ofKey('month'), tokens: monthlyTokens, nanos: isMonthly ? dollars.limitNanos : null })
  if (dollars !== null && !isMonthly)
    add({ ...ofKey(dollars.period), tokens: null, nanos: dollars.limitNanos })
  return limits
}

function storable(record: UsageRecord): UsageRecord {
  const model = storableModel(record.model)
  return model === record.model ? record : { ...record, model }
}

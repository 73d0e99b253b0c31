/**
 * The ledger. Every call to a model becomes one record, even if it fails, and no budget is overspent.
 * A call reserves amounts on its budgets before it starts and settles them at its end. Its reply (the
 * last event of a stream) waits for the commit, so a crash loses no acknowledged call.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Instant } from '#platform/clock.ts'
import { databaseFailure } from '#platform/db/failures.ts'
import { batchWrites } from '#platform/db/write-batching.ts'
import type { Caller, KeyBudget } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { BudgetQueue } from './budget-queue.ts'
import { type BudgetLimit, type Held, toBudgetTx } from './budgets.ts'
import { createIdGenerator } from './ids.ts'
import { LocalReservations } from './local-reservations.ts'
import { isAlone, Nodes } from './nodes.ts'
import { OpenCalls, type OpenCallTerms, type OpenHandle } from './open-calls.ts'
import { computeSpan, namePeriods, type Period } from './periods.ts'
import { type PlanBudget, type PlanBudgets, subtractOveruse } from './plan-budgets.ts'
import { usageProblem } from './problems.ts'
import { toStorableModel, type UsageRecord } from './record.ts'
import type { CallSize, ReservationResult, Reservations } from './reservations.ts'
import { type Settlement, writeSettlements } from './settlements.ts'
import { SharedReservations } from './shared-reservations.ts'
import { Spool } from './spool.ts'
import type { PlanPeriod } from './tables.ts'

export type ReserveCall = CallSize & {
  userId: string
  keyId: string | null
  tier: string
  /** The billing periods that the user has paid for. */
  slices: Caller['slices']
  /** The budgets of the key. */
  budget?: KeyBudget | null | undefined
  signal?: AbortSignal
  /** The record to write if the process dies during the call; `costUsd` is the cost of the prompt. */
  call?: OpenCallTerms
}

/**
 * `completionTokens` is the longest answer that the budgets allow. The call counts in the period of
 * `plan` and on the day of `at`.
 */
export type Reservation = {
  id: string
  userId: string
  completionTokens: number
  at: Instant
  plan: PlanBudget
  held: Held | null
  open: OpenHandle | null
}

type ReservedRow = { scope: string; period: string; reserved_nanos: number }

/** Decides who has the allowance of the free plan, which each mailbox has once. */
export type FreeAllowance = {
  claim(userId: string): Promise<'granted' | 'unverified' | 'taken'>
  isAvailable(userId: string): Promise<boolean>
}

/** The maximum time that a call waits for other calls with the same budget. */
const WAIT_MS = 30_000
const RETRY_DELAYS_MS = [100, 500, 2_000]

export class Ledger {
  readonly #platform: Pick<Platform, 'db' | 'clock' | 'config'>
  readonly #planBudget: PlanBudgets
  readonly #freeAllowance: FreeAllowance
  readonly #isAlone: boolean
  readonly #reservations: Reservations
  readonly #openCalls: OpenCalls
  readonly #nodes: Nodes
  readonly #spool: Spool<Settlement>
  readonly #nextId = createIdGenerator()
  readonly #queue = new BudgetQueue()
  readonly #batches = batchWrites(async (settlements: Settlement[]) => {
    await this.#write(settlements, false)
    return settlements.map(() => null)
  })

  constructor(
    platform: Pick<Platform, 'db' | 'clock' | 'log' | 'config' | 'metrics'>,
    { planBudget, freeAllowance }: { planBudget: PlanBudgets; freeAllowance: FreeAllowance },
    nodeId: string,
  ) {
    const { db, config, log, metrics } = platform
    this.#platform = platform
    this.#planBudget = planBudget
    this.#freeAllowance = freeAllowance
    this.#spool = new Spool({
      dataDir: config.dataDir,
      log,
      write: (settlements) => this.#write(settlements, true),
      onLost: (settlement) => this.#write([{ ...settlement, record: null }], true),
    })
    this.#isAlone = isAlone(platform)
    this.#reservations = this.#isAlone
      ? new LocalReservations(db)
      : new SharedReservations(db, nodeId)
    this.#openCalls = new OpenCalls(platform, nodeId)
    this.#nodes = new Nodes(platform, nodeId)
    metrics.readings(
      'latchkey_usage_spooling',
      '1 while records of calls wait in a file because the database is unavailable',
      () => [{ labels: {}, value: Number(this.#spool.isFailing) }],
    )
  }

  /** Writes the spooled records of an earlier process before its notes become records of a crash. */
  async start(): Promise<void> {
    await this.#spool.start()
    await this.#nodes.start()
    this.#openCalls.start()
  }

  async close(): Promise<void> {
    this.#openCalls.stop()
    this.#nodes.stop()
    await this.#batches.idle()
    await this.#spool.stop()
  }

  /** @throws Problem 429 when a budget is exhausted; the signal's reason when the caller disconnects */
  async reserve(call: ReserveCall): Promise<Reservation> {
    const { db, clock } = this.#platform
    const { userId, signal } = call
    const deadlineMs = performance.now() + WAIT_MS
    // A reservation in memory would begin calls that the database cannot record.
    if (this.#isAlone && this.#spool.isFailing) await this.#nodes.beat()
    while (true) {
      const at = clock.now()
      const plan = await subtractOveruse(toBudgetTx(db), userId, this.#planBudget(call, at))
      if (plan.isFree && !isFreeOfCharge(call)) await this.#claimFreeAllowance(userId)
      const id = this.#nextId(at)
      const limits = listLimits(plan, call, at)
      const result: ReservationResult =
        limits.length === 0
          ? { is: 'reserved', held: null, completionTokens: call.completionTokens }
          : await this.#reservations.reserve({ ...call, id, at, limits })
      if (result.is === 'reserved') {
        const { held, completionTokens } = result
        const reservation = { id, userId, completionTokens, at, plan, held, open: null }
        if (!signal?.aborted) return this.#open(call, reservation)
        await this.release(reservation)
      }
      signal?.throwIfAborted()
      if (result.is === 'exhausted') throw this.#refuse(call, result)
      if (result.is === 'wait') {
        if (performance.now() > deadlineMs)
          throw usageProblem('budget_busy', { headers: { 'Retry-After': '5' } })
        await this.#queue.wait(`${userId}|${result.scope}`, signal)
      }
    }
  }

  /** Writes the record and releases the reservation; resolves after the commit. */
  async settle(reservation: Reservation | null, record: UsageRecord): Promise<void> {
    await this.#end(reservation, { ...record, model: toStorableModel(record.model) })
  }

  /** Releases the reservation without a record, because no call was made. */
  async release(reservation: Reservation): Promise<void> {
    await this.#end(reservation, null)
  }

  /** Returns the nanodollars that running calls have reserved on the budget of this row. */
  readReservedNanos(userId: string, row: ReservedRow | undefined): number {
    if (row === undefined) return 0
    return row.reserved_nanos + this.#reservations.readUnwritten(userId, row).nanos
  }

  /** @throws Problem 403 when the address is not verified, or another account has the allowance */
  async #claimFreeAllowance(userId: string): Promise<void> {
    const claim = await this.#freeAllowance.claim(userId)
    if (claim === 'unverified') throw usageProblem('free_needs_verified_email')
    if (claim === 'taken') throw usageProblem('free_allowance_taken')
  }

  #open({ call: terms, keyId, promptTokens }: ReserveCall, reservation: Reservation): Reservation {
    if (terms === undefined) return reservation
    const { id, userId, at } = reservation
    const plan = narrowPlan(reservation.plan)
    const call = { ...terms, id, userId, keyId, promptTokens, plan, startedAt: at }
    return { ...reservation, open: this.#openCalls.open(call) }
  }

  #refuse({ userId, isTrial }: ReserveCall, { scope, period, unit }: Exhausted): Problem {
    // The waiting calls are refused, too.
    if (!isTrial) this.#queue.wake(`${userId}|${scope}`, Number.POSITIVE_INFINITY)
    // Without this header, OpenAI's clients retry a 429, although the budget is still exhausted.
    const headers = { 'x-should-retry': 'false' }
    if (unit === 'tokens') return usageProblem('token_budget_exhausted', { headers })
    if (scope === '') return usageProblem('budget_exhausted', { headers })
    const adverb = period === 'day' ? 'Daily' : period === 'week' ? 'Weekly' : 'Monthly'
    return usageProblem('key_budget_exhausted', { period: adverb }, { headers })
  }

  async #end(reservation: Reservation | null, record: UsageRecord | null): Promise<void> {
    const held = reservation?.held ?? null
    const note = reservation?.open ? this.#openCalls.close(reservation.open) : null
    const hasNote = note !== null
    await note
    const isReserved = held !== null && !this.#isAlone
    const settlement: Settlement = {
      // The id is fixed before the first try, which may be committed even if it reports an error; the
      // next try then finds the record.
      id: reservation?.id ?? this.#nextId(record?.startedAt ?? this.#platform.clock.now()),
      userId: reservation?.userId ?? record?.userId ?? '',
      record,
      plan: reservation && narrowPlan(reservation.plan),
      isReserved,
      hasNote,
    }
    if (record === null && !isReserved && !hasNote) this.#reservations.release([settlement.id], [])
    else if (!(await this.#tryWrite(settlement))) await this.#spool.add(settlement)
    for (const { scope } of held?.budgets ?? []) this.#queue.wake(`${settlement.userId}|${scope}`)
  }

  async #write(settlements: readonly Settlement[], isRepeated: boolean): Promise<void> {
    const ids = settlements.map(({ id }) => id)
    await writeSettlements(this.#platform.db, settlements, isRepeated, (changed) =>
      this.#reservations.release(ids, changed),
    )
  }

  /** Returns false if the database does not accept the settlement. */
  async #tryWrite(settlement: Settlement): Promise<boolean> {
    if (this.#spool.isFailing) return false
    try {
      await this.#batches.add(settlement)
      return true
    } catch (error) {
      return this.#retryWrite(settlement, error)
    }
  }

  /** Retries the settlement alone, so that a faulty one does not fail the others of its batch. */
  async #retryWrite(settlement: Settlement, firstError: unknown): Promise<boolean> {
    let error = firstError
    for (const delayMs of RETRY_DELAYS_MS) {
      const failure = databaseFailure(error)
      if (failure !== null && failure !== 'busy') return false
      await pause(delayMs)
      try {
        await this.#write([settlement], true)
        return true
      } catch (again) {
        error = again
      }
    }
    return false
  }
}

type Exhausted = Extract<ReservationResult, { is: 'exhausted' }>

function narrowPlan({ name, end, nanos }: PlanBudget): PlanPeriod {
  return { name, end, nanos }
}

const isFreeOfCharge = ({ promptNanos, tokenNanos }: ReserveCall) =>
  promptNanos === 0 && tokenNanos === 0

/** Lists the budgets that apply to a call: the plan's first, then the key's. */
function listLimits(plan: PlanBudget, call: ReserveCall, at: Instant): BudgetLimit[] {
  const limits: BudgetLimit[] = []
  // Budgets in dollars do not limit a call without cost.
  const isFree = isFreeOfCharge(call)
  const add = (limit: BudgetLimit) => {
    const nanos = isFree ? null : limit.nanos
    if (limit.tokens !== null || nanos !== null) limits.push({ ...limit, nanos })
  }
  const { name, end, tokens, nanos } = plan
  add({ scope: '', period: plan.isPaid ? null : 'month', name, end, tokens, nanos })
  const { keyId, budget } = call
  if (keyId === null || !budget) return limits
  const { monthlyTokens, dollars } = budget
  const addOfKey = (period: Period, amounts: Pick<BudgetLimit, 'tokens' | 'nanos'>) =>
    add({
      scope: keyId,
      period,
      name: namePeriods(at)[period],
      end: computeSpan(period, at).end,
      ...amounts,
    })
  const isMonthly = dollars?.period === 'month'
  addOfKey('month', { tokens: monthlyTokens, nanos: isMonthly ? dollars.limitNanos : null })
  if (dollars !== null && !isMonthly)
    addOfKey(dollars.period, { tokens: null, nanos: dollars.limitNanos })
  return limits
}

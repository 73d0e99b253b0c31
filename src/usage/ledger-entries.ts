// What the ledger writes in one transaction: settled calls and reservations, as they come in one batch, or from the spool.
import './tables.ts'
import type { CompiledQuery } from 'kysely'
import { commitAsync } from '#platform/db/async-commit.ts'
import type { Db } from '#platform/db/db.ts'
import { type BudgetClaim, type Granted, reserveAll, settleBudgets } from './budgets.ts'
import { removalOf } from './open-calls.ts'
import type { UsageRecord } from './record.ts'
import { isRecorded, recordQueries } from './store.ts'

/** `countsAll`: calls without a budget are counted as well. */
export type WriteDeps = { db: Db; countsAll: boolean }

export type Entry =
  | { kind: 'settle'; granted: Granted | null; record: UsageRecord | null; note: Note | null; id: string }
  | { kind: 'reserve'; claim: BudgetClaim }
/** Of a running call, to be removed with its end. */
type Note = { userId: string; id: string }
export type Result = Granted | 'wait' | 'exhausted' | null

/**
 * Records alone are handed over without waiting for the disk. Where a budget is decided on, the disk has it first, or a
 * power cut would give back what was spent. Settlements go first: they free what the reservations beside them may take.
 */
export function writeEntries(deps: WriteDeps, nodeId: string, entries: Entry[]): Promise<Result[]> {
  return withoutDeadlock(() => writeOnce(deps, nodeId, entries))
}

async function writeOnce({ db, countsAll }: WriteDeps, nodeId: string, entries: Entry[]): Promise<Result[]> {
  const settled = entries.filter((entry) => entry.kind === 'settle')
  const counted = settled.filter(({ granted }) => countsAll || granted !== null)
  const queries = queriesOf(db, settled)
  if (counted.length === 0 && settled.length === entries.length) {
    await commitAsync(db, queries)
    return entries.map(() => null)
  }

  return db.transaction().execute(async (tx) => {
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
function queriesOf(db: Db, settled: Pick<Settled, 'id' | 'record' | 'note'>[]): CompiledQuery[] {
  const written = settled.flatMap(({ id, record }) => (record === null ? [] : [{ id, record }]))
  const ids = written.map(({ id }) => id).values()
  const records = written.map(({ record }) => record)
  const queries = recordQueries(db, records, () => ids.next().value ?? '')
  for (const { note } of settled) if (note !== null) queries.push(removalOf(db, note.userId, note.id))
  return queries
}

/** `nodeId` is that of the process that made the reservation: another one's has been given back. */
export type Spooled = Omit<Settled, 'kind'> & { nodeId: string }

/** What is there already was committed by the try that seemed to fail, or by a replay whose process died. */
export function writeSpooled({ db, countsAll }: WriteDeps, entries: Spooled[]): Promise<void> {
  const write = async (tx: Db) => {
    const fresh: Spooled[] = []
    for (const entry of entries) {
      const { record, id } = entry
      if (record === null || !(await isRecorded(tx, record.userId, id))) fresh.push(entry)
    }
    for (const query of queriesOf(tx, fresh)) await tx.executeQuery(query)
    for (const entry of fresh) {
      if (countsAll || entry.granted !== null) await settleBudgets(tx, entry.nodeId, [entry])
    }
  }
  return withoutDeadlock(() => db.transaction().execute(write))
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

// What the ledger writes in one transaction: settled calls and reservations, as they come in one batch, or from the spool.
import './tables.ts'
import type { CompiledQuery } from 'kysely'
import { commitAsync, type Run } from '#platform/db/async-commit.ts'
import { isCluster } from '#platform/db/cluster.ts'
import { type Db, dialectOf } from '#platform/db/db.ts'
import type { BudgetAnswer, BudgetClaim } from './budgets.ts'
import { removalOf } from './open-calls.ts'
import { type Counted, type Settlement, settleBudgets, settlesNothing } from './settlements.ts'
import { reserveAll } from './shared-holds.ts'
import { isRecorded, recordQueries, recordsAlone } from './store.ts'

export type Entry =
  | ({ kind: 'settle'; note: Note | null; id: string } & Settlement)
  | { kind: 'reserve'; claim: BudgetClaim }
/** Of a running call, to be removed with its end. */
type Note = { userId: string; id: string }
export type Result = BudgetAnswer | null

type OnCounted = (counted: readonly Counted[]) => void

/**
 * Handed over without waiting for the disk: what is used of a budget is as sure as the records that it is the sum of.
 * Settlements go first: they free what the reservations beside them may take. `onCounted` hears of what they count with the commit.
 */
export function writeEntries(
  db: Db,
  nodeId: string,
  entries: Entry[],
  onCounted?: OnCounted,
): Promise<Result[]> {
  return withoutDeadlock(() => writeOnce(db, nodeId, entries, onCounted))
}

async function writeOnce(
  db: Db,
  nodeId: string,
  entries: Entry[],
  onCounted?: OnCounted,
): Promise<Result[]> {
  const settled: Settled[] = []
  const claims: BudgetClaim[] = []
  for (const entry of entries) {
    if (entry.kind === 'settle') settled.push(entry)
    else claims.push(entry.claim)
  }
  if (claims.length === 0 && (await areRecordsAlone(db, settled))) {
    const { ids, records } = writtenOf(settled)
    await db.executeQuery(recordsAlone(db, records, () => ids.next().value ?? ''))
    return entries.map(() => null)
  }
  const queries = queriesOf(db, settled)
  const work = async (run: Run) => {
    for (const query of queries) await run(query)
    const counted = settled.length === 0 ? [] : await settleBudgets({ db, run }, nodeId, settled)
    const answers = claims.length === 0 ? [] : await reserveAll({ db, run }, nodeId, claims)
    return { counted, answers }
  }
  const { answers } = await commitAsync(
    db,
    work,
    onCounted && (({ counted }) => onCounted(counted)),
  )
  let next = 0
  return entries.map((entry) => (entry.kind === 'reserve' ? (answers[next++] ?? null) : null))
}

type Settled = Extract<Entry, { kind: 'settle' }>

/** Whether records are all there is to write, as of searches by words, and one statement can write them, on a server without a transaction around it. */
async function areRecordsAlone(db: Db, settled: Settled[]): Promise<boolean> {
  if (dialectOf(db) !== 'postgres' || (await isCluster(db, (query) => db.executeQuery(query))))
    return false
  return (
    settled.every(({ record, note }) => record !== null && note === null) && settlesNothing(settled)
  )
}

function writtenOf(settled: Pick<Settled, 'id' | 'record'>[]) {
  const written = settled.flatMap(({ id, record }) => (record === null ? [] : [{ id, record }]))
  return { ids: written.map(({ id }) => id).values(), records: written.map(({ record }) => record) }
}

/** The records under their own ids, and the notes away. */
function queriesOf(db: Db, settled: Pick<Settled, 'id' | 'record' | 'note'>[]): CompiledQuery[] {
  const { ids, records } = writtenOf(settled)
  const queries = recordQueries(db, records, () => ids.next().value ?? '')
  for (const { note } of settled)
    if (note !== null) queries.push(removalOf(db, note.userId, note.id))
  return queries
}

/** `nodeId` is that of the process that made the reservation: another one's has been given back. */
export type Spooled = Omit<Settled, 'kind'> & { nodeId: string }

/** What is there already was committed by the try that seemed to fail, or by a replay whose process died. */
export function writeSpooled(db: Db, entries: Spooled[]): Promise<void> {
  const write = async (tx: Db) => {
    const run: Run = (query) => tx.executeQuery(query)
    const fresh: Spooled[] = []
    for (const entry of entries) {
      const { record, id } = entry
      if (record === null || !(await isRecorded(tx, record.userId, id))) fresh.push(entry)
    }
    for (const query of queriesOf(tx, fresh)) await tx.executeQuery(query)
    for (const entry of fresh) await settleBudgets({ db: tx, run }, entry.nodeId, [entry])
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

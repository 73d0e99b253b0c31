/** Jobs as operators list, retry and delete them. */
import '../tables.ts'
import type { Clock, Instant } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { databaseNow } from '../db/time.ts'

export type ListedJob = {
  id: string
  kind: string
  payload_json: object
  attempts: number
  last_error: string | null
  run_at: Instant
  created_at: Instant
  is_running: boolean
}

/** Lists only these kinds of jobs, or all others. */
export type ListedKinds = { kinds: readonly string[]; isWithout?: boolean }

const DEAD_MAX = 200
const WAITING_MAX = 100

const COLUMNS = [
  'id',
  'kind',
  'payload_json',
  'attempts',
  'last_error',
  'run_at',
  'created_at',
] as const

export async function listDead(db: Db, asked?: ListedKinds): Promise<ListedJob[]> {
  const rows = await selectJobs(db, 'dead', asked)
    .select(COLUMNS)
    .orderBy('created_at', 'desc')
    .limit(DEAD_MAX)
    .execute()
  return rows.map((row) => ({ ...row, is_running: false }))
}

export async function listWaiting(
  { db, clock }: { db: Db; clock: Clock },
  asked?: ListedKinds,
): Promise<ListedJob[]> {
  const rows = await selectJobs(db, 'queued', asked)
    .select([...COLUMNS, 'leased_until', databaseNow(db, clock).as('now')])
    .orderBy('run_at')
    .orderBy('kind')
    .limit(WAITING_MAX)
    .execute()
  return rows.map(({ leased_until, now, ...row }) => ({
    ...row,
    is_running: leased_until !== null && leased_until >= now,
  }))
}

function selectJobs(db: Db, status: 'dead' | 'queued', asked?: ListedKinds) {
  const query = db.selectFrom('jobs').where('status', '=', status)
  if (asked === undefined) return query
  return query.where('kind', asked.isWithout ? 'not in' : 'in', asked.kinds)
}

export async function retryJob(
  { db, clock }: { db: Db; clock: Clock },
  id: string,
): Promise<boolean> {
  const now = databaseNow(db, clock)
  const row = await db
    .updateTable('jobs')
    .set({ status: 'queued', attempts: 0, run_at: now })
    .where('id', '=', id)
    .where((e) =>
      e.or([
        e('status', '=', 'dead'),
        e.and([
          e('attempts', '>', 0),
          e('last_error', 'is not', null),
          e.or([e('leased_until', 'is', null), e('leased_until', '<', now)]),
        ]),
      ]),
    )
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

/** Makes all failed jobs due now. Returns their number. */
export async function retryDead(
  { db, clock }: { db: Db; clock: Clock },
  asked?: ListedKinds,
): Promise<number> {
  let query = db
    .updateTable('jobs')
    .set({ status: 'queued', attempts: 0, run_at: databaseNow(db, clock) })
    .where('status', '=', 'dead')
  if (asked !== undefined)
    query = query.where('kind', asked.isWithout ? 'not in' : 'in', asked.kinds)
  return Number((await query.executeTakeFirst()).numUpdatedRows)
}

export async function deleteDead(tx: Db, id: string): Promise<string | null> {
  const row = await tx
    .deleteFrom('jobs')
    .where('id', '=', id)
    .where('status', '=', 'dead')
    .returning('kind')
    .executeTakeFirst()
  return row?.kind ?? null
}

/**
 * Leases: a process claims a job for a while, renews that while it works, and ends it with the job. Only the holder of the lease
 * changes the job: a handler that outlived its lease changes nothing.
 */
import { randomUUID } from 'node:crypto'
import type { UpdateObject } from 'kysely'
import '../tables.ts'
import { type Clock, SECOND_MS } from '../clock.ts'
import { type Db, forUpdateSkipLocked, transaction } from '../db/db.ts'
import type { Tables } from '../db/tables.ts'
import { databaseNow } from '../db/time.ts'

type Deps = { db: Db; clock: Clock }

export type LeasedJob = {
  id: string
  kind: string
  payload_json: object
  attempts: number
  lease_token: string | null
  trace_parent: string | null
}

/**
 * Renewed while the handler runs; a job whose lease has run out lost its process. So long does a mail wait whose sender
 * was killed; and a process that stands still for longer may see its job done twice.
 */
export const LEASE_MS = 15 * SECOND_MS

/** Up to `max` jobs of these kinds that are due, those first that fell due first. */
export async function leaseDue({ db, clock }: Deps, kinds: string[], max: number): Promise<LeasedJob[]> {
  if (kinds.length === 0) return []
  const now = databaseNow(db, clock)
  const due = (source: Db) =>
    source
      .selectFrom('jobs')
      .select('id')
      .where('status', '=', 'queued')
      .where('run_at', '<=', now)
      .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<', now)]))
      .where('kind', 'in', kinds)
      .orderBy('run_at')
      // What one transaction wrote fell due at one moment.
      .orderBy('created_at')
      .limit(max)

  // An idle sweep takes no write lock.
  if ((await due(db).execute()).length === 0) return []

  return transaction(db, async (tx) => {
    const ids = (await forUpdateSkipLocked(tx, due(tx)).execute()).map((row) => row.id)
    if (ids.length === 0) return []
    return tx
      .updateTable('jobs')
      .set((e) => ({
        leased_until: databaseNow(db, clock, LEASE_MS),
        lease_token: randomUUID(),
        attempts: e('attempts', '+', 1),
      }))
      .where('id', 'in', ids)
      .returning(['id', 'kind', 'payload_json', 'attempts', 'lease_token', 'trace_parent'])
      .execute()
  })
}

export async function renewLease({ db, clock }: Deps, job: LeasedJob): Promise<void> {
  await change(db, job, { leased_until: databaseNow(db, clock, LEASE_MS) })
}

/** Takes back the try as well: what was cut off by the process's end did not fail. */
export async function giveBack({ db }: Pick<Deps, 'db'>, job: LeasedJob): Promise<void> {
  await change(db, job, { leased_until: null, lease_token: null, attempts: job.attempts - 1 })
}

/** `delayMs`: until the next try; without one the job is dead. */
export async function putBack(
  { db, clock }: Deps,
  job: LeasedJob,
  { delayMs, error }: { delayMs: number | undefined; error: string },
): Promise<void> {
  await change(db, job, {
    status: delayMs === undefined ? 'dead' : 'queued',
    // Jitter of up to a tenth keeps a crowd of failures from coming back as a crowd.
    run_at: databaseNow(db, clock, Math.round((delayMs ?? 0) * (1 + Math.random() / 10))),
    leased_until: null,
    lease_token: null,
    last_error: error.slice(0, 1_000),
  })
}

export async function removeDone({ db }: Pick<Deps, 'db'>, { id, lease_token }: LeasedJob): Promise<void> {
  await db.deleteFrom('jobs').where('id', '=', id).where('lease_token', '=', lease_token).execute()
}

async function change(db: Db, { id, lease_token }: LeasedJob, set: UpdateObject<Tables, 'jobs'>): Promise<void> {
  await db.updateTable('jobs').set(set).where('id', '=', id).where('lease_token', '=', lease_token).execute()
}

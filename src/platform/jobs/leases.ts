/**
 * Leases: a process claims a job for a limited time and renews the lease while it works. Only the
 * holder of the lease can change the job, so a handler that outlived its lease changes nothing.
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
  /** True when the lease of another process expired, because that process crashed. */
  wasLost: boolean
}

export type DueJob = { id: string; kind: string }

/**
 * Limits for one kind: lease up to `max` jobs, and none while a job with the key `unless` is queued
 * or running.
 */
export type Share = { max: number; unless: string | null }

/**
 * Duration of a lease, which is renewed while the handler runs. An expired lease means that the
 * job's process has ended. So an email whose process was killed waits this long, and a job may run
 * twice when its process hangs for longer.
 */
export const LEASE_MS = 15 * SECOND_MS

/**
 * Maximum number of times that the due jobs are read, because other processes may lease the chosen
 * jobs first.
 */
const CHOICES_MAX = 4

/**
 * Leases the due jobs that `choose` selects, the earliest due first. It reads as many jobs of each
 * kind as allowed (`shares`), each by a separate index scan, so that a million jobs of one kind do
 * not block the others.
 */
export async function leaseDue(
  { db, clock }: Deps,
  shares: ReadonlyMap<string, Share>,
  choose: (due: DueJob[]) => string[],
): Promise<LeasedJob[]> {
  if (shares.size === 0) return []
  for (let choices = 0; choices < CHOICES_MAX; choices++) {
    // A sweep without due jobs acquires no write lock.
    const ids = choose(await readDue({ db, clock }, shares))
    if (ids.length === 0) return []
    const leased = await lease({ db, clock }, ids)
    if (leased.length > 0) return leased
  }
  return []
}

async function readDue({ db, clock }: Deps, shares: ReadonlyMap<string, Share>): Promise<DueJob[]> {
  const ofKind = ([kind, { max, unless }]: [string, Share]) =>
    db
      .selectFrom(
        due(db, clock, db)
          .select(['id', 'kind', 'run_at', 'created_at'])
          .where('kind', '=', kind)
          .$if(unless !== null, (jobs) =>
            jobs.where((e) => e.not(e.exists(isQueued(db, unless ?? '')))),
          )
          .orderBy('run_at')
          // Jobs of one transaction have the same `run_at`.
          .orderBy('created_at')
          .limit(max)
          .as('due'),
      )
      .selectAll()
  const [first, ...rest] = [...shares].map(ofKind)
  if (first === undefined) return []
  const rows = await rest.reduce((all, next) => all.unionAll(next) as typeof all, first).execute()
  return rows.sort((a, b) => (a.run_at + a.created_at < b.run_at + b.created_at ? -1 : 1))
}

const isQueued = (db: Db, key: string) =>
  db
    .selectFrom('jobs as other')
    .select('other.id')
    .where('other.dedupe_key', '=', key)
    .where('other.status', '=', 'queued')

async function lease({ db, clock }: Deps, chosen: string[]): Promise<LeasedJob[]> {
  return transaction(db, async (tx) => {
    const free = due(tx, clock, db).select(['id', 'leased_until']).where('id', 'in', chosen)
    const rows = await forUpdateSkipLocked(tx, free).execute()
    if (rows.length === 0) return []
    const leased = await tx
      .updateTable('jobs')
      .set((e) => ({
        leased_until: databaseNow(db, clock, LEASE_MS),
        lease_token: randomUUID(),
        attempts: e('attempts', '+', 1),
      }))
      .where(
        'id',
        'in',
        rows.map(({ id }) => id),
      )
      .returning(['id', 'kind', 'payload_json', 'attempts', 'lease_token', 'trace_parent'])
      .execute()
    const lost = new Set(
      rows.filter(({ leased_until }) => leased_until !== null).map(({ id }) => id),
    )
    // The database returns them in arbitrary order.
    return leased
      .map((job) => ({ ...job, wasLost: lost.has(job.id) }))
      .sort((a, b) => chosen.indexOf(a.id) - chosen.indexOf(b.id))
  })
}

function due(source: Db, clock: Clock, db: Db) {
  const now = databaseNow(db, clock)
  return source
    .selectFrom('jobs')
    .where('status', '=', 'queued')
    .where('run_at', '<=', now)
    .where((e) => e.or([e('leased_until', 'is', null), e('leased_until', '<', now)]))
}

export async function renewLease({ db, clock }: Deps, job: LeasedJob): Promise<void> {
  await change(db, job, { leased_until: databaseNow(db, clock, LEASE_MS) })
}

/**
 * Returns the job to the queue and reverts the attempt count, because the end of the process is not
 * a failure of the job.
 */
export async function giveBack({ db }: Pick<Deps, 'db'>, job: LeasedJob): Promise<void> {
  await change(db, job, { leased_until: null, lease_token: null, attempts: job.attempts - 1 })
}

/** Sets the attempt count as if this were the first attempt. */
export async function forgetTries({ db }: Pick<Deps, 'db'>, job: LeasedJob): Promise<void> {
  await change(db, job, { attempts: 1 })
}

/**
 * Queues the job for its next attempt after `delayMs`, or marks it dead when `delayMs` is
 * undefined.
 */
export async function putBack(
  { db, clock }: Deps,
  job: LeasedJob,
  { delayMs, error }: { delayMs: number | undefined; error: string },
): Promise<void> {
  await change(db, job, {
    status: delayMs === undefined ? 'dead' : 'queued',
    // Jitter of up to a tenth prevents simultaneous retries after many simultaneous failures.
    run_at: databaseNow(db, clock, Math.round((delayMs ?? 0) * (1 + Math.random() / 10))),
    leased_until: null,
    lease_token: null,
    attempts: job.attempts,
    last_error: error.slice(0, 1_000),
  })
}

export async function removeDone(
  { db }: Pick<Deps, 'db'>,
  { id, lease_token }: LeasedJob,
): Promise<void> {
  await db.deleteFrom('jobs').where('id', '=', id).where('lease_token', '=', lease_token).execute()
}

async function change(
  db: Db,
  { id, lease_token }: LeasedJob,
  set: UpdateObject<Tables, 'jobs'>,
): Promise<void> {
  await db
    .updateTable('jobs')
    .set(set)
    .where('id', '=', id)
    .where('lease_token', '=', lease_token)
    .execute()
}

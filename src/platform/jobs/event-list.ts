/** Received events as operators list them, newest first. */
import '../tables.ts'
import type { Instant } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { isAfterCursor, nextCursor } from '../http/keyset.ts'
import { buildRetryKey } from './inbox.ts'

export type ListedEvent = {
  source: string
  id: string
  received_at: Instant
  handled_at: Instant | null
  /** The job that handles it again; null when it was handled. */
  job: { id: string; attempts: number; last_error: string | null; is_failed: boolean } | null
}

export async function listEvents(
  db: Db,
  { isOpen, limit, cursor }: { isOpen: boolean; limit: number; cursor: string | undefined },
): Promise<{ events: ListedEvent[]; next_cursor: string | null }> {
  let query = db
    .selectFrom('inbox')
    .select(['source', 'event_id as id', 'received_at', 'handled_at'])
    .orderBy('received_at', 'desc')
    .orderBy('event_id', 'desc')
    .where(isAfterCursor(cursor, ['received_at', 'event_id']))
    .limit(limit)
  if (isOpen) query = query.where('handled_at', 'is', null)
  const rows = await query.execute()
  const jobs = await findRetries(
    db,
    rows.filter(({ handled_at }) => handled_at === null),
  )
  return {
    events: rows.map((row) => ({
      ...row,
      job: jobs.get(buildRetryKey({ source: row.source, eventId: row.id })) ?? null,
    })),
    next_cursor: nextCursor(
      rows.map(({ received_at: at, id }) => ({ at, id })),
      limit,
    ),
  }
}

async function findRetries(
  db: Db,
  rows: readonly { source: string; id: string }[],
): Promise<ReadonlyMap<string, NonNullable<ListedEvent['job']>>> {
  if (rows.length === 0) return new Map()
  const found = await db
    .selectFrom('jobs')
    .select(['dedupe_key', 'id', 'attempts', 'last_error', 'status'])
    .where(
      'dedupe_key',
      'in',
      rows.map(({ source, id }) => buildRetryKey({ source, eventId: id })),
    )
    .execute()
  return new Map(
    found.map(({ dedupe_key, status, ...job }) => [
      dedupe_key ?? '',
      { ...job, is_failed: status === 'dead' },
    ]),
  )
}

/** Returns when the newest event was received. */
export async function findLastEvent(db: Db): Promise<Instant | null> {
  const row = await db
    .selectFrom('inbox')
    .select('received_at')
    .orderBy('received_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.received_at ?? null
}

/**
 * A row for every email with its recipient, subject and outcome. It has neither the text nor the
 * links, which sign people in.
 */
import './tables.ts'
import { type Selectable, sql } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { deleteSlice } from '#platform/db/slices.ts'
import { isAfterCursor, nextCursor } from '#platform/http/keyset.ts'
import type { ErasedAddress } from '#platform/room.ts'
import type { Email } from './email.ts'
import type { EmailState, EmailsTable } from './tables.ts'

type EmailRow = Selectable<EmailsTable>
export type LoggedEmail = Omit<EmailRow, 'owner' | 'address_key'> & {
  /** Null: the sender knew only the address. */
  user_id: string | null
}

/** The outcome of an attempt to send. */
export type Outcome = { state: Exclude<EmailState, 'waiting'>; error: string | null; at: Instant }

const ERROR_MAX = 500
const COLUMNS = [
  'owner',
  'id',
  'address',
  'subject',
  'state',
  'error',
  'created_at',
  'sent_at',
] as const

/** Adds the row of an email before it is sent. Another attempt with the same id keeps its state. */
export async function insertEmail(
  db: Db,
  id: string,
  { to, userId, subject }: Email,
  at: Instant,
): Promise<void> {
  const content = { address: to, address_key: to.toLowerCase(), subject }
  await db
    .insertInto('emails')
    .values({
      owner: userId ?? id,
      id,
      ...content,
      state: 'waiting',
      error: null,
      created_at: at,
      sent_at: null,
    })
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doUpdateSet(content))
    .execute()
}

/** Does nothing when the row was erased with its account. */
export async function updateEmail(
  db: Db,
  id: string,
  { userId }: Email,
  { state, error, at }: Outcome,
): Promise<void> {
  await db
    .updateTable('emails')
    .set({
      state,
      error: error?.slice(0, ERROR_MAX) ?? null,
      sent_at: state === 'sent' ? at : null,
    })
    .where('owner', '=', userId ?? id)
    .where('id', '=', id)
    .execute()
}

export type EmailsAsked = {
  userId?: string | undefined
  state?: EmailState | undefined
  limit: number
  cursor?: string | undefined
}

/** Lists emails, newest first. */
export async function listEmails(
  db: Db,
  { userId, state, limit, cursor }: EmailsAsked,
): Promise<{ emails: LoggedEmail[]; next_cursor: string | null }> {
  let query = selectEmails(db).where(isAfterCursor(cursor)).limit(limit)
  if (userId !== undefined) query = query.where('owner', '=', userId)
  if (state !== undefined) query = query.where('state', '=', state)
  // SQLite uses the partial index `emails_by_state` only for queries that repeat its condition.
  if (state === 'waiting' || state === 'failed') query = query.where(sql<boolean>`state <> 'sent'`)
  const rows = await query.execute()
  return { emails: rows.map(toLogged), next_cursor: nextCursor(rows, limit) }
}

/** Returns the newest emails to a user before an instant. */
export async function listNewestEmails(
  db: Db,
  userId: string,
  { before, limit }: { before: Instant; limit: number },
): Promise<LoggedEmail[]> {
  const rows = await selectEmails(db)
    .where('owner', '=', userId)
    .where('created_at', '<', before)
    .limit(limit)
    .execute()
  return rows.map(toLogged)
}

/** Returns all emails to a user, for their export. */
export async function listEmailsOfUser(db: Db, userId: string): Promise<LoggedEmail[]> {
  return (await selectEmails(db).where('owner', '=', userId).execute()).map(toLogged)
}

const toLogged = ({ owner, ...row }: Omit<EmailRow, 'address_key'>): LoggedEmail => ({
  ...row,
  user_id: owner === row.id ? null : owner,
})

const selectEmails = (db: Db) =>
  db.selectFrom('emails').select(COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc')

/** Deletes emails to no account, whose subject names a deleted person. */
export async function forgetEmails(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.deleteFrom('emails').where('owner', 'in', ids).execute()
}

/** Deletes some of the emails to a user. Returns their number. */
export function eraseEmailsSlice(db: Db, userId: string): Promise<number> {
  return deleteSlice(db, 'emails', ['owner', 'id'], sql`owner = ${userId}`)
}

/** Deletes the emails to an address that are logged without an account. */
export async function eraseEmails(tx: Db, { key, since }: ErasedAddress): Promise<void> {
  let query = tx.deleteFrom('emails').where('address_key', '=', key).whereRef('owner', '=', 'id')
  if (since !== null) query = query.where('created_at', '>=', since)
  await query.execute()
}

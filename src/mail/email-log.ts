/**
 * A row for every email: to whom, its subject, and what became of it. It has neither the text nor
 * the links, which sign people in.
 */
import './tables.ts'
import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { nextCursor, readCursor } from '#platform/http/keyset.ts'
import type { Email } from './email.ts'
import type { EmailState, EmailsTable } from './tables.ts'

type EmailRow = Selectable<EmailsTable>
export type LoggedEmail = Omit<EmailRow, 'owner' | 'address_key'> & {
  /** Null: the address belongs to no account. */
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

/** Adds the row of an email that a job will send. */
export async function insertEmail(tx: Db, id: string, email: Email, at: Instant): Promise<void> {
  await tx
    .insertInto('emails')
    .values({ ...buildRow(id, email, at), state: 'waiting', error: null, sent_at: null })
    .execute()
}

/** Does nothing when the row was erased with its account. */
export async function updateEmail(
  db: Db,
  id: string,
  { userId }: Email,
  outcome: Outcome,
): Promise<void> {
  await db
    .updateTable('emails')
    .set(buildChange(outcome))
    .where('owner', '=', userId ?? id)
    .where('id', '=', id)
    .execute()
}

/** Adds or changes the row of an email without a job. */
export async function saveEmail(db: Db, id: string, email: Email, outcome: Outcome): Promise<void> {
  const change = buildChange(outcome)
  await db
    .insertInto('emails')
    .values({ ...buildRow(id, email, outcome.at), ...change })
    .onConflict((conflict) => conflict.columns(['owner', 'id']).doUpdateSet(change))
    .execute()
}

const buildRow = (id: string, { to, userId, subject }: Email, at: Instant) => ({
  owner: userId ?? id,
  id,
  address: to,
  address_key: to.toLowerCase(),
  subject,
  created_at: at,
})

const buildChange = ({ state, error, at }: Outcome) => ({
  state,
  error: error?.slice(0, ERROR_MAX) ?? null,
  sent_at: state === 'sent' ? at : null,
})

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
  let query = selectEmails(db).limit(limit)
  if (userId !== undefined) query = query.where('owner', '=', userId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (cursor !== undefined) {
    const { at, id } = readCursor(cursor)
    query = query.where((e) => e(e.refTuple('created_at', 'id'), '<', e.tuple(at, id)))
  }
  const rows = await query.execute()
  const places = rows.map(({ created_at: at, id }) => ({ at, id }))
  return { emails: rows.map(toLogged), next_cursor: nextCursor(places, limit) }
}

/** Returns the newest emails to a user before an instant. */
export async function listEmailsBefore(
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

/** Deletes the emails to a user. */
export async function forgetEmailsOfUser(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('emails').where('owner', '=', userId).execute()
}

/** Deletes the emails to an address, in lower case, that belong to no account, since an instant. */
export async function forgetEmailsTo(
  tx: Db,
  addressKey: string,
  since: Instant | null,
): Promise<void> {
  let query = tx
    .deleteFrom('emails')
    .where('address_key', '=', addressKey)
    .whereRef('owner', '=', 'id')
  if (since !== null) query = query.where('created_at', '>=', since)
  await query.execute()
}

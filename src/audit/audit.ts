// The audit log of accounts: append-only, each entry's keyed hash covers the one before it, so that who writes to the database alone
// cannot make the chain anew. Persons stand in it under a pseudonym, and details are covered by a salted hash alone, so that a
// deleted person's details can be erased while the chain still holds.
import { createHash, createHmac, randomBytes } from 'node:crypto'
import './tables.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'

export type AuditEvent = {
  /** Who did it; null for the service itself. */
  actorId: string | null
  /** As `sign-in`, `password.changed`, `api-key.made`. */
  action: string
  /** What it was done to, as `api-key:ID`; a user as `user:ID`, which is stored under the pseudonym. */
  subject?: string
  data?: Record<string, unknown>
  at: Instant
}

/** By the database's adapter, which its transactions share: everybody who changes an account has one of those at hand. */
const keys = new WeakMap<object, Buffer>()

/** Said once of each database that is opened, before anything is recorded or verified. */
export function keyAudit(db: Db, key: Buffer): void {
  keys.set(db.getExecutor().adapter, key)
}

function keyOf(db: Db): Buffer {
  const key = keys.get(db.getExecutor().adapter)
  if (key === undefined) throw new Error('the audit log of this database has no key: see keyAudit')
  return key
}

/**
 * Appends an entry in the caller's transaction. Call it last there: on PostgreSQL it holds the head of the chain
 * until the commit.
 */
export async function recordAudit(tx: Db, event: AuditEvent): Promise<void> {
  const actor = event.actorId === null ? null : await pseudonymOf(tx, event.actorId)
  const subjectUser = event.subject?.startsWith('user:') ? event.subject.slice('user:'.length) : null
  const subject = subjectUser === null ? (event.subject ?? null) : `user:${await pseudonymOf(tx, subjectUser)}`

  const head = await forUpdate(
    tx,
    tx.selectFrom('audit_head').selectAll().where('id', '=', 1),
  ).executeTakeFirstOrThrow()
  const details = event.data === undefined ? null : JSON.stringify(event.data)
  const salt = randomBytes(16).toString('base64url')
  const entry = {
    position: head.position + 1,
    at: event.at,
    actor,
    action: event.action,
    subject,
    commitment: commitmentOf(salt, details),
    previous: head.hash,
  }
  const hash = entryHash(keyOf(tx), entry)
  await tx
    .insertInto('audit_log')
    .values({ ...entry, salt, details, hash })
    .execute()
  await tx.updateTable('audit_head').set({ position: entry.position, hash }).where('id', '=', 1).execute()
}

export type AuditVerdict =
  | { intact: true; entries: number; head: string }
  | { intact: false; entries: number; position: number; reason: string }

const PAGE = 1_000

/**
 * Walks the whole chain. The end of a chain can be cut off unseen by whoever writes to the database, so keep the head
 * that this returns elsewhere and pass it as `expect` the next time.
 */
export async function verifyAudit(db: Db, expect?: { position: number; hash: string }): Promise<AuditVerdict> {
  const key = keyOf(db)
  let position = 0
  let previous = ''
  const broken = (at: number, reason: string): AuditVerdict => ({
    intact: false,
    entries: position,
    position: at,
    reason,
  })

  for (;;) {
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('position', '>', position)
      .orderBy('position')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      if (row.position !== position + 1) return broken(position + 1, 'the entry is missing')
      if (row.previous !== previous) return broken(row.position, 'it does not follow the entry before it')
      if (entryHash(key, row) !== row.hash) return broken(row.position, 'its content was changed')
      if (row.salt !== null && commitmentOf(row.salt, row.details) !== row.commitment) {
        return broken(row.position, 'its details were changed')
      }
      if (row.salt === null && row.details !== null) return broken(row.position, 'it has details without a salt')
      if (row.salt === null && !(await someoneIsGone(db, row))) return broken(row.position, 'its details were erased')
      if (expect?.position === row.position && expect.hash !== row.hash) {
        return broken(row.position, 'it is not the entry that was noted')
      }
      position = row.position
      previous = row.hash
    }
    if (rows.length < PAGE) break
  }

  const head = await db.selectFrom('audit_head').selectAll().where('id', '=', 1).executeTakeFirst()
  if (head?.position !== position || head.hash !== previous) return broken(position, 'the end was cut off')
  if (expect && expect.position > position) return broken(position, 'entries after it were cut off')
  return { intact: true, entries: position, head: previous }
}

export type AuditEntry = { position: number; at: Instant; action: string; subject: string | null; data: unknown }

/** What a user did or had done to them, newest first; for the export. */
export async function auditOf(db: Db, userId: string): Promise<AuditEntry[]> {
  const person = await db
    .selectFrom('audit_persons')
    .select('pseudonym')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (!person) return []
  const rows = await db
    .selectFrom('audit_log')
    .select(['position', 'at', 'action', 'subject', 'details'])
    .where((e) => e.or([e('actor', '=', person.pseudonym), e('subject', '=', `user:${person.pseudonym}`)]))
    .orderBy('position', 'desc')
    .execute()
  return rows.map(({ details, ...row }) => ({ ...row, data: details === null ? null : JSON.parse(details) }))
}

/** Erases the details of a user's entries, and who the pseudonym was; the entries and the chain stay. */
export async function forgetPerson(tx: Db, userId: string): Promise<void> {
  const person = await tx
    .deleteFrom('audit_persons')
    .where('user_id', '=', userId)
    .returning('pseudonym')
    .executeTakeFirst()
  if (!person) return
  await tx
    .updateTable('audit_log')
    .set({ salt: null, details: null })
    .where((e) => e.or([e('actor', '=', person.pseudonym), e('subject', '=', `user:${person.pseudonym}`)]))
    .execute()
}

/** Details go with a person who is deleted: an entry whose persons are all there has no reason to lack them. */
async function someoneIsGone(db: Db, { actor, subject }: { actor: string | null; subject: string | null }) {
  const names = [actor, subject?.startsWith('user:') ? subject.slice('user:'.length) : null].filter(
    (name) => name !== null,
  )
  if (names.length === 0) return false
  const known = await db.selectFrom('audit_persons').select('pseudonym').where('pseudonym', 'in', names).execute()
  return known.length < new Set(names).size
}

async function pseudonymOf(tx: Db, userId: string): Promise<string> {
  const known = await tx
    .selectFrom('audit_persons')
    .select('pseudonym')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (known) return known.pseudonym
  const row = await tx
    .insertInto('audit_persons')
    .values({ user_id: userId, pseudonym: `p_${randomBytes(12).toString('base64url')}` })
    // Of two first entries at once the earlier name stays; the update makes `returning` see it.
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ user_id: userId }))
    .returning('pseudonym')
    .executeTakeFirstOrThrow()
  return row.pseudonym
}

type Hashed = {
  position: number
  at: string
  actor: string | null
  action: string
  subject: string | null
  commitment: string
  previous: string
}

function entryHash(key: Buffer, { position, at, actor, action, subject, commitment, previous }: Hashed): string {
  const content = JSON.stringify([previous, position, at, actor, action, subject, commitment])
  return createHmac('sha256', key).update(content).digest('base64url')
}

const commitmentOf = (salt: string, details: string | null) =>
  createHash('sha256')
    .update(JSON.stringify([salt, details]))
    .digest('base64url')

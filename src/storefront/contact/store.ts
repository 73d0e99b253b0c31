import type { Selectable } from 'kysely'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import '../tables.ts'

export type ContactRow = Selectable<Tables['contact_messages']>

export async function insert(tx: Db, row: ContactRow): Promise<void> {
  await tx.insertInto('contact_messages').values(row).execute()
}

export function find(db: Db, id: string): Promise<ContactRow | undefined> {
  return db.selectFrom('contact_messages').selectAll().where('id', '=', id).executeTakeFirst()
}

/** False when another process did so before. */
export async function markNotified(tx: Db, id: string, now: Instant): Promise<boolean> {
  const row = await tx
    .updateTable('contact_messages')
    .set({ notified_at: now })
    .where('id', '=', id)
    .where('notified_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function page(db: Db, offset: number, limit: number): Promise<{ rows: ContactRow[]; total: number }> {
  const [rows, { total }] = await Promise.all([
    db
      .selectFrom('contact_messages')
      .selectAll()
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .offset(offset)
      .limit(limit)
      .execute(),
    db
      .selectFrom('contact_messages')
      .select((e) => e.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow(),
  ])
  return { rows, total: Number(total) }
}

export function listOfAddresses(db: Db, emailKeys: string[]) {
  return db
    .selectFrom('contact_messages')
    .select(['id', 'name', 'email', 'subject', 'message', 'created_at'])
    .where('email_key', 'in', emailKeys)
    .orderBy('created_at', 'desc')
    .execute()
}

/** Those sent since a moment, or all. */
export async function forgetAddress(tx: Db, emailKey: string, since: Instant | null): Promise<void> {
  await tx
    .deleteFrom('contact_messages')
    .where('email_key', '=', emailKey)
    .$if(since !== null, (query) => query.where('created_at', '>=', since ?? ''))
    .execute()
}

/** The inbox of the contact form: superusers reply to messages, assign and close them. */
import { randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { AuditAction } from '#audit/actions.ts'
import { recordAudit } from '#audit/audit.ts'
import type { Config } from '#config/config.ts'
import { findUser } from '#identity/users.ts'
import { composeEmailTo, type Email } from '#mail/email.ts'
import { sendMail } from '#mail/mail.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { countRows, describePage, isAfterCursor, type PageOf } from '#platform/http/keyset.ts'
import { Instant, Nullable } from '#platform/http/schema.ts'
import { formatDate, type Locale } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { readEmailMessages } from '../messages/emails.ts'
import { storefrontProblem } from '../problems.ts'
import { ContactSubjectName } from './contact.ts'

export const InboxMessage = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    subject: ContactSubjectName,
    message: Type.String(),
    created_at: Instant,
    notified_at: Nullable(Instant),
    assigned_to: Nullable(Type.String({ description: 'The id of a superuser' })),
    closed_at: Nullable(Instant),
    replies: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          author_id: Nullable(Type.String()),
          text: Type.String(),
          created_at: Instant,
        },
        { title: 'ContactReply' },
      ),
      { description: 'Oldest first' },
    ),
  },
  { title: 'ContactMessage' },
)
export type InboxMessage = Static<typeof InboxMessage>

const SHOWN = [
  'id',
  'name',
  'email',
  'subject',
  'message',
  'created_at',
  'notified_at',
  'assigned_to',
  'closed_at',
] as const

export type InboxDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs'>
type Target = { actorId: string; id: string }

/**
 * Lists messages, newest first, including those whose notification has not been sent. `isOpen`
 * leaves out closed or open ones.
 */
export async function listContactMessages(
  db: Db,
  { page, limit, cursor }: PageOf,
  isOpen?: boolean,
) {
  const found = db
    .selectFrom('contact_messages')
    .$if(isOpen !== undefined, (query) => query.where('closed_at', isOpen ? 'is' : 'is not', null))
  const total = await countRows(db, found)
  const offset = cursor === undefined ? (page - 1) * limit : 0
  const rows =
    offset >= total
      ? []
      : await found
          .select(SHOWN)
          .where(isAfterCursor(cursor))
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .offset(offset)
          .limit(limit)
          .execute()
  return {
    messages: await addReplies(db, rows),
    ...describePage(rows, total, { page, limit }),
  }
}

async function addReplies(
  db: Db,
  rows: readonly Omit<InboxMessage, 'replies'>[],
): Promise<InboxMessage[]> {
  const replies =
    rows.length === 0
      ? []
      : await db
          .selectFrom('contact_replies')
          .selectAll()
          .where(
            'message_id',
            'in',
            rows.map(({ id }) => id),
          )
          .orderBy('created_at')
          .orderBy('id')
          .execute()
  const byMessage = Map.groupBy(replies, ({ message_id }) => message_id)
  return rows.map((row) => ({
    ...row,
    replies: (byMessage.get(row.id) ?? []).map(({ message_id, ...reply }) => reply),
  }))
}

/** Emails an answer to the sender and stores it. */
export function replyToMessage(
  deps: InboxDeps,
  target: Target,
  text: string,
): Promise<InboxMessage> {
  return changeMessage(deps, target, 'contact.replied', async (tx, message) => {
    await tx
      .insertInto('contact_replies')
      .values({
        id: randomUUID(),
        message_id: message.id,
        author_id: target.actorId,
        text,
        created_at: deps.clock.now(),
      })
      .execute()
    const { locale } = await tx
      .selectFrom('contact_messages')
      .select('locale')
      .where('id', '=', message.id)
      .executeTakeFirstOrThrow()
    await sendMail(deps, tx, replyEmail(deps.config, { ...message, locale }, text))
  })
}

/** Assigns a message to a superuser; null to nobody. @throws Problem 422 for others */
export function assignMessage(
  deps: InboxDeps,
  target: Target,
  userId: string | null,
): Promise<InboxMessage> {
  return changeMessage(deps, target, 'contact.assigned', async (tx, message) => {
    const user = userId === null ? null : await findUser(tx, userId)
    if (userId !== null && !user?.is_superuser)
      throw invalid(['body', 'user_id'], 'Should be a superuser')
    await setFields(tx, message.id, { assigned_to: userId })
  })
}

export function closeMessage(
  deps: InboxDeps,
  target: Target,
  isClosed: boolean,
): Promise<InboxMessage> {
  const action = isClosed ? 'contact.closed' : 'contact.reopened'
  return changeMessage(deps, target, action, (tx, message) =>
    setFields(tx, message.id, { closed_at: isClosed ? deps.clock.now() : null }),
  )
}

/** Removes a superuser from the messages that they handled. */
export async function forgetStaff(tx: Db, userId: string): Promise<void> {
  await tx
    .updateTable('contact_messages')
    .set({ assigned_to: null })
    .where('assigned_to', '=', userId)
    .execute()
  await tx
    .updateTable('contact_replies')
    .set({ author_id: null })
    .where('author_id', '=', userId)
    .execute()
}

async function setFields(
  tx: Db,
  id: string,
  fields: { assigned_to?: string | null; closed_at?: string | null },
): Promise<void> {
  await tx.updateTable('contact_messages').set(fields).where('id', '=', id).execute()
}

async function changeMessage(
  { db, clock }: InboxDeps,
  { actorId, id }: Target,
  action: AuditAction,
  change: (tx: Db, message: Omit<InboxMessage, 'replies'>) => Promise<void>,
): Promise<InboxMessage> {
  return transaction(db, async (tx) => {
    const message = await findMessage(tx, id)
    await change(tx, message)
    await recordAudit(tx, { actorId, action, subject: `contact:${id}`, at: clock.now() })
    const [changed] = await addReplies(tx, [await findMessage(tx, id)])
    if (!changed) throw storefrontProblem('contact_message_not_found')
    return changed
  })
}

async function findMessage(db: Db, id: string): Promise<Omit<InboxMessage, 'replies'>> {
  const message = await db
    .selectFrom('contact_messages')
    .select(SHOWN)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!message) throw storefrontProblem('contact_message_not_found')
  return message
}

export function replyEmail(
  config: Config,
  message: Omit<InboxMessage, 'replies'> & { locale: Locale | null },
  text: string,
): Email {
  const locale = message.locale ?? config.brand.language
  const messages = readEmailMessages(locale)
  const topic = messages.subjects[message.subject]
  const day = formatDate(message.created_at, locale)
  const { subject, youWrote } = messages.reply({ shop: config.brand.name, topic, day })
  return composeEmailTo(config.brand, message, {
    subject,
    before: [text],
    after: [youWrote, message.message],
    replyTo: config.mail.supportEmail,
  })
}

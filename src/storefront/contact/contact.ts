/**
 * Messages of the contact form. Each is stored before an email is sent, so that a failing mail
 * server loses none. Support is notified at once. If that fails, the visitor sees an error and the
 * email is retried for a day.
 */
import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Config } from '#config/config.ts'
import { composeEmailTo, type Email } from '#mail/email.ts'
import { forgetEmails } from '#mail/email-log.ts'
import { type Mail, sendMail } from '#mail/mail.ts'
import { composeOperatorEmail } from '#mail/operator.ts'
import { HOUR_MS, type Instant, MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { addressKey } from '#platform/http/address.ts'
import { Named, OneOf } from '#platform/http/schema.ts'
import { formatDateTime, type Locale } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { readEmailMessages } from '../messages/emails.ts'
import { getOperatorMessages } from '../messages/operator.ts'
import { storefrontProblem } from '../problems.ts'
import type { ContactSubject } from '../tables.ts'

const WORDS = Object.keys(readEmailMessages('en').subjects) as ContactSubject[]
export const ContactSubjectName = Named('ContactSubject', OneOf(...WORDS))

/** A single line, because a line break would start another header in an email. */
const ONE_LINE = '^[^\\r\\n\\u0000]*$'

export const ContactForm = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200, pattern: ONE_LINE }),
  email: Type.String({ minLength: 1, maxLength: 254, format: 'email' }),
  // The values are checked in `checked`: an empty one is missing (400), an unknown one is wrong
  // (422).
  subject: Type.String({ minLength: 1, maxLength: 100 }),
  message: Type.String({ minLength: 1, maxLength: 10_000 }),
})
export type ContactForm = Static<typeof ContactForm>
type Checked = ContactForm & { subject: ContactSubject }

export const NOTIFY_JOB = 'storefront.contact-notification'
const FIRST_RETRY_MS = MINUTE_MS
/** After the first retry: 5 and 30 minutes, then hourly for a day. */
export const NOTIFY_DELAYS_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, ...Array<number>(24).fill(HOUR_MS)]
const PER_ADDRESS = { requests: 20, seconds: 3600 }

export type ContactDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'limiter' | 'log'> & {
  mail: Mail
}

/**
 * Handles a message of the form or the API: checks the limit of the address, stores the message,
 * and notifies support. @throws Problem 400, 422 and 429. Problem 500 when the notification failed;
 * the message is stored.
 */
export async function sendMessage(
  deps: ContactDeps,
  form: ContactForm,
  { address, locale }: { address: string; locale: Locale | null },
): Promise<void> {
  const { config, limiter, log } = deps
  const message = checked(form)
  if (config.limits.general !== null) {
    const hit = await limiter.hit('contact', addressKey(address), PER_ADDRESS)
    if (!hit.allowed) throw rateProblem(hit)
  }
  const id = await storeMessage(deps, message, locale)
  try {
    await notifySupport(deps, id)
  } catch (cause) {
    log.error(
      { err: cause, id },
      'a contact message is stored, but its notification was not handed over',
    )
    throw storefrontProblem('contact_notification_failed', { cause })
  }
}

function checked(form: ContactForm): Checked {
  const subject = WORDS.find((word) => word === form.subject)
  if (subject === undefined)
    throw invalid(['body', 'subject'], `Should be one of ${WORDS.join(', ')}`, 'enum')
  const trimmed = { ...form, subject, name: form.name.trim(), message: form.message.trim() }
  for (const field of ['name', 'message'] as const) {
    if (trimmed[field] === '') throw storefrontProblem('field_missing', { field })
  }
  return trimmed
}

function storeMessage(
  { db, clock, jobs }: ContactDeps,
  form: Checked,
  locale: Locale | null,
): Promise<string> {
  const id = randomUUID()
  const now = clock.now()
  return transaction(db, async (tx) => {
    const { name, email, subject, message } = form
    await tx
      .insertInto('contact_messages')
      .values({
        id,
        name,
        email,
        email_key: email.toLowerCase(),
        subject,
        message,
        locale,
        created_at: now,
        notified_at: null,
        assigned_to: null,
        closed_at: null,
      })
      .execute()
    // Enqueued with the message, so that it is retried even after a crash before the first attempt.
    await jobs.enqueue(tx, NOTIFY_JOB, { id }, { runAt: plus(now, FIRST_RETRY_MS) })
    return id
  })
}

/**
 * Hands the notification over, once, and thanks the visitor. @throws when the mail server does not
 * take it.
 */
export async function notifySupport(
  { config, db, clock, jobs, mail }: ContactDeps,
  id: string,
): Promise<void> {
  const row = await db
    .selectFrom('contact_messages')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row || row.notified_at !== null) return
  await mail.deliver(notificationEmail(config, row), buildNoticeId(id))
  await transaction(db, async (tx) => {
    if (await markNotified(tx, id, clock.now()))
      await sendMail({ jobs, clock }, tx, confirmationEmail(config, row), { isNotice: true })
  })
}

/** The id of the email to support, whose subject names the visitor. */
const buildNoticeId = (messageId: string) => `contact-${messageId}`

/** Returns false when another process has already marked it. */
async function markNotified(tx: Db, id: string, now: Instant): Promise<boolean> {
  const row = await tx
    .updateTable('contact_messages')
    .set({ notified_at: now })
    .where('id', '=', id)
    .where('notified_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

type ContactRow = Selectable<Tables['contact_messages']>

/** To the operator. */
export function notificationEmail(config: Config, row: ContactRow): Email {
  const { language: locale } = config.brand
  const topic = readEmailMessages(locale).subjects[row.subject]
  const { contact: text, email } = getOperatorMessages(locale)
  return composeOperatorEmail(config, {
    title: `${topic}: ${row.name}`.replace(/\s+/g, ' '),
    before: [text.before],
    facts: [
      [text.name, row.name],
      [email, row.email],
      [text.subject, topic],
      [text.received, formatDateTime(row.created_at, locale)],
    ],
    after: [row.message],
    replyTo: row.email,
  })
}

/**
 * Repeats no text of the visitor, so that nobody can send their text to another person's address.
 */
export function confirmationEmail(config: Config, row: ContactRow): Email {
  const messages = readEmailMessages(row.locale ?? config.brand.language)
  const topic = messages.subjects[row.subject]
  const { subject, before, after } = messages.contact({ shop: config.brand.name, topic })
  return composeEmailTo(config.brand, row, { subject, before: [before], after })
}

export function messagesOfAddresses(db: Db, emailKeys: string[]) {
  return db
    .selectFrom('contact_messages')
    .select(['id', 'name', 'email', 'subject', 'message', 'created_at'])
    .where('email_key', 'in', emailKeys)
    .orderBy('created_at', 'desc')
    .execute()
}

/** Deletes the messages of an address with their replies: those since `since`, or all. */
export async function forgetMessages(
  tx: Db,
  emailKey: string,
  since: Instant | null,
): Promise<void> {
  const deleted = await tx
    .deleteFrom('contact_messages')
    .where('email_key', '=', emailKey)
    .$if(since !== null, (query) => query.where('created_at', '>=', since ?? ''))
    .returning('id')
    .execute()
  if (deleted.length === 0) return
  const ids = deleted.map(({ id }) => id)
  await tx.deleteFrom('contact_replies').where('message_id', 'in', ids).execute()
  await forgetEmails(tx, ids.map(buildNoticeId))
}

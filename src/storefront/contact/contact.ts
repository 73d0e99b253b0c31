/**
 * A message from the contact form is stored before any mail is tried, so that a dead mail server loses none.
 * The notification to support is handed over at once; when that fails the visitor is told, and it is tried again for a day.
 */
import { randomUUID } from 'node:crypto'
import { composeEmail } from '#mail/email.ts'
import type { Mail } from '#mail/mail.ts'
import { sendMail } from '#mail/mail.ts'
import { type Clock, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Config } from '#src/config.ts'
import { brandOf } from '../brand.ts'
import { storefrontProblem } from '../problems.ts'
import type { ContactRow } from './store.ts'
import * as store from './store.ts'

export const SUBJECTS = {
  sales: 'Sales Inquiry',
  support: 'Technical Support',
  enterprise: 'Enterprise Solutions',
  partnership: 'Partnership',
  other: 'General Inquiry',
} as const
export type ContactSubject = keyof typeof SUBJECTS
export const SUBJECT_WORDS = Object.keys(SUBJECTS) as ContactSubject[]

export const NOTIFY_JOB = 'storefront.contact-notification'
const FIRST_RETRY_MS = MINUTE_MS
/** After the first retry: 5 and 30 minutes, then hourly for a day. */
export const NOTIFY_DELAYS_MS = [5 * MINUTE_MS, 30 * MINUTE_MS, ...Array<number>(24).fill(HOUR_MS)]

export interface ContactForm {
  name: string
  email: string
  subject: ContactSubject
  message: string
}

export type ContactDeps = { config: Config; db: Db; clock: Clock; jobs: Jobs; mail: Mail; log: Log }

/** Stores the message and notifies support. Throws a 500 when the notification could not be handed over; the message is kept. */
export async function receiveMessage(deps: ContactDeps, form: ContactForm): Promise<void> {
  const { db, clock, jobs, log } = deps
  const id = randomUUID()
  const now = clock.now()
  await transaction(db, async (tx) => {
    await store.insert(tx, {
      id,
      ...form,
      email_key: form.email.toLowerCase(),
      created_at: now,
      notified_at: null,
    })
    // Written with the message: also a crash before the first try ends in a retry.
    await jobs.enqueue(tx, NOTIFY_JOB, { id }, { runAt: plus(now, FIRST_RETRY_MS) })
  })

  try {
    await notify(deps, id)
  } catch (cause) {
    log.error({ err: cause, id }, 'a contact message is stored, but its notification was not handed over')
    throw storefrontProblem('contact_notification_failed', { cause })
  }
}

/** Hands the notification over, once, and thanks the visitor. Rejects when the mail server does not take it. */
export async function notify({ config, db, clock, jobs, mail }: ContactDeps, id: string): Promise<void> {
  const row = await store.find(db, id)
  if (!row || row.notified_at !== null) return
  await mail.deliver(notification(config, row), `contact-${id}`)
  await transaction(db, async (tx) => {
    if (await store.markNotified(tx, id, clock.now())) await sendMail({ jobs }, tx, confirmation(config, row))
  })
}

/** For superusers: newest first, with what is still not handed over. */
export async function listContactMessages(db: Db, { page, limit }: { page: number; limit: number }) {
  const { rows, total } = await store.page(db, (page - 1) * limit, limit)
  const messages = rows.map(({ id, name, email, subject, message, created_at, notified_at }) => ({
    id,
    name,
    email,
    subject,
    message,
    created_at,
    notified_at,
  }))
  return { messages, total, page, limit, pages: Math.ceil(total / limit) }
}

function notification({ mail, brand }: Config, row: ContactRow) {
  const label = labelOf(row.subject)
  return composeEmail({
    to: mail.supportEmail,
    subject: `[${brand}] ${label}: ${row.name}`.replace(/\s+/g, ' '),
    before: ['A message came through the contact form. Reply to this mail to answer it.'],
    facts: [
      ['Name', row.name],
      ['Email', row.email],
      ['Subject', label],
      ['Received', row.created_at],
    ],
    after: [row.message],
    replyTo: row.email,
  })
}

/** Says nothing that the visitor wrote: the address may be somebody else's, and we are no relay for strangers. */
function confirmation(config: Config, row: ContactRow) {
  return composeEmail({
    to: row.email,
    subject: 'We have received your message',
    before: [
      `Thank you for writing to ${brandOf(config)}. Your message (${labelOf(row.subject)}) has reached our team, and a person will answer it, usually within a working day.`,
    ],
    after: ['If you did not write to us, somebody mistyped their address; nothing more will come.'],
  })
}

function labelOf(subject: string): string {
  return SUBJECTS[subject as ContactSubject] ?? SUBJECTS.other
}

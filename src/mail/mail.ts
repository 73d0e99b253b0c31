// Outgoing email: each is a job in the caller's transaction, and its Message-ID is the job's id.
// After a crash an email may be sent twice with the same Message-ID, so mailboxes drop the
// duplicate. Every email except the setup's test email has a row in the log of emails.
import { randomUUID } from 'node:crypto'
import type { Config } from '#config/config.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Neighbour } from '#platform/jobs/neighbours.ts'
import type { Platform } from '#platform/platform.ts'
import type { Collected, ErasedAddress } from '#platform/room.ts'
import type { Email } from './email.ts'
import {
  eraseEmails,
  eraseEmailsSlice,
  insertEmail,
  listEmailsOfUser,
  type Outcome,
  updateEmail,
} from './email-log.ts'
import { createTransport, type Transport } from './transport.ts'

export type Mail = {
  /** The mail server, which delivery jobs depend on. */
  neighbour: Neighbour
  /**
   * Sends an email now and logs it.
   * @throws Error when the mail server rejects it, NeighbourAway when it does not answer.
   */
  deliver(email: Email, messageId: string): Promise<void>
  /** Deletes the emails to the addresses that are logged without an account. */
  erase(tx: Db, userId: string, addresses: readonly ErasedAddress[]): Promise<void>
  eraseSlices: readonly [typeof eraseEmailsSlice]
  /** The emails to a user, for the full export. */
  collect(db: Db, userId: string): Promise<Collected>
  close(): void
}

/** Opens the configured transport and handles the jobs that deliver emails. */
export function createMail(
  platform: Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'log'>,
): Mail {
  const { config, db, clock, jobs, log } = platform
  const domain = new URL(config.urls.base).hostname
  const transport: Transport = createTransport(config)

  // A failure here must neither send an email again nor hide the mail server's error.
  const record = (id: string, email: Email, outcome: Outcome) =>
    updateEmail(db, id, email, outcome).catch((err) =>
      log.warn({ err, email: id, state: outcome.state }, 'the outcome of an email is not logged'),
    )
  const send = async (email: Email, id: string): Promise<void> => {
    const { userId: _, ...content } = email
    const from = formatSender(config)
    try {
      await transport.send({ from, messageId: `<${id}@${domain}>`, ...content })
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error)
      await record(id, email, { state: 'failed', error: words, at: clock.now() })
      throw error
    }
    await record(id, email, { state: 'sent', error: null, at: clock.now() })
  }
  const neighbour = { name: 'mail', answers: () => transport.answers() }
  const sendOfJob = (email: Email, { id }: { id: string }) => send(email, id)
  jobs.handle<Email>('mail.send', sendOfJob, { lane: 'urgent', needs: neighbour })
  jobs.handle<Email>(NOTICE_JOB, sendOfJob, { lane: 'bulk', needs: neighbour })
  return {
    neighbour,
    async deliver(email, messageId) {
      // First, so that the email of an account that is deleted meanwhile leaves no row.
      await insertEmail(db, messageId, email, clock.now())
      await send(email, messageId)
    },
    async erase(tx, _, addresses) {
      // A user with the operator's own address leaves the emails to the operator in place.
      const supportKey = config.mail.supportEmail.toLowerCase()
      for (const address of addresses)
        if (address.key !== supportKey) await eraseEmails(tx, address)
    },
    eraseSlices: [eraseEmailsSlice],
    collect: async (from, userId) => ({ emails: () => listEmailsOfUser(from, userId) }),
    close: () => transport.close(),
  }
}

/** The brand's name for emails wins, then the name in MAIL_FROM, then the brand's name. */
export function formatSender({ brand, mail }: Pick<Config, 'brand' | 'mail'>): string {
  const name = brand.mailFromName ?? mail.from.name ?? brand.name
  const isAtoms = /^[\p{L}\p{N} _-]+$/u.test(name)
  return `${isAtoms ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${mail.from.address}>`
}

const NOTICE_JOB = 'mail.notice'

/** Kinds of jobs that only send an email. */
export const MAIL_JOBS: readonly string[] = ['mail.send', NOTICE_JOB]

/**
 * Sends the email after the transaction has committed. Notices are not urgent: they never delay
 * other email.
 */
export async function sendMail(
  { jobs, clock }: { jobs: Jobs; clock: Clock },
  tx: Db,
  email: Email,
  { isNotice = false } = {},
): Promise<void> {
  const id = randomUUID()
  const sent = { ...email, subject: toOneLine(email.subject) }
  await insertEmail(tx, id, sent, clock.now())
  await jobs.enqueue(tx, isNotice ? NOTICE_JOB : 'mail.send', sent, { id })
}

/** A line break in a subject would start another header. */
function toOneLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').trim()
}

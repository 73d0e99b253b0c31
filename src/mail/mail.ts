// Outgoing email: each is a job in the caller's transaction, and its Message-ID is the job's id.
// After a crash an email may be sent twice with the same Message-ID, so mailboxes drop the
// duplicate.
import type { Config } from '#config/config.ts'
import type { Db } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Neighbour } from '#platform/jobs/neighbours.ts'
import type { Platform } from '#platform/platform.ts'
import type { Email } from './email.ts'
import { createTransport, type Transport } from './transport.ts'

export type Mail = {
  /** The mail server, which delivery jobs depend on. */
  neighbour: Neighbour
  deliver(email: Email, messageId: string): Promise<void>
  close(): void
}

/** Opens the configured transport and handles the jobs that deliver emails. */
export function createMail(platform: Pick<Platform, 'config' | 'jobs'>): Mail {
  const { config, jobs } = platform
  const domain = new URL(config.urls.base).hostname
  const transport: Transport = createTransport(config)

  const mail: Mail = {
    neighbour: { name: 'mail', answers: () => transport.answers() },
    /**
     * Sends the email now.
     * @throws Error when the mail server rejects it, NeighbourAway when it does not answer.
     */
    deliver: (email, messageId) =>
      transport.send({
        from: formatSender(config),
        messageId: `<${messageId}@${domain}>`,
        ...email,
      }),
    close: () => transport.close(),
  }
  jobs.handle<Email>('mail.send', (email, { id }) => mail.deliver(email, id), {
    lane: 'urgent',
    needs: mail.neighbour,
  })
  jobs.handle<Email>(NOTICE_JOB, (email, { id }) => mail.deliver(email, id), {
    lane: 'bulk',
    needs: mail.neighbour,
  })
  return mail
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
  { jobs }: { jobs: Jobs },
  tx: Db,
  email: Email,
  { isNotice = false } = {},
): Promise<void> {
  await jobs.enqueue(tx, isNotice ? NOTICE_JOB : 'mail.send', {
    ...email,
    subject: toOneLine(email.subject),
  })
}

/** A line break in a subject would start another header. */
function toOneLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').trim()
}

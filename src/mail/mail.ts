// Outgoing email: each is a job of the transaction that wants it, and its Message-ID is the job's id. After a crash one
// may be handed over twice, with the same Message-ID, so mailboxes drop the second.
import type { Db } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Neighbour } from '#platform/jobs/neighbours.ts'
import type { Platform } from '#platform/platform.ts'
import type { Email } from './email.ts'
import { createTransport, type Transport } from './transport.ts'

export type Mail = {
  /** What jobs need that deliver. */
  neighbour: Neighbour
  deliver(email: Email, messageId: string): Promise<void>
  close(): void
}

/** Opens the configured transport, and handles the jobs that carry emails. */
export function createMail(platform: Pick<Platform, 'config' | 'jobs'>): Mail {
  const { config, jobs } = platform
  const domain = new URL(config.urls.base).hostname
  const transport: Transport = createTransport(config)

  const mail: Mail = {
    neighbour: { name: 'mail', answers: () => transport.answers() },
    /** Hands the email over now. @throws Error when the mail server does not take it, NeighbourAway when it does not answer. */
    deliver: (email, messageId) =>
      transport.send({ from: config.mail.from, messageId: `<${messageId}@${domain}>`, ...email }),
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

const NOTICE_JOB = 'mail.notice'

/** Kinds of jobs that are an email and nothing else. */
export const MAIL_JOBS: readonly string[] = ['mail.send', NOTICE_JOB]

/** Sends the email once the transaction has committed. A notice is one that nobody waits for: it holds up no other email. */
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

/** A subject with a line break would be another header. */
function toOneLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').trim()
}

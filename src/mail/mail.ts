// Guards mail: every letter is a job of the transaction that wants it, and carries the job's id as its Message-ID.
// One thing to know: handing over may happen twice after a crash; the Message-ID is the same, so mailboxes drop the second.
import type { Db } from '#platform/db/db.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Platform } from '#platform/platform.ts'
import type { Email } from './email.ts'
import { createTransport, type Transport } from './transport.ts'

export type Mail = { deliver(letter: Email, messageId: string): Promise<void>; close(): void }

/** Opens the way out that is configured and takes over the jobs that carry letters. */
export function createMail(platform: Pick<Platform, 'config' | 'jobs'>): Mail {
  const { config, jobs } = platform
  const domain = new URL(config.urls.base).hostname
  const transport: Transport = createTransport(config)

  const mail: Mail = {
    /** Hands the letter over now. @throws Error when the mail server does not take it. */
    deliver: (letter, messageId) =>
      transport.send({ from: config.mail.from, messageId: `<${messageId}@${domain}>`, ...letter }),
    close: () => transport.close(),
  }
  jobs.handle<Email>('mail.send', (letter, { id }) => mail.deliver(letter, id))
  return mail
}

/** Sends the letter once the transaction has committed. */
export async function sendMail({ jobs }: { jobs: Jobs }, tx: Db, letter: Email): Promise<void> {
  await jobs.enqueue(tx, 'mail.send', { ...letter, subject: oneLine(letter.subject) })
}

/** A subject with a line break would be another header. */
function oneLine(text: string): string {
  return text.replace(/[\r\n\t]+/g, ' ').trim()
}

/** Emails every superuser when settings change, because a stolen session could change them. */
import { listSuperusers } from '#identity/admin/administration.ts'
import { composeEmail } from '#mail/email.ts'
import { type Mail, sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Changes } from './saved-settings.ts'

export type NoticeDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'log'> & { mail: Mail }

/**
 * Emails the names of the changed settings, by the mail server that the service has used so far: a
 * new server may be the intruder's. When that server fails, a job sends the email later.
 */
export async function notifySuperusers(
  deps: NoticeDeps,
  actorEmail: string,
  changes: Changes,
): Promise<void> {
  const { config, db, clock, mail, log } = deps
  const emails = (await listSuperusers(db)).map(({ email }) =>
    composeEmail(config.brand, {
      to: email,
      subject: 'Settings of your service were changed',
      before: [
        `A superuser changed settings of ${config.brand.name} on its setup page. They apply after the next restart.`,
      ],
      facts: [
        ['Who', actorEmail],
        ['What', Object.keys(changes).join(', ')],
        ['When', `${clock.now().slice(0, 16).replace('T', ' ')} UTC`],
      ],
      after: ['If you do not recognise this change, end all sessions of that account at once.'],
    }),
  )
  const sent = await Promise.allSettled(
    emails.map((email) => mail.deliver(email, crypto.randomUUID())),
  )
  const unsent = emails.filter((_, index) => sent[index]?.status === 'rejected')
  if (unsent.length === 0) return
  log.warn({ emails: unsent.length }, 'a notice of changed settings waits for the mail server')
  await transaction(db, async (tx) => {
    for (const email of unsent) await sendMail(deps, tx, email)
  })
}

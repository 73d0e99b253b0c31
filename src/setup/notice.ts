/** Emails every superuser when settings change, because a stolen session could change them. */
import type { Config } from '#config/config.ts'
import { listSuperusers } from '#identity/admin/administration.ts'
import { composeEmailToUser, type Email, type Recipient } from '#mail/email.ts'
import { type Mail, sendMail } from '#mail/mail.ts'
import type { Instant } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { formatDateTime } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import { getSetupMessages } from './messages.ts'
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
  const change = { actorEmail, names: Object.keys(changes), at: clock.now() }
  const emails = (await listSuperusers(db)).map((to) =>
    settingsChangedEmail(config.brand, { to, ...change }),
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

export function settingsChangedEmail(
  brand: Config['brand'],
  {
    to,
    actorEmail,
    names,
    at,
  }: {
    to: Pick<Recipient, 'id' | 'email' | 'locale'>
    actorEmail: string
    names: readonly string[]
    at: Instant
  },
): Email {
  const locale = to.locale ?? brand.language
  const text = getSetupMessages(locale).changed
  return composeEmailToUser(
    brand,
    { ...to, locale },
    {
      subject: text.subject,
      before: [text.before(brand.name)],
      facts: [
        [text.who, actorEmail],
        [text.what, names.join(', ')],
        [text.when, formatDateTime(at, locale)],
      ],
      after: [text.after],
    },
  )
}

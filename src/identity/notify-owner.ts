import { type AccessChange, type AccessDetails, accessChangedEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { EMAIL_RATE } from './email-rate.ts'
import { findUser } from './users.ts'

/**
 * Mails the owner that a sign-in method, key or role has come or gone, once the transaction has committed. What an
 * intruder adds in a stolen session is seen by the one person who can tell. An address that nobody has proven may be that of
 * somebody who never came here: it gets no more of one kind than anyone may ask for.
 */
export async function notifyOwner(
  { config, clock, jobs, limiter, secrets }: Pick<Platform, 'config' | 'clock' | 'jobs' | 'limiter' | 'secrets'>,
  tx: Db,
  userId: string,
  change: AccessChange,
  details: AccessDetails = {},
): Promise<void> {
  const user = await findUser(tx, userId)
  if (!user) return
  if (!user.is_verified) {
    const key = `${change}:${secrets.hash('letters', user.email_key)}`
    if (!(await limiter.hit('access-letters', key, EMAIL_RATE)).allowed) return
  }
  await sendMail({ jobs }, tx, accessChangedEmail(config, { to: user.email, change, details, at: clock.now() }))
}

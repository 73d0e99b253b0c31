import {
  type AccessChange,
  type AccessDetails,
  type AllowanceEmail,
  accessChangedEmail,
  allowanceEmail,
} from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { countEmail } from './email-rate.ts'
import { findUser } from './users.ts'

export type NotifyDeps = Pick<Platform, 'config' | 'clock' | 'jobs' | 'limiter' | 'secrets'>

/**
 * Emails the owner that a sign-in method, key or role was added or removed, after the transaction
 * commits. If an intruder made the change, the owner can recognize it. An unverified address may
 * belong to an uninvolved person, so its emails are limited per kind.
 */
export async function notifyOwner(
  deps: NotifyDeps,
  tx: Db,
  userId: string,
  change: AccessChange,
  details: AccessDetails = {},
): Promise<void> {
  const user = await findUser(tx, userId)
  if (!user) return
  if (!user.is_verified && !(await countEmail(deps, 'access-emails', user.email, change))) return
  const { config, clock } = deps
  await sendMail(
    deps,
    tx,
    accessChangedEmail(config, { to: user, change, details, at: clock.now() }),
  )
}

/** Emails the user the used share of their plan's budget, unless the user is switched off. */
export async function notifyAllowance(
  deps: NotifyDeps,
  tx: Db,
  userId: string,
  allowance: Omit<AllowanceEmail, 'to'>,
): Promise<void> {
  const user = await findUser(tx, userId)
  if (!user?.is_active) return
  if (!user.is_verified && !(await countEmail(deps, 'access-emails', user.email, 'allowance')))
    return
  await sendMail(deps, tx, allowanceEmail(deps.config, { to: user, ...allowance }), {
    isNotice: true,
  })
}

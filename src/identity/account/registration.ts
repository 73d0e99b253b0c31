import { recordAudit } from '#audit/audit.ts'
import { registrationEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { isUniqueViolation, transaction } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import { countEmail } from '../email-rate.ts'
import { issueToken } from '../one-time-tokens.ts'
import type { Hasher } from '../passwords/hasher.ts'
import { refuseWeak } from '../passwords/password-rules.ts'
import { identityProblem } from '../problems.ts'
import { findUserByEmail, insertUser, type User } from '../users.ts'
import { requireInvitation, spendInvitation } from './invitations.ts'
import { requireAllowedDomain, requireSignUpProof } from './sign-up-rules.ts'

export type RegistrationDeps = Pick<
  Platform,
  'db' | 'clock' | 'config' | 'jobs' | 'limiter' | 'secrets' | 'log' | 'business'
> & { hasher: Hasher }

export type Registration = {
  email: string
  password: string
  full_name?: string | null | undefined
  invitation?: string | undefined
  proof?: string | undefined
  locale?: Locale | null
}

/**
 * Creates an account and emails the verification link.
 * @throws Problem 400 when the address is taken or its domain rejected; 403 without a required
 * invitation; 422 for a weak password; 429 for a missing proof of work.
 */
export async function register(
  deps: RegistrationDeps,
  registration: Registration,
  address: string,
): Promise<User> {
  const { db, clock, hasher } = deps
  const { email, password, full_name = null, invitation, proof, locale = null } = registration
  const { invitedOnly } = deps.config.signUp
  requireAllowedDomain(deps, email)
  // Checked first, so that a request without an invitation reveals no accounts and causes no work.
  if (invitedOnly) await requireInvitation(deps, db, invitation, email)
  await requireSignUpProof(deps, { email, address, proof })
  await refuseWeak(deps, 'password', password, email)
  if (await findUserByEmail(db, email)) throw emailTakenProblem()
  const password_hash = await hasher.hash(password)
  const maySend = await countEmail(deps, 'verification-emails', email, 'registered')

  try {
    return await transaction(db, async (tx) => {
      const now = clock.now()
      if (invitedOnly) await spendInvitation(deps, tx, invitation, email)
      const user = await insertUser(tx, { email, password_hash, full_name, locale }, now)
      const token = await issueToken(deps, tx, 'verify', user.id, { email })
      if (maySend) await sendMail(deps, tx, registrationEmail(deps.config, { to: user, token }))
      await recordAudit(tx, { actorId: user.id, action: 'registered', at: now })
      deps.business.signedUp(tx, 'password')
      return user
    })
  } catch (error) {
    // Two requests may register one address at once. The second gets the same reply as a later
    // request.
    if (isUniqueViolation(error)) throw emailTakenProblem()
    throw error
  }
}

const emailTakenProblem = () => identityProblem('email_taken')

import { recordAudit } from '#audit/audit.ts'
import { passwordChangedEmail, passwordResetEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { IdentityNeeds } from '../deps.ts'
import { countEmail } from '../email-rate.ts'
import { forgetDevices } from '../known-devices.ts'
import { issueToken, type OneTimeTokenDeps, peekToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import { NO_SIGN_IN_METHODS, recordRevokedKeys, removeSignInMethods } from '../sign-in-methods.ts'
import { emailKey, findUser, findUserByEmail, lockUser, type User, updateUser } from '../users.ts'
import type { Hasher } from './hasher.ts'
import { refuseWeak } from './password-rules.ts'

type ResetEmailDeps = Pick<Platform, 'clock' | 'config' | 'jobs' | 'secrets'>
export type PasswordResetDeps = ResetEmailDeps &
  RevocationDeps &
  Pick<IdentityNeeds, 'revokeKeys'> &
  Pick<Platform, 'db' | 'log'> & { hasher: Hasher }

/** Enqueues a job for known and unknown addresses alike, as `requestVerification` does. */
export async function requestReset(
  deps: Pick<Platform, 'db' | 'jobs' | 'limiter' | 'secrets'>,
  email: string,
): Promise<void> {
  const allowed = await countEmail(deps, 'reset-emails', email)
  await deps.jobs.enqueue(deps.db, 'identity.reset', { email, allowed })
}

export function handleReset(deps: ResetEmailDeps & Pick<Platform, 'db'>): void {
  deps.jobs.handle<{ email: string; allowed: boolean }>(
    'identity.reset',
    async ({ email, allowed }) => {
      const user = await findUserByEmail(deps.db, email)
      if (!user?.is_active || !allowed) return
      await transaction(deps.db, (tx) => mailReset(deps, tx, user))
    },
    { lane: 'urgent' },
  )
}

export async function mailReset(deps: ResetEmailDeps, tx: Db, user: User): Promise<void> {
  const token = await issueToken(deps, tx, 'reset', user.id, { email: user.email })
  await sendMail(deps, tx, passwordResetEmail(deps.config, { to: user, token }))
}

/** @throws Problem 400 unless the token is open. */
export async function checkResetToken(
  deps: OneTimeTokenDeps & Pick<Platform, 'db'>,
  token: string,
): Promise<void> {
  await userOfResetToken(deps, deps.db, token)
}

/**
 * Sets the password (for an account without one: its first) and ends every session. Revokes API
 * keys when the caller requests it, or when the address was never verified before.
 * @throws Problem 400 for the token. Problem 422 for the password, which leaves the token valid.
 */
export async function resetPassword(
  deps: PasswordResetDeps,
  {
    token,
    password,
    revokesKeys = false,
  }: { token: string; password: string; revokesKeys?: boolean | undefined },
): Promise<void> {
  const user = await userOfResetToken(deps, deps.db, token)
  await refuseWeak(deps, 'new_password', password, user.email)
  const password_hash = await deps.hasher.hash(password)

  await transaction(deps.db, async (tx) => {
    await lockUser(tx, user.id)
    // Several requests may use one token at once. Only one can spend it.
    if (!(await spendToken(deps, tx, 'reset', token))) throw resetTokenInvalid()
    const now = deps.clock.now()
    // The address was unverified until now, so a stranger may have registered it and added other
    // sign-in methods (account pre-hijacking).
    const methods = user.is_verified ? NO_SIGN_IN_METHODS : await removeSignInMethods(tx, user.id)
    const keys = revokesKeys || !user.is_verified ? await deps.revokeKeys(tx, user.id) : []
    const removed = { ...methods, keys, twoFactor: false }
    await updateUser(
      tx,
      user.id,
      { password_hash, oauth_provider: null, verified_apart_at: null },
      now,
    )
    await revokeSessions(deps, tx, user.id)
    await forgetDevices(tx, user.id)
    await sendMail(deps, tx, passwordChangedEmail(deps.config, { to: user, removed, at: now }))
    await recordRevokedKeys(tx, user.id, keys, 'password.reset', now)
    await recordAudit(tx, { actorId: user.id, action: 'password.reset', at: now })
  })
}

async function userOfResetToken(deps: OneTimeTokenDeps, db: Db, token: string): Promise<User> {
  const known = await peekToken<{ email: string }>(deps, db, 'reset', token)
  const user = known?.state === 'open' && known.userId ? await findUser(db, known.userId) : null
  // A link is invalid after a change of the account's address.
  if (!known || !user?.is_active || emailKey(known.data.email) !== user.email_key)
    throw resetTokenInvalid()
  return user
}

const resetTokenInvalid = () => identityProblem('reset_token_invalid')

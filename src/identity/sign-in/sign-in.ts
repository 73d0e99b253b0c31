// The last step of every sign-in method (password, provider, passkey, code), for the sessions of
// both servers. It reads the user again under a lock and rejects the sign-in if the password was
// changed or the account was deactivated meanwhile.
import { recordAudit } from '#audit/audit.ts'
import { newDeviceEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { type Db, forUpdate, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import { rememberDevice } from '../known-devices.ts'
import type { Origin } from '../origin.ts'
import { identityProblem } from '../problems.ts'
import { openSession, signPair, type TokenPair, USER_AGENT_MAX } from '../sessions/sessions.ts'
import type { TokenDeps } from '../sessions/tokens.ts'
import type { User } from '../users.ts'

export type SignInDeps = TokenDeps & Pick<Platform, 'db' | 'jobs' | 'secrets'>

export type SignInMethod =
  | 'password'
  | 'google'
  | 'github'
  | 'passkey'
  | 'two-factor'
  | 'account'
  | 'claim'
  | 'code'

/**
 * Signs in a user whose credentials have just been checked. `open` writes the session of the API or
 * the storefront. A sign-in from an unknown device sends an email. @throws Problem 401 when the
 * password has changed since, 403 when the account was deactivated
 */
export async function completeSignIn<T extends { sessionId: string }>(
  deps: Pick<Platform, 'clock' | 'config' | 'jobs' | 'secrets'>,
  tx: Db,
  user: User,
  { origin, method, place }: { origin: Origin; method: SignInMethod; place?: 'storefront' },
  open: () => Promise<T>,
): Promise<T> {
  await confirmUnchanged(tx, user)
  const now = deps.clock.now()
  const opened = await open()
  await tx.updateTable('users').set({ last_login_at: now }).where('id', '=', user.id).execute()
  const isNew = await rememberDevice(deps, tx, user.id, origin, now)
  const { userAgent, address } = origin
  if (isNew)
    await sendMail(deps, tx, newDeviceEmail(deps.config, { to: user, userAgent, address, at: now }))
  await recordAudit(tx, {
    actorId: user.id,
    action: 'sign-in',
    subject: `session:${opened.sessionId}`,
    data: {
      method,
      address: origin.address,
      user_agent: origin.userAgent?.slice(0, USER_AGENT_MAX) ?? null,
      new_device: isNew,
      ...(place === undefined ? {} : { place }),
    },
    at: now,
  })
  return opened
}

/**
 * Opens a session of the API for a user whose credentials have just been checked. @throws Problem
 * as `completeSignIn`.
 */
export async function signIn(
  deps: SignInDeps,
  user: User,
  origin: Origin,
  method: SignInMethod,
): Promise<TokenPair> {
  const session = await transaction(deps.db, (tx) =>
    completeSignIn(deps, tx, user, { origin, method }, () =>
      openSession(deps, tx, user.id, origin),
    ),
  )
  return signPair(deps, session)
}

async function confirmUnchanged(tx: Db, user: User) {
  const current = await forUpdate(
    tx,
    tx.selectFrom('users').select(['password_hash', 'is_active']).where('id', '=', user.id),
  ).executeTakeFirst()
  if (!current || current.password_hash !== user.password_hash) {
    throw identityProblem('credentials_wrong')
  }
  if (!current.is_active) throw platformProblem('inactive_account')
}

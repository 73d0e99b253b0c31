// Step-up authentication: sensitive changes require a fresh sign-in, the password or a code,
// because a session may have been left open.
import { MINUTE_MS } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { unauthenticated } from '#platform/problems.ts'
import type { Hasher } from '../passwords/hasher.ts'
import { identityProblem } from '../problems.ts'
import { acceptCode, codeWrong } from '../second-factors/totp.ts'
import { findAuthenticationTime, isSessionLive, type SessionRef } from '../sessions/sessions.ts'
import type { User } from '../users.ts'
import { countConfirmation } from './attempts.ts'

const FRESH_MS = 10 * MINUTE_MS

/**
 * Requires a sign-in within the last ten minutes: for changes of sign-in methods and second
 * factors, the whole export, and a superuser's changes to users.
 * @throws Problem 403 `Fresh sign-in required`. Problem 401 when the session has ended since the
 * request arrived.
 */
export async function requireFreshSignIn(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  session: SessionRef,
): Promise<void> {
  const signedInAt = await findAuthenticationTime({ clock }, db, session)
  if (signedInAt === null) throw unauthenticated()
  if (clock.ms() - Date.parse(signedInAt) > FRESH_MS)
    throw identityProblem('fresh_sign_in_required')
}

/** The proof that a signed-in user repeats before a sensitive change. */
export type Proof = { password?: string | null | undefined; code?: string | null | undefined }

/** The problem for a wrong password. */
export type WrongPassword = 'password_wrong' | 'current_password_wrong'

/** The dependencies of an owner's confirmation. */
export type ConfirmDeps = CountDeps & Pick<Platform, 'db' | 'clock'> & { hasher: Hasher }

export type Requester = { sessionId: string | null }

/**
 * Requires the password, or a fresh sign-in for an account without one. With two-factor on it also
 * requires a code, which `lockConfirmed` spends. @throws Problem 400 `wrong` or for a missing code,
 * 403 `Fresh sign-in required`, 429.
 */
export async function confirmOwner(
  deps: ConfirmDeps,
  user: User,
  { password, code }: Proof,
  { sessionId }: Requester,
  wrong: WrongPassword = 'password_wrong',
): Promise<void> {
  if (user.password_hash === null) await requireFreshSignIn(deps, { userId: user.id, sessionId })
  await confirmPassword(deps, user, password, { wrong, sessionId })
  if (!user.is_totp_on) return
  if (!code) throw codeMissing()
  await countSessionCode(deps, user, { sessionId })
}

/**
 * Requires the password of a signed-in user before a sensitive change; does nothing for an account
 * without one. Attempts count by session, so that a stolen access token does not allow unlimited
 * guessing, and attempts by others do not block this session. @throws Problem 400 `wrong`, 429
 */
export async function confirmPassword(
  deps: CountDeps & { hasher: Hasher },
  user: User,
  password: string | null | undefined,
  { wrong, sessionId }: { wrong: WrongPassword } & Requester,
): Promise<void> {
  if (user.password_hash === null) return
  const attempt = await countConfirmation(deps, sessionKey(user, sessionId))
  const { right } = await deps.hasher.verify(password ?? '', user.password_hash)
  if (!right) throw identityProblem(wrong)
  await attempt.succeeded()
}

/**
 * Counts codes of a signed-in user before they are checked, including correct ones, because no user
 * enters thirty an hour. @throws Problem 429
 */
export async function countSessionCode(
  deps: CountDeps,
  user: User,
  { sessionId }: Requester,
): Promise<void> {
  await countConfirmation(deps, `code:${sessionKey(user, sessionId)}`)
}

type CountDeps = Pick<Platform, 'config' | 'limiter' | 'secrets'>

const sessionKey = (user: User, sessionId: string | null) => `session:${sessionId ?? user.id}`

/**
 * Locks the user whose password was confirmed and consumes the code when two-factor is on. It runs
 * in the transaction of the confirmed change, so a failed change does not consume the code. Hashing
 * takes up to seconds under load. Meanwhile the password may have changed or the session may have
 * ended to lock a person out, so both are checked again.
 * @throws Problem 400 in these cases or for the code. Problem 401 when the user or the session is
 * gone.
 */
export async function lockConfirmed(
  deps: Pick<Platform, 'clock' | 'secrets'>,
  tx: Db,
  confirmed: User,
  { code }: Proof,
  { sessionId }: Requester,
  wrong: WrongPassword = 'password_wrong',
): Promise<User> {
  const user = await forUpdate(
    tx,
    tx.selectFrom('users').selectAll().where('id', '=', confirmed.id),
  ).executeTakeFirst()
  if (!user?.is_active) throw unauthenticated()
  if (user.password_hash !== confirmed.password_hash) throw identityProblem(wrong)
  if (!(await isSessionLive(deps, tx, { userId: user.id, sessionId }))) throw unauthenticated()
  if (!user.is_totp_on) return user
  if (!code) throw codeMissing()
  if (!(await acceptCode(deps, tx, user.id, code))) throw codeWrong()
  return user
}

const codeMissing = () => identityProblem('two_factor_code_required', { status: 400 })

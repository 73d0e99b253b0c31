// Checks email address, password and code for sign-ins to the API and the storefront. An unknown
// address takes the same steps and time as a known one with a wrong password.
import { platformProblem } from '#platform/problems.ts'
import type { Origin } from '../origin.ts'
import type { Hasher } from '../passwords/hasher.ts'
import { identityProblem } from '../problems.ts'
import { emailKey, findUser, findUserByEmail, type User } from '../users.ts'
import { type AttemptDeps, countSignIn } from './attempts.ts'
import { type CodeAttemptDeps, requireCode } from './code-attempts.ts'
import { type FailedSignIns, noting } from './failed-sign-ins.ts'

/** The dependencies of a password check. */
export type CredentialDeps = AttemptDeps &
  CodeAttemptDeps & { hasher: Hasher; failedSignIns: Pick<FailedSignIns, 'note'> }

export type Credentials = {
  email: string
  password: string
  /** A TOTP or recovery code, required when two-factor is on. */
  code?: string | undefined
  /** A solved challenge, required after too many failed attempts. */
  proof?: string | undefined
  /** The origin of the client, for the limits. */
  origin: Origin & { address: string }
  place?: 'storefront'
}

/**
 * Counts the attempt, checks everything, and returns the user. Opens no session. @throws Problem
 * 429, 401 `Incorrect email or password`, 403 `Inactive account`, 401 `Two-factor code required`,
 * 401 `Invalid two-factor code`, 403 `password_reset_required`, 503 when the queue of sign-ins is
 * full.
 */
export async function checkCredentials(
  deps: CredentialDeps,
  credentials: Credentials,
): Promise<User> {
  const { email, origin, place } = credentials
  const account = emailKey(email)
  const { user, outdated } = await noting(deps, { account, origin, place }, () =>
    check(deps, account, credentials),
  )
  return outdated ? rehash(deps, user, credentials.password) : user
}

async function check(
  deps: CredentialDeps,
  account: string,
  { password, code, proof, origin }: Credentials,
) {
  const attempt = await countSignIn(deps, { account, origin, proof })
  const user = await findUserByEmail(deps.db, account)
  const { right, outdated } = await deps.hasher.verify(password, user?.password_hash ?? null)
  if (!user || !right) throw identityProblem('credentials_wrong')
  await attempt.succeeded()
  if (!user.is_active) throw platformProblem('inactive_account')
  if (user.is_totp_on) {
    if (!code) throw identityProblem('two_factor_code_required')
    await requireCode(deps, user, code, attempt)
  }
  return { user, outdated }
}

async function rehash({ db, hasher }: CredentialDeps, user: User, password: string): Promise<User> {
  const fresh = await hasher.hash(password)
  const row = await db
    .updateTable('users')
    .set({ password_hash: fresh })
    .where('id', '=', user.id)
    .where('password_hash', '=', user.password_hash)
    .returningAll()
    .executeTakeFirst()
  if (row) return row
  // Another sign-in stored a new hash first, or the password changed meanwhile: the stored hash
  // decides.
  const current = await findUser(db, user.id)
  const { right } = await hasher.verify(password, current?.password_hash ?? null)
  if (!current || !right) throw identityProblem('credentials_wrong')
  return current
}

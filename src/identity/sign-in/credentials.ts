// Email address, password and code, for the sign-ins of the API and the storefront. An unknown address takes the same
// steps and the same time as a known one with a wrong password.
import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import type { Hasher } from '../passwords/hasher.ts'
import { identityProblem } from '../problems.ts'
import { acceptCode } from '../second-factors/totp.ts'
import { emailKey, findUser, findUserByEmail, type User } from '../users.ts'
import { countAttempt, forgetFailures, type SignInLimitDeps } from './sign-in-limits.ts'

/** What checks a password, and counts the attempt. */
export type CredentialDeps = SignInLimitDeps & Pick<Platform, 'db' | 'clock'> & { hasher: Hasher }

export type Credentials = {
  email: string
  password: string
  /** A TOTP or recovery code, where two-factor is on. */
  code?: string | undefined
  /** The client's, for the limits. */
  address: string
}

/**
 * Counts the attempt, checks everything, and returns the user. Opens no session.
 * @throws Problem 429, 401 `Incorrect email or password`, 403 `Inactive account`, 401 `Two-factor code required`,
 * 401 `Invalid two-factor code`, 503 when too many sign-ins wait.
 */
export async function checkCredentials(deps: CredentialDeps, credentials: Credentials): Promise<User> {
  const { email, password, code, address } = credentials
  const account = emailKey(email)
  await countAttempt(deps, { account, address })

  const user = await findUserByEmail(deps.db, email)
  const { right, outdated } = await deps.hasher.verify(password, user?.password_hash ?? null)
  if (!user || !right) throw identityProblem('credentials_wrong')
  if (!user.is_active) throw platformProblem('inactive_account')
  if (user.is_totp_on) {
    if (!code) throw identityProblem('two_factor_code_required')
    if (!(await acceptCode(deps, deps.db, user.id, code))) throw identityProblem('two_factor_code_wrong')
  }

  await forgetFailures(deps, account)
  return outdated ? rehash(deps, user, password) : user
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
  // Another sign-in was quicker, or the password was changed meanwhile: what is stored now decides.
  const current = await findUser(db, user.id)
  const { right } = await hasher.verify(password, current?.password_hash ?? null)
  if (!current || !right) throw identityProblem('credentials_wrong')
  return current
}

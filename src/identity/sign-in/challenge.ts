import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import { issueToken, type OneTimeTokenDeps, peekToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { acceptCode } from '../second-factors/totp.ts'
import { findUser, type User } from '../users.ts'
import { countAttempt, forgetFailures, type SignInLimitDeps } from './sign-in-limits.ts'

/** For someone whom a provider has vouched for, while the second factor is still to come. */
export async function issueChallenge(deps: OneTimeTokenDeps & Pick<Platform, 'db'>, userId: string): Promise<string> {
  return issueToken(deps, deps.db, 'challenge', userId)
}

/**
 * A wrong code leaves the challenge open; the limits count it.
 * @throws Problem 401 `Invalid two-factor code` for a wrong code as for a bad challenge, 429.
 */
export async function completeChallenge(
  deps: SignInLimitDeps & Pick<Platform, 'db' | 'clock'>,
  { challenge, code, address }: { challenge: string; code: string; address: string },
): Promise<User> {
  const known = await peekToken(deps, deps.db, 'challenge', challenge)
  const user = known?.state === 'open' && known.userId ? await findUser(deps.db, known.userId) : null
  await countAttempt(deps, { account: user?.email_key ?? null, address })
  if (!user || !(await acceptCode(deps, deps.db, user.id, code))) throw identityProblem('two_factor_code_wrong')
  if (!(await spendToken(deps, deps.db, 'challenge', challenge))) throw identityProblem('two_factor_code_wrong')
  if (!user.is_active) throw platformProblem('inactive_account')
  await forgetFailures(deps, user.email_key)
  return user
}

import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import { issueToken, type OneTimeTokenDeps, peekToken, spendToken } from '../one-time-tokens.ts'
import type { Origin } from '../origin.ts'
import { identityProblem } from '../problems.ts'
import { findUser, type User } from '../users.ts'
import type { CodeAttemptDeps } from './code-attempts.ts'
import { type FailedSignIns, noting } from './failed-sign-ins.ts'
import { confirmSecondFactor } from './second-factor.ts'

/**
 * Issues a challenge to a user who signed in through a provider and must still enter a second
 * factor.
 */
export async function issueChallenge(
  deps: OneTimeTokenDeps & Pick<Platform, 'db'>,
  userId: string,
): Promise<string> {
  return issueToken(deps, deps.db, 'challenge', userId)
}

/**
 * Completes a challenge with a code. A wrong code leaves the challenge open. It counts separately
 * from wrong codes after a correct password. @throws Problem 401 `Invalid two-factor code` for a
 * wrong code and for a bad challenge, 429.
 */
export async function completeChallenge(
  deps: CodeAttemptDeps & { failedSignIns: Pick<FailedSignIns, 'note'> },
  { challenge, code, origin }: { challenge: string; code: string; origin: Origin },
): Promise<User> {
  const known = await peekToken(deps, deps.db, 'challenge', challenge)
  const user =
    known?.state === 'open' && known.userId ? await findUser(deps.db, known.userId) : null
  // Not counted, because a challenge of 256 random bits cannot be guessed.
  if (!user) throw identityProblem('two_factor_code_wrong')
  return noting(deps, { account: user.email_key, origin }, () =>
    complete(deps, user, { challenge, code }),
  )
}

async function complete(
  deps: CodeAttemptDeps,
  user: User,
  { challenge, code }: { challenge: string; code: string },
) {
  await confirmSecondFactor(deps, user, { who: `provider:${user.id}`, code })
  if (!(await spendToken(deps, deps.db, 'challenge', challenge)))
    throw identityProblem('two_factor_code_wrong')
  if (!user.is_active) throw platformProblem('inactive_account')
  return user
}

// Confirms a sign-in by a provider or an emailed code with the account's second factor.
import { identityProblem } from '../problems.ts'
import { acceptCode } from '../second-factors/totp.ts'
import type { User } from '../users.ts'
import { countConfirmation } from './attempts.ts'
import {
  type CodeAttemptDeps,
  codeSucceeded,
  countConfirmingCode,
  tellOwner,
} from './code-attempts.ts'

/**
 * Requires a correct code. `who` counts its failures apart from those after a correct password.
 * @throws Problem 401 `Invalid two-factor code`, 429.
 */
export async function confirmSecondFactor(
  deps: CodeAttemptDeps,
  user: User,
  { who, code }: { who: string; code: string },
): Promise<void> {
  const attempt = await countConfirmation(deps, who)
  const hit = await countConfirmingCode(deps, user, attempt)
  if (!(await acceptCode(deps, deps.db, user.id, code))) {
    await tellOwner(deps, user, hit)
    throw identityProblem('two_factor_code_wrong')
  }
  await attempt.succeeded()
  await codeSucceeded(deps, user, attempt.counted)
}

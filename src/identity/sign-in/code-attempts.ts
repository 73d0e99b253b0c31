// Counts wrong codes after a correct password, because an attacker may have the password but not
// the second factor. The owner gets an email. After twenty wrong codes in a day, that password no
// longer works for that device until it is reset.
import { recordAudit } from '#audit/audit.ts'
import { wrongCodesEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { DAY_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Hit } from '#platform/rate-limiter.ts'
import { rateProblem } from '#platform/rate-limiter.ts'
import { identityProblem } from '../problems.ts'
import { acceptCode } from '../second-factors/totp.ts'
import type { User } from '../users.ts'
import type { Attempt } from './attempts.ts'

export type CodeAttemptDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'limiter' | 'secrets'
>

const WRONG_CODES = { requests: 20, seconds: DAY_MS / 1_000 }
const TOLD_AFTER = 5

/**
 * Requires a correct code. `counted` is the key of the count, so that wrong codes of unknown
 * devices never block a known device. @throws Problem 401 `Invalid two-factor code`, 403
 * `password_reset_required` after twenty wrong codes
 */
export async function requireCode(
  deps: CodeAttemptDeps,
  user: User,
  code: string,
  { counted }: Pick<Attempt, 'counted'>,
): Promise<void> {
  const hit = await countCode(deps, user, counted)
  if (hit !== null && !hit.allowed) throw identityProblem('password_reset_required')
  if (await acceptCode(deps, deps.db, user.id, code)) return codeSucceeded(deps, user, counted)
  await tellOwner(deps, user, hit)
  throw identityProblem('two_factor_code_wrong')
}

/**
 * Counts a code that a transaction checks later. It counts as wrong until `codeSucceeded` is
 * called. @throws Problem 429
 */
export async function countConfirmingCode(
  deps: Pick<Platform, 'limiter' | 'secrets'>,
  user: User,
  { counted }: Pick<Attempt, 'counted'>,
): Promise<Hit | null> {
  const hit = await countCode(deps, user, counted)
  if (hit !== null && !hit.allowed) throw rateProblem(hit)
  return hit
}

export async function codeSucceeded(
  { limiter, secrets }: Pick<Platform, 'limiter' | 'secrets'>,
  user: User,
  counted: string | null,
): Promise<void> {
  if (counted !== null) await limiter.takeBack('wrong-codes', hashKey(secrets, user, counted))
}

async function countCode(
  { limiter, secrets }: Pick<Platform, 'limiter' | 'secrets'>,
  user: User,
  counted: string | null,
): Promise<Hit | null> {
  return counted === null
    ? null
    : limiter.hit('wrong-codes', hashKey(secrets, user, counted), WRONG_CODES)
}

/** Emails the owner after the fifth and the twentieth wrong code. */
export async function tellOwner(deps: CodeAttemptDeps, user: User, hit: Hit | null): Promise<void> {
  if (hit === null) return
  const wrong = hit.limit - hit.remaining
  if (wrong !== TOLD_AFTER && wrong !== WRONG_CODES.requests) return
  const at = deps.clock.now()
  const isClosed = wrong === WRONG_CODES.requests
  await transaction(deps.db, async (tx) => {
    await sendMail(deps, tx, wrongCodesEmail(deps.config, { to: user, wrong, isClosed, at }))
    await recordAudit(tx, {
      actorId: null,
      action: isClosed ? 'sign-in.closed' : 'sign-in.codes-guessed',
      subject: `user:${user.id}`,
      data: { wrong },
      at,
    })
  })
}

/** The key contains the password hash, so that a new password starts a new count. */
const hashKey = (secrets: Platform['secrets'], user: User, counted: string) =>
  secrets.hash('wrong-codes', JSON.stringify([user.id, user.password_hash, counted]))

// Sign-in by a code that is emailed to the account's address. A code works once, for ten minutes, and
// only in the browser that requested it. So requests by strangers void no code of the owner, and a
// code can only be guessed by the browser that requested it, in five attempts.
import { randomInt } from 'node:crypto'
import { signInCodeEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { MINUTE_MS } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { ownedToken } from '#platform/owned-token.ts'
import type { Platform } from '#platform/platform.ts'
import { platformProblem } from '#platform/problems.ts'
import { countEmail } from '../email-rate.ts'
import { issueToken, peekToken, spendToken } from '../one-time-tokens.ts'
import type { Origin } from '../origin.ts'
import { mailReset } from '../passwords/password-reset.ts'
import { identityProblem } from '../problems.ts'
import { claimAccount, isUnclaimed } from '../unclaimed-accounts.ts'
import { emailKey, findUser, findUserByEmail, lockUser, type User } from '../users.ts'
import type { CodeAttemptDeps } from './code-attempts.ts'
import { type FailedSignIns, noting } from './failed-sign-ins.ts'
import { confirmSecondFactor } from './second-factor.ts'

export type EmailedCodeDeps = CodeAttemptDeps & { failedSignIns: Pick<FailedSignIns, 'note'> }

const JOB = 'identity.sign-in-code'
const DIGITS = 8
const GUESSES = { requests: 5, seconds: (10 * MINUTE_MS) / 1_000 }
/** An unknown address takes the same steps as a known one. */
const NOBODY = '00000000-0000-0000-0000-000000000000'

/** `browser`: the secret in the cookie of the browser that asks. */
export type CodeRequest = { email: string; browser: string }
export type CodeSignIn = CodeRequest & {
  code: string
  /** A TOTP or recovery code, required when two-factor is on. */
  secondFactor?: string | undefined
  origin: Origin
}

/** Always enqueues a job, so the response time does not reveal whether the address exists. */
export async function requestEmailedCode(
  deps: Pick<Platform, 'db' | 'jobs' | 'limiter' | 'secrets'>,
  { email, browser }: CodeRequest,
): Promise<void> {
  const allowed = await countEmail(deps, 'sign-in-codes', email)
  const job: Job = { email, browserHash: hashBrowser(deps, browser), allowed }
  await deps.jobs.enqueue(deps.db, JOB, job)
}

type Job = { email: string; browserHash: string; allowed: boolean }

export function handleEmailedCode(
  deps: Pick<Platform, 'db' | 'clock' | 'config' | 'jobs' | 'secrets'>,
): void {
  deps.jobs.handle<Job>(
    JOB,
    async ({ email, browserHash, allowed }) => {
      const user = await findUserByEmail(deps.db, email)
      if (!user?.is_active || !allowed) return
      const isSafe = await isHeldByReader(deps.db, user)
      await transaction(deps.db, (tx) =>
        isSafe ? mailCode(deps, tx, user, browserHash) : mailReset(deps, tx, user),
      )
    },
    { lane: 'urgent' },
  )
}

/**
 * Returns false while the password may be another person's (account pre-hijacking). Such an account
 * gets the link for a new password instead, which removes every other way in.
 */
async function isHeldByReader(db: Db, user: User): Promise<boolean> {
  return (user.is_verified && user.verified_apart_at === null) || isUnclaimed(db, user)
}

async function mailCode(
  deps: Pick<Platform, 'clock' | 'config' | 'jobs' | 'secrets'>,
  tx: Db,
  user: User,
  browserHash: string,
): Promise<void> {
  const code = randomInt(10 ** DIGITS)
    .toString()
    .padStart(DIGITS, '0')
  const token = buildToken(deps, user.id, browserHash, code)
  await issueToken(deps, tx, 'code', user.id, { email: user.email }, token)
  await sendMail(deps, tx, signInCodeEmail(deps.config, { to: user, code }))
}

/**
 * Checks a code and returns the user. Opens no session. A missing second factor leaves the code
 * valid. @throws Problem 401 `emailed_code_wrong`, `two_factor_code_required` or
 * `two_factor_code_wrong`, 403 `Inactive account`, 429.
 */
export function checkEmailedCode(deps: EmailedCodeDeps, signIn: CodeSignIn): Promise<User> {
  const account = emailKey(signIn.email)
  return noting(deps, { account, origin: signIn.origin, place: 'storefront' }, () =>
    check(deps, account, signIn),
  )
}

async function check(
  deps: EmailedCodeDeps,
  account: string,
  { browser, code, secondFactor }: CodeSignIn,
): Promise<User> {
  const browserHash = hashBrowser(deps, browser)
  const hit = await deps.limiter.hit('emailed-codes', browserHash, GUESSES)
  const user = await findUserByEmail(deps.db, account)
  const token = buildToken(deps, user?.id ?? NOBODY, browserHash, code.replaceAll(/[\s-]/g, ''))
  const known = await peekToken<{ email: string }>(deps, deps.db, 'code', token)
  const isRight = known?.state === 'open' && emailKey(known.data.email) === account
  if (!hit.allowed || !user || !isRight) throw identityProblem('emailed_code_wrong')
  if (!user.is_active) throw platformProblem('inactive_account')
  if (user.is_totp_on) {
    if (!secondFactor) throw identityProblem('two_factor_code_required')
    await confirmSecondFactor(deps, user, { who: `emailed-code:${user.id}`, code: secondFactor })
  }
  return spendCode(deps, user.id, token)
}

async function spendCode(deps: EmailedCodeDeps, userId: string, token: string): Promise<User> {
  return transaction(deps.db, async (tx) => {
    await lockUser(tx, userId)
    const user = await findUser(tx, userId)
    if (!user || !(await spendToken(deps, tx, 'code', token)))
      throw identityProblem('emailed_code_wrong')
    return (await isUnclaimed(tx, user)) ? claimAccount(deps, tx, user.id) : user
  })
}

const hashBrowser = ({ secrets }: Pick<Platform, 'secrets'>, browser: string) =>
  secrets.hash('emailed-code/browser', browser)

/** Returns the token of a code. A thief of the database cannot try all codes, because it is keyed. */
function buildToken(
  { secrets }: Pick<Platform, 'secrets'>,
  userId: string,
  browserHash: string,
  code: string,
): string {
  const secret = secrets.hash('emailed-code', JSON.stringify([userId, browserHash, code]))
  return ownedToken(userId, Buffer.from(secret, 'base64url'))
}

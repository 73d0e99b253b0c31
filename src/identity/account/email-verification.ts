import { recordAudit } from '#audit/audit.ts'
import { verificationEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { countEmail } from '../email-rate.ts'
import { issueToken, peekToken, spendToken } from '../one-time-tokens.ts'
import { identityProblem } from '../problems.ts'
import { isSessionLive } from '../sessions/sessions.ts'
import { readAccess, type TokenDeps } from '../sessions/tokens.ts'
import { isUnclaimed } from '../unclaimed-accounts.ts'
import { announceUserChange } from '../user-changes.ts'
import { emailKey, findUser, findUserByEmail, updateUser } from '../users.ts'

export type VerificationDeps = TokenDeps & Pick<Platform, 'db' | 'secrets'>

type Verification = { email: string }

/**
 * `bearer` is the access token of the user who follows the link, if they are signed in. Only then
 * is it certain that the reader of the mailbox has set the password.
 * @throws Problem 400 when the token is unknown, voided or expired and its address is not verified.
 */
export async function verifyEmail(
  deps: VerificationDeps,
  token: string,
  bearer: string | null,
): Promise<'verified' | 'already'> {
  const claims = bearer === null ? null : await readAccess(deps, bearer)
  return transaction(deps.db, async (tx) => {
    const known = await peekToken<Verification>(deps, tx, 'verify', token)
    const user = known?.userId ? await findUser(tx, known.userId) : null
    // A token is valid only for the address it was sent to, so it is invalid after a change of
    // address.
    if (!known || !user || emailKey(known.data.email) !== user.email_key)
      throw verificationTokenInvalid()
    if (user.is_verified) return 'already'
    if (!(await spendToken(deps, tx, 'verify', token))) {
      // The token was used since the check above. If the same link was used, the address is
      // verified now.
      if ((await findUser(tx, user.id))?.is_verified) return 'already'
      throw verificationTokenInvalid()
    }

    const now = deps.clock.now()
    const isHolder = claims?.userId === user.id && (await isSessionLive(deps, tx, claims))
    // Nobody can have prepared an account without any sign-in method.
    const isApart = !isHolder && !(await isUnclaimed(tx, user))
    await updateUser(
      tx,
      user.id,
      { is_verified: true, verified_apart_at: isApart ? now : null },
      now,
    )
    announceUserChange(tx, user.id)
    await recordAudit(tx, {
      actorId: user.id,
      action: 'email.verified',
      data: { signed_in: isHolder },
      at: now,
    })
    return 'verified'
  })
}

/**
 * Always enqueues a job, so the response time does not reveal whether the address exists. After
 * five emails an hour it sends none, with the same reply.
 */
export async function requestVerification(
  deps: Pick<Platform, 'db' | 'jobs' | 'limiter' | 'secrets'>,
  email: string,
): Promise<void> {
  const allowed = await countEmail(deps, 'verification-emails', email, 'asked for')
  await deps.jobs.enqueue(deps.db, 'identity.verification', { email, allowed })
}

export function handleVerification(
  deps: Pick<Platform, 'db' | 'clock' | 'config' | 'jobs' | 'secrets'>,
): void {
  deps.jobs.handle<{ email: string; allowed: boolean }>(
    'identity.verification',
    async ({ email, allowed }) => {
      const user = await findUserByEmail(deps.db, email)
      if (!user || user.is_verified || !user.is_active || !allowed) return
      await transaction(deps.db, async (tx) => {
        const token = await issueToken(deps, tx, 'verify', user.id, { email: user.email })
        await sendMail(deps, tx, verificationEmail(deps.config, { to: user, token }))
      })
    },
    { lane: 'urgent' },
  )
}

const verificationTokenInvalid = () => identityProblem('verification_token_invalid')

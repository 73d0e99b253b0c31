// Changes an account's address at once; the old address can undo the change for 7 days. Undoing
// removes every sign-in method and API key that was added since the change or in the week before
// it, because an intruder may have prepared a way back.
import { recordAudit } from '#audit/audit.ts'
import {
  emailChangedEmail,
  emailRestoredEmail,
  type RemovedAccess,
  verificationEmail,
} from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { DAY_MS, type Instant, plus } from '#platform/clock.ts'
import { type Db, isUniqueViolation, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { IdentityNeeds } from '../deps.ts'
import { countEmail } from '../email-rate.ts'
import { forgetDevices } from '../known-devices.ts'
import { issueToken, peekToken, spendToken, voidTokens } from '../one-time-tokens.ts'
import { mailReset } from '../passwords/password-reset.ts'
import { identityProblem } from '../problems.ts'
import { dropRecentTotp } from '../second-factors/totp.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import {
  type ConfirmDeps,
  confirmOwner,
  lockConfirmed,
  type Proof,
  type Requester,
} from '../sign-in/step-up.ts'
import { recordRevokedKeys, removeSignInMethods } from '../sign-in-methods.ts'
import { announceUserChange } from '../user-changes.ts'
import { emailKey, findUser, findUserByEmail, lockUser, type User, updateUser } from '../users.ts'
import { requireAllowedDomain } from './sign-up-rules.ts'

/** @throws Problem as `confirmOwner` and `lockConfirmed`, 400 `Email already in use`. */
export async function changeEmail(
  deps: ConfirmDeps & RevocationDeps & Pick<Platform, 'jobs'>,
  asked: User,
  { new_email, ...proof }: { new_email: string } & Proof,
  requester: Requester,
): Promise<void> {
  requireAllowedDomain(deps, new_email)
  await confirmOwner(deps, asked, proof, requester)
  if (await findUserByEmail(deps.db, new_email)) throw inUse()
  const maySend = await countEmail(deps, 'verification-emails', new_email, 'changed')

  await guardUnique(() =>
    transaction(deps.db, async (tx) => {
      const now = deps.clock.now()
      const user = await lockConfirmed(deps, tx, asked, proof, requester)
      const changes = {
        email: new_email,
        email_key: emailKey(new_email),
        is_verified: false,
        verified_apart_at: null,
      }
      await updateUser(tx, user.id, changes, now)
      await revokeSessions(deps, tx, user.id, requester.sessionId)

      const verify = await issueToken(deps, tx, 'verify', user.id, { email: new_email })
      const verification = verificationEmail(deps.config, {
        to: { ...user, email: new_email },
        token: verify,
      })
      if (maySend) await sendMail(deps, tx, verification)
      const undo = await issueToken(deps, tx, 'undo-email', user.id, { email: user.email })
      const notice = emailChangedEmail(deps.config, {
        to: user,
        newEmail: new_email,
        token: undo,
        at: now,
      })
      await sendMail(deps, tx, notice)
      await recordAudit(tx, {
        actorId: user.id,
        action: 'email.changed',
        data: { from: user.email, to: new_email, was_verified: user.is_verified },
        at: now,
      })
    }),
  )
}

export type UndoDeps = RevocationDeps &
  Pick<IdentityNeeds, 'revokeKeys'> &
  Pick<Platform, 'db' | 'clock' | 'config' | 'jobs' | 'secrets'>

type Undo = { email: string }

/**
 * Restores the address, ends every session and mails a password reset to it. @throws Problem 400.
 */
export async function undoEmailChange(deps: UndoDeps, token: string): Promise<void> {
  await guardUnique(() =>
    transaction(deps.db, async (tx) => {
      const known = await peekToken<Undo>(deps, tx, 'undo-email', token)
      // The lock orders this with the creation of keys and passkeys: one either exists before the
      // removal below, or fails because its session has ended.
      if (known?.userId) await lockUser(tx, known.userId)
      const user = known?.userId ? await findUser(tx, known.userId) : null
      const spent = user && (await spendToken<Undo>(deps, tx, 'undo-email', token))
      if (!user || !spent) throw identityProblem('undo_token_invalid')

      const now = deps.clock.now()
      const { email } = spent.data
      const removed = await removeRecentAccess(deps, tx, user, spent.createdAt)
      // The link was followed from the old mailbox, which verifies that address. The current
      // password may be an intruder's.
      const restored = {
        email,
        email_key: emailKey(email),
        is_verified: true,
        verified_apart_at: now,
      }
      await updateUser(tx, user.id, restored, now)
      await revokeSessions(deps, tx, user.id)
      await forgetDevices(tx, user.id)
      await voidTokens(deps, tx, user.id, ['verify', 'passkey-register'])
      await voidTokens(deps, tx, user.id, ['undo-email'], { issuedAfter: spent.createdAt })
      await sendMail(
        deps,
        tx,
        emailRestoredEmail(deps.config, { to: { ...user, email }, removed, at: now }),
      )
      await mailReset(deps, tx, { ...user, email })
      await recordRevokedKeys(tx, user.id, removed.keys, 'email.restored', now)
      await recordAudit(tx, {
        actorId: user.id,
        action: 'email.restored',
        data: { from: user.email, to: email },
        at: now,
      })
    }),
  )
}

/**
 * Removes the sign-in methods, keys and second factor that were added since a week before the
 * change. Older ones stay: an old second factor keeps out an intruder who controls the old mailbox.
 * The provider that the account was created with also stays.
 */
async function removeRecentAccess(
  deps: Pick<UndoDeps, 'clock' | 'revokeKeys'>,
  tx: Db,
  user: User,
  changedAt: Instant,
): Promise<RemovedAccess & { keys: { id: string }[] }> {
  const weekBefore = plus(changedAt, -7 * DAY_MS)
  const since = weekBefore > user.created_at ? weekBefore : user.created_at
  const methods = await removeSignInMethods(tx, user.id, since)
  const keys = await deps.revokeKeys(tx, user.id, { after: since })
  const twoFactor = await dropRecentTotp(deps, tx, user.id, since)
  announceUserChange(tx, user.id)
  return { ...methods, keys, twoFactor }
}

/** Another account may take the address between the check and the write. */
async function guardUnique(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isUniqueViolation(error)) throw inUse()
    throw error
  }
}

const inUse = () => identityProblem('email_in_use')

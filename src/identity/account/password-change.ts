import { recordAudit } from '#audit/audit.ts'
import { passwordChangedEmail } from '#mail/account-emails.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { refuseWeak } from '../passwords/password-rules.ts'
import { identityProblem } from '../problems.ts'
import { type RevocationDeps, revokeSessions } from '../sessions/revocation.ts'
import {
  type ConfirmDeps,
  confirmOwner,
  lockConfirmed,
  type Requester,
} from '../sign-in/step-up.ts'
import { type User, updateUser } from '../users.ts'

export type PasswordChange = {
  current_password: string
  new_password: string
  code?: string | null | undefined
}

const WRONG = 'current_password_wrong'

/** Ends every other session. @throws Problem 400 for password or code, 422 for a weak password */
export async function changePassword(
  deps: ConfirmDeps & RevocationDeps & Pick<Platform, 'jobs' | 'log'>,
  user: User,
  { current_password, new_password, code }: PasswordChange,
  requester: Requester,
): Promise<void> {
  if (user.password_hash === null) throw identityProblem('password_not_set')
  const proof = { password: current_password, code }
  await confirmOwner(deps, user, proof, requester, WRONG)
  await refuseWeak(deps, 'new_password', new_password, user.email)
  const password_hash = await deps.hasher.hash(new_password)

  await transaction(deps.db, async (tx) => {
    const now = deps.clock.now()
    // Of two changes at once the second shows a password that is no longer right.
    await lockConfirmed(deps, tx, user, proof, requester, WRONG)
    await updateUser(tx, user.id, { password_hash }, now)
    await revokeSessions(deps, tx, user.id, requester.sessionId)
    await sendMail(deps, tx, passwordChangedEmail(deps.config, { to: user, at: now }))
    await recordAudit(tx, { actorId: user.id, action: 'password.changed', at: now })
  })
}

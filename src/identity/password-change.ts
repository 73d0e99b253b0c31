import { passwordChangedLetter } from '#mail/account-letters.ts'
import { sendMail } from '#mail/mail.ts'
import { transaction } from '#platform/db/db.ts'
import { Problem } from '#platform/problem.ts'
import { recordAudit } from './audit.ts'
import type { IdentityDeps } from './deps.ts'
import { confirmPassword } from './own-password.ts'
import { refuseWeak } from './password-rules.ts'
import { endEverySession } from './session-ends.ts'
import type { User } from './users.ts'

export type PasswordChange = { current_password: string; new_password: string }

/** Ends every session but the one that asks. @throws Problem 400, 422 for a weak password. */
export async function changePassword(
  deps: IdentityDeps,
  user: User,
  { current_password, new_password }: PasswordChange,
  { sessionId, address }: { sessionId: string | null; address: string },
): Promise<void> {
  if (user.password_hash === null) throw new Problem('password_none', 400, 'No password set for this account')
  await confirmPassword(deps, user, current_password, { message: 'Incorrect current password', address })
  refuseWeak('new_password', new_password, user.email)
  const password_hash = await deps.hasher.hash(new_password)

  await transaction(deps.db, async (tx) => {
    const now = deps.clock.now()
    const changed = await tx
      .updateTable('users')
      .set({ password_hash, updated_at: now })
      .where('id', '=', user.id)
      // Of two changes at once the second shows a password that is no longer right.
      .where('password_hash', '=', user.password_hash)
      .returning('id')
      .executeTakeFirst()
    if (!changed) throw new Problem('password_wrong', 400, 'Incorrect current password')
    await endEverySession(deps, tx, user.id, sessionId)
    await sendMail(deps, tx, passwordChangedLetter(deps.config, { to: user.email, at: now }))
    await recordAudit(tx, { actorId: user.id, action: 'password.changed', at: now })
  })
}

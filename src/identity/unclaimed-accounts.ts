/**
 * Accounts that a guest's payment created for the address of the payer. Nobody has proven that
 * address, so the account has no sign-in method. It stays unclaimed until someone proves the
 * address: by a mailed link or code, a password reset, or a provider.
 */
import { recordAudit } from '#audit/audit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { hasOtherSignInMethod } from './sign-in-methods.ts'
import { announceUserChange } from './user-changes.ts'
import { type User, updateUser } from './users.ts'

/**
 * Returns true for an account without any sign-in method and with an unproven address. Such an
 * account has no holder who could have prepared it for its later owner.
 */
export async function isUnclaimed(db: Db, user: User): Promise<boolean> {
  const isOpened = user.is_verified || user.password_hash !== null || user.is_totp_on
  return !isOpened && !(await hasOtherSignInMethod(db, user.id))
}

/** Marks the address of an unclaimed account as proven. Its reader is its only possible owner. */
export async function claimAccount(
  { clock }: Pick<Platform, 'clock'>,
  tx: Db,
  userId: string,
): Promise<User> {
  const now = clock.now()
  const user = await updateUser(tx, userId, { is_verified: true, verified_apart_at: null }, now)
  if (!user) throw new Error('a locked account was deleted')
  announceUserChange(tx, userId)
  await recordAudit(tx, {
    actorId: userId,
    action: 'email.verified',
    data: { by: 'claim' },
    at: now,
  })
  return user
}

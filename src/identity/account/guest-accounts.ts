/**
 * Accounts that a guest's payment creates for the address of the payer. Nobody has proven that
 * address, so the account has no sign-in method. It stays unclaimed until someone proves the
 * address: by a mailed link or code, a password reset, or a provider.
 */
import Format from 'typebox/format'
import { recordAudit } from '#audit/audit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { hasOtherSignInMethod } from '../sign-in-methods.ts'
import { announceUserChange } from '../user-changes.ts'
import { findUser, findUserByEmail, insertUser, lockUser, type User, updateUser } from '../users.ts'
import { isAllowed } from './sign-up-rules.ts'

/**
 * Returns true for an account without any sign-in method and with an unproven address. Such an
 * account has no holder who could have prepared it for its later owner.
 */
export async function isUnclaimed(db: Db, user: User): Promise<boolean> {
  const isOpened = user.is_verified || user.password_hash !== null || user.is_totp_on
  return !isOpened && !(await hasOtherSignInMethod(db, user.id))
}

/**
 * Returns the account of a payer's address, or creates it. Null for an address that may not have an
 * account. The account stays locked until the transaction ends. Call `recordGuest` for a new one.
 * @throws a unique violation when another transaction creates the account at the same time
 */
export async function findOrCreateGuest(
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  tx: Db,
  email: string,
): Promise<{ user: User | null; isNew: boolean }> {
  // In lower case, the Kelvin sign is the k of another person's address.
  if (!Format.Test('email', email)) return { user: null, isNew: false }
  const known = await findUserByEmail(tx, email)
  if (known) {
    await lockUser(tx, known.id)
    return { user: await findUser(tx, known.id), isNew: false }
  }
  if (config.signUp.invitedOnly || !isAllowed(config.signUp, email))
    return { user: null, isNew: false }
  const guest = { email, full_name: null, password_hash: null }
  return { user: await insertUser(tx, guest, clock.now()), isNew: true }
}

/** Records the creation of a guest's account. Call it late in the transaction, like `recordAudit`. */
export async function recordGuest(
  { clock, business }: Pick<Platform, 'clock' | 'business'>,
  tx: Db,
  userId: string,
): Promise<void> {
  business.signedUp(tx, 'purchase')
  await recordAudit(tx, {
    actorId: null,
    action: 'registered',
    subject: `user:${userId}`,
    data: { by: 'purchase' },
    at: clock.now(),
  })
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

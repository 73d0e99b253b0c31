/** Creates accounts for guests, who pay without one; see `unclaimed-accounts.ts`. */
import Format from 'typebox/format'
import { recordAudit } from '#audit/audit.ts'
import type { Db } from '#platform/db/db.ts'
import type { Locale } from '#platform/locale.ts'
import type { Platform } from '#platform/platform.ts'
import { findUser, findUserByEmail, insertUser, lockUser, type User } from '../users.ts'
import { isAllowed } from './sign-up-rules.ts'

/**
 * Returns the account of a payer's address, or creates it. Null for an address that may not have an
 * account. The account stays locked until the transaction ends. Call `recordGuest` for a new one.
 * @throws a unique violation when another transaction creates the account at the same time
 */
export async function findOrCreateGuest(
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  tx: Db,
  { email, locale }: { email: string; locale: Locale | null },
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
  const guest = { email, full_name: null, password_hash: null, locale }
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

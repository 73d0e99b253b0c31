/**
 * Reads the callers of background work again, because queued work must not outlive a plan, a key or
 * an account.
 */
import './tables.ts'
import { findUser, readSlices } from '#identity/users.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { getBudget, getRate } from './keys.ts'

/** Returns null when the account is deleted, or the key is revoked or expired. */
export async function callerNow(
  { db, clock }: Pick<Platform, 'db' | 'clock'>,
  { userId, keyId }: Pick<Caller, 'userId' | 'keyId'>,
): Promise<Caller | null> {
  const user = await findUser(db, userId)
  if (user === null) return null
  const caller = {
    userId,
    email: user.email,
    sessionId: null,
    tier: user.subscription_tier,
    slices: readSlices(user),
    isActive: user.is_active,
    isVerified: user.is_verified,
    isSuperuser: false,
  }
  if (keyId === null) return { ...caller, keyId, scopes: null }
  const key = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', keyId)
    .executeTakeFirst()
  if (!key?.is_active || (key.expires_at !== null && key.expires_at <= clock.now())) return null
  return {
    ...caller,
    keyId,
    scopes: key.scopes_json,
    models: key.models_json,
    rate: getRate(key),
    budget: getBudget(key),
  }
}

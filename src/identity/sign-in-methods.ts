// The sign-in methods of an account: a password, linked providers and passkeys. An account always
// has at least one.
import { recordAudit } from '#audit/audit.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { releaseNames } from '#platform/lookups.ts'
import { identityProblem } from './problems.ts'
import type { OAuthProvider } from './tables.ts'

const EVER: Instant = '1970-01-01T00:00:00.000Z'

/**
 * Throws when the account has no sign-in method left, which rolls the transaction back. Call it
 * after a removal. Locks the user's row, so that two simultaneous removals cannot remove the last
 * two methods. @throws Problem 400.
 */
export async function requireSignInMethod(tx: Db, userId: string): Promise<void> {
  const user = await forUpdate(
    tx,
    tx.selectFrom('users').select('password_hash').where('id', '=', userId),
  ).executeTakeFirst()
  if (user?.password_hash) return
  if (!(await hasOtherSignInMethod(tx, userId))) throw identityProblem('last_sign_in_method')
}

/** Returns true when the account has a linked provider or a passkey. */
export async function hasOtherSignInMethod(db: Db, userId: string): Promise<boolean> {
  const link = await db
    .selectFrom('oauth_links')
    .select('provider')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const passkey = await db
    .selectFrom('passkeys')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return link !== undefined || passkey !== undefined
}

/** Returns the name of a provider identity in the lookup table. */
export const personName = (provider: OAuthProvider, subject: string) => `${provider}:${subject}`

export type RemovedSignInMethods = { passkeys: string[]; providers: OAuthProvider[] }

export const NO_SIGN_IN_METHODS: RemovedSignInMethods = { passkeys: [], providers: [] }

/**
 * Removes the passkeys and linked providers that were added after `since`; by default all. The
 * password stays.
 */
export async function removeSignInMethods(
  tx: Db,
  userId: string,
  since: Instant = EVER,
): Promise<RemovedSignInMethods> {
  const passkeys = await tx
    .deleteFrom('passkeys')
    .where('user_id', '=', userId)
    .where('created_at', '>', since)
    .returning(['name', 'credential_id'])
    .execute()
  await releaseNames(
    tx,
    'passkey',
    passkeys.map(({ credential_id }) => credential_id),
  )
  const providers = await tx
    .deleteFrom('oauth_links')
    .where('user_id', '=', userId)
    .where('linked_at', '>', since)
    .returning(['provider', 'subject'])
    .execute()
  await releaseNames(
    tx,
    'oauth',
    providers.map(({ provider, subject }) => personName(provider, subject)),
  )
  return {
    passkeys: passkeys.map(({ name }) => name),
    providers: providers.map(({ provider }) => provider),
  }
}

/**
 * Records the API keys that another change revoked, if any. Call it last in the transaction, like
 * `recordAudit`.
 */
export async function recordRevokedKeys(
  tx: Db,
  userId: string,
  keys: { id: string }[],
  by: string,
  at: Instant,
): Promise<void> {
  if (keys.length === 0) return
  const data = { by, keys: keys.map(({ id }) => id) }
  await recordAudit(tx, { actorId: userId, action: 'api-keys.revoked', data, at })
}

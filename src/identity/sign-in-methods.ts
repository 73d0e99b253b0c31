// The sign-in methods of an account: a password, linked providers, passkeys. One of them always
// stays.
import { recordAudit } from '#audit/audit.ts'
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { releaseNames } from '#platform/lookups.ts'
import { identityProblem } from './problems.ts'
import type { OAuthProvider } from './tables.ts'

const EVER: Instant = '1970-01-01T00:00:00.000Z'

/**
 * Call it after something was removed: rolls the removal back when nothing is left to sign in with.
 * The user's row is locked, so that two removals at once cannot each count on the other's.
 * @throws Problem 400.
 */
export async function requireSignInMethod(tx: Db, userId: string): Promise<void> {
  const user = await forUpdate(
    tx,
    tx.selectFrom('users').select('password_hash').where('id', '=', userId),
  ).executeTakeFirst()
  if (user?.password_hash) return
  const link = await tx
    .selectFrom('oauth_links')
    .select('provider')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  const passkey = await tx
    .selectFrom('passkeys')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (!link && !passkey) throw identityProblem('last_sign_in_method')
}

/** A provider's person, as the lookup table has them. */
export const personName = (provider: OAuthProvider, subject: string) => `${provider}:${subject}`

export type RemovedSignInMethods = { passkeys: string[]; providers: OAuthProvider[] }

export const NO_SIGN_IN_METHODS: RemovedSignInMethods = { passkeys: [], providers: [] }

/**
 * Removes passkeys and linked providers, all of them or those added after a moment. The password
 * stays.
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
 * Notes which API keys fell with something else; nothing where none did. Call it last, as
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

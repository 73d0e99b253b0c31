import { recordAudit } from '#audit/audit.ts'
import { type Instant, MINUTE_MS } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { unauthenticated } from '#platform/problems.ts'
import type { IdentityDeps } from './deps.ts'
import { identityProblem } from './problems.ts'
import type { OAuthProvider } from './tables.ts'

const FRESH_MS = 10 * MINUTE_MS
const EVER: Instant = '1970-01-01T00:00:00.000Z'

/**
 * What a session left open is not enough for asks for a sign-in of the last ten minutes: changes of sign-in
 * methods and second factors, the whole export, a superuser's changes to users.
 * @throws Problem 403 `Fresh sign-in required`, 401 when the session was ended since the request came in.
 */
export async function requireFreshSignIn(
  { db, clock }: Pick<IdentityDeps, 'db' | 'clock'>,
  userId: string,
  sessionId: string | null,
): Promise<void> {
  const session = await db
    .selectFrom('sessions')
    .select('authenticated_at')
    .where('user_id', '=', userId)
    .where('id', '=', sessionId ?? '')
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', clock.now())
    .executeTakeFirst()
  if (!session) throw unauthenticated()
  if (clock.ms() - Date.parse(session.authenticated_at) > FRESH_MS) {
    throw identityProblem('fresh_sign_in_required')
  }
}

/**
 * Call it after something was removed: rolls the removal back when nothing is left to sign in with. The user's row is
 * locked, so that two removals at once cannot each count on the other's.
 * @throws Problem 400.
 */
export async function requireSignInMethod(tx: Db, userId: string): Promise<void> {
  const user = await forUpdate(
    tx,
    tx.selectFrom('users').select('password_hash').where('id', '=', userId),
  ).executeTakeFirst()
  if (user?.password_hash) return
  const link = await tx.selectFrom('oauth_links').select('provider').where('user_id', '=', userId).executeTakeFirst()
  const passkey = await tx.selectFrom('passkeys').select('id').where('user_id', '=', userId).executeTakeFirst()
  if (!link && !passkey) throw identityProblem('last_sign_in_method')
}

/** Whoever counts or removes what a user has, and decides by it, takes this lock first. */
export async function lockUser(tx: Db, userId: string): Promise<void> {
  await forUpdate(tx, tx.selectFrom('users').select('id').where('id', '=', userId)).executeTakeFirst()
}

/** Notes which API keys fell with something else; nothing where none did. Call it last, as `recordAudit`. */
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

/** Takes away passkeys and linked providers, all of them or those that came after a moment. The password stays. */
export async function removeSignInMethods(
  tx: Db,
  userId: string,
  since: Instant = EVER,
): Promise<RemovedSignInMethods> {
  const passkeys = await tx
    .deleteFrom('passkeys')
    .where('user_id', '=', userId)
    .where('created_at', '>', since)
    .returning('name')
    .execute()
  const providers = await tx
    .deleteFrom('oauth_links')
    .where('user_id', '=', userId)
    .where('linked_at', '>', since)
    .returning('provider')
    .execute()
  return { passkeys: passkeys.map(({ name }) => name), providers: providers.map(({ provider }) => provider) }
}

export type RemovedSignInMethods = { passkeys: string[]; providers: OAuthProvider[] }

export const NO_SIGN_IN_METHODS: RemovedSignInMethods = { passkeys: [], providers: [] }

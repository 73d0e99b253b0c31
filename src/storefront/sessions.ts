/**
 * The storefront's own sessions: an opaque cookie, stored as a keyed hash. They end with the account's: a changed password, a
 * deactivated or deleted user.
 */
import { randomBytes } from 'node:crypto'
import { recordAudit } from '#identity/audit.ts'
import type { Credentials } from '#identity/credentials.ts'
import { findUser, type User } from '#identity/users.ts'
import { type Clock, DAY_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Caller } from '#platform/http/gate.ts'
import { Problem } from '#platform/problem.ts'
import type { Secrets } from '#platform/secrets.ts'
import * as store from './session-store.ts'

export const SESSION_MS = 30 * DAY_MS
const TOKEN_SHAPE = /^[\w-]{43}$/

export type SessionDeps = {
  db: Db
  clock: Clock
  secrets: Secrets
  /** The account's own rule: limits, password, activity, second factor. Throws the problems of the API's login. */
  checkCredentials(credentials: Credentials): Promise<User>
}

/** Signs in with the account's email, password and code, and returns the cookie's value. */
export async function openStoreSession(
  { db, clock, secrets, checkCredentials }: SessionDeps,
  credentials: Credentials,
): Promise<{ user: User; token: string }> {
  const user = await checkCredentials(credentials)
  const token = randomBytes(32).toString('base64url')
  const now = clock.now()
  await transaction(db, async (tx) => {
    // Whoever changed the password while we looked at the old one meant to keep the old one out.
    const current = await findUser(tx, user.id)
    if (!current?.is_active || current.password_hash !== user.password_hash) {
      throw new Problem('credentials_wrong', 401, 'Incorrect email or password')
    }
    await store.removeExpired(tx, user.id, now)
    await store.insert(tx, {
      user_id: user.id,
      token_hash: secrets.hash('store-session', token),
      created_at: now,
      expires_at: plus(now, SESSION_MS),
    })
    const data = { method: 'password', address: credentials.address }
    await recordAudit(tx, { actorId: user.id, action: 'sign-in', subject: 'storefront', data, at: now })
  })
  return { user, token }
}

/** The holder of a cookie; null when it is unknown, expired, or its user is gone or deactivated (then the session ends). */
export async function findStoreCaller(
  { db, clock, secrets }: Omit<SessionDeps, 'checkCredentials'>,
  token: string | undefined,
): Promise<Caller | null> {
  if (!token || !TOKEN_SHAPE.test(token)) return null
  const hash = secrets.hash('store-session', token)
  const session = await store.find(db, hash, clock.now())
  if (!session) return null
  const user = await findUser(db, session.user_id)
  if (!user?.is_active) {
    await store.remove(db, hash)
    return null
  }
  return {
    userId: user.id,
    email: user.email,
    sessionId: null,
    keyId: null,
    tier: user.subscription_tier,
    isActive: true,
    isVerified: user.is_verified,
    isSuperuser: user.is_superuser,
    scopes: null,
  }
}

export async function closeStoreSession(
  { db, secrets }: Pick<SessionDeps, 'db' | 'secrets'>,
  token: string | undefined,
) {
  if (token) await store.remove(db, secrets.hash('store-session', token))
}

/**
 * The storefront's own sessions: an opaque cookie, stored as a keyed hash. They appear in the
 * account's list of sessions and end like the account's sessions: one by one, all at once, after a
 * change of password or address, and when the user is deactivated or deleted.
 */
import { randomUUID } from 'node:crypto'
import { Type } from 'typebox'
import { isSessionLive, type SessionRef, USER_AGENT_MAX } from '#identity/sessions/sessions.ts'
import type { Credentials } from '#identity/sign-in/credentials.ts'
import type { DeviceCookie, DeviceOrigin } from '#identity/sign-in/device-cookie.ts'
import { Proof } from '#identity/sign-in/proof-of-work.ts'
import { completeSignIn } from '#identity/sign-in/sign-in.ts'
import { findUser, readSlices, type User } from '#identity/users.ts'
import { DAY_MS, type Instant, MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Locale } from '#platform/locale.ts'
import { ownedToken, readOwner } from '#platform/owned-token.ts'
import type { Platform } from '#platform/platform.ts'
import { unauthenticated } from '#platform/problems.ts'
import '../tables.ts'

export const SESSION_COOKIE = 'store_session'
export const SESSION_MS = 30 * DAY_MS
/** `last_used_at` is updated at most this often. */
const TOUCH_MS = MINUTE_MS

export const LoginForm = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1000 }),
  code: Type.Optional(Type.String({ maxLength: 100 })),
  proof: Type.Optional(Proof),
  redirect: Type.Optional(Type.String({ maxLength: 2000 })),
})

/** The dependencies for resolving a cookie. */
export type CookieDeps = Pick<Platform, 'db' | 'clock' | 'secrets'>

export type SessionDeps = CookieDeps &
  Pick<Platform, 'config' | 'jobs'> & {
    /**
     * Checks limits, password, activity and second factor like the account's sign-in. @throws the
     * problems of the API's login
     */
    checkCredentials(credentials: Credentials): Promise<User>
    deviceCookie: DeviceCookie
  }

/** Signs in with the account's email, password and code, and returns the cookie's value. */
export async function openStoreSession(
  deps: Omit<SessionDeps, 'deviceCookie'>,
  credentials: Omit<Credentials, 'origin' | 'place'>,
  origin: DeviceOrigin,
): Promise<{ user: User; token: string }> {
  const user = await deps.checkCredentials({ ...credentials, origin, place: 'storefront' })
  return { user, token: await openSession(deps, user, origin, 'password') }
}

/**
 * Opens a session for a user who has just signed in.
 * @param madeIn The account's session that they used. Its end also ends sessions that it opened.
 * @returns The cookie's value. @throws Problem 401 when `madeIn` has ended
 */
export async function openSession(
  deps: Omit<SessionDeps, 'deviceCookie' | 'checkCredentials'>,
  user: User,
  origin: DeviceOrigin,
  method: 'password' | 'account' | 'claim' | 'code',
  madeIn: SessionRef | null = null,
): Promise<string> {
  const { db, clock, secrets } = deps
  const token = ownedToken(user.id)
  await transaction(db, (tx) =>
    completeSignIn(deps, tx, user, { origin, method, place: 'storefront' }, async () => {
      if (madeIn !== null && !(await isSessionLive(deps, tx, madeIn))) throw unauthenticated()
      const now = clock.now()
      const sessionId = randomUUID()
      await tx
        .deleteFrom('store_sessions')
        .where('user_id', '=', user.id)
        .where('expires_at', '<=', now)
        .execute()
      await tx
        .insertInto('store_sessions')
        .values({
          user_id: user.id,
          id: sessionId,
          token_hash: secrets.hash('store-session', token),
          user_agent: origin.userAgent?.slice(0, USER_AGENT_MAX) ?? null,
          ip_address: origin.address,
          created_at: now,
          last_used_at: now,
          expires_at: plus(now, SESSION_MS),
        })
        .execute()
      return { sessionId }
    }),
  )
  return token
}

/** A user who is signed in at the shop, and their language. */
export type StoreCaller = Caller & { locale: Locale | null }

/**
 * Returns the caller of a cookie; null when it is unknown or expired, or when its user is deleted
 * or deactivated (then the session ends).
 */
export async function findStoreCaller(
  { db, clock, secrets }: CookieDeps,
  token: string | undefined,
): Promise<StoreCaller | null> {
  const owner = token === undefined ? null : readOwner(token)
  if (token === undefined || owner === null) return null
  const hash = secrets.hash('store-session', token)
  const session = await db
    .selectFrom('store_sessions')
    .selectAll()
    .where('user_id', '=', owner)
    .where('token_hash', '=', hash)
    .where('expires_at', '>', clock.now())
    .executeTakeFirst()
  if (!session) return null
  const user = await findUser(db, session.user_id)
  if (!user?.is_active) {
    await removeByHash(db, owner, hash)
    return null
  }
  // A failed update of `last_used_at` must not break the page.
  if (clock.ms() - Date.parse(session.last_used_at) >= TOUCH_MS) {
    await touch(db, session, clock.now()).catch(() => undefined)
  }
  return {
    userId: user.id,
    email: user.email,
    sessionId: session.id,
    keyId: null,
    tier: user.subscription_tier,
    slices: readSlices(user),
    isActive: true,
    locale: user.locale,
    isVerified: user.is_verified,
    isSuperuser: user.is_superuser,
    scopes: null,
  }
}

/** Updates `last_used_at`, never to an earlier time. */
async function touch(
  db: Db,
  { user_id, id }: { user_id: string; id: string },
  now: Instant,
): Promise<void> {
  await db
    .updateTable('store_sessions')
    .set({ last_used_at: now })
    .where('user_id', '=', user_id)
    .where('id', '=', id)
    .where('last_used_at', '<', now)
    .execute()
}

export async function closeStoreSession(
  { db, secrets }: Omit<CookieDeps, 'clock'>,
  token: string | undefined,
) {
  const owner = token === undefined ? null : readOwner(token)
  if (token !== undefined && owner !== null)
    await removeByHash(db, owner, secrets.hash('store-session', token))
}

async function removeByHash(db: Db, userId: string, tokenHash: string): Promise<void> {
  await db
    .deleteFrom('store_sessions')
    .where('user_id', '=', userId)
    .where('token_hash', '=', tokenHash)
    .execute()
}

export function listLiveSessions(db: Db, userId: string, now: Instant) {
  return db
    .selectFrom('store_sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .execute()
}

/** Lists the user's sessions, newest first, including expired ones. */
export function listSessions(db: Db, userId: string) {
  return db
    .selectFrom('store_sessions')
    .select(['id', 'user_agent', 'ip_address', 'created_at', 'last_used_at', 'expires_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .execute()
}

/** Removes a session. Returns false when the user has no such session. */
export async function removeSession(tx: Db, userId: string, id: string): Promise<boolean> {
  const removed = await tx
    .deleteFrom('store_sessions')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
  return removed !== undefined
}

export async function removeSessions(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('store_sessions').where('user_id', '=', userId).execute()
}

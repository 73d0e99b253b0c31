/**
 * The storefront's own sessions: an opaque cookie, stored as a keyed hash. They stand in the account's list of sessions and end
 * with the account's: one by one, all others at once, with a changed password or address, a deactivated or deleted user.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { Origin } from '#identity/origin.ts'
import { USER_AGENT_MAX } from '#identity/sessions/sessions.ts'
import type { Credentials } from '#identity/sign-in/credentials.ts'
import { completeSignIn } from '#identity/sign-in/sign-in.ts'
import { findUser, type User } from '#identity/users.ts'
import { type Clock, DAY_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Jobs } from '#platform/jobs/jobs.ts'
import type { Secrets } from '#platform/secrets.ts'
import type { Config } from '#src/config.ts'
import * as store from './store.ts'

export const SESSION_MS = 30 * DAY_MS
/** `last_used_at` moves forward at most this often. */
const TOUCH_MS = MINUTE_MS
const TOKEN_SHAPE = /^[\w-]{43}$/

export type SessionDeps = {
  config: Config
  db: Db
  clock: Clock
  jobs: Jobs
  secrets: Secrets
  /** The account's own rule: limits, password, activity, second factor. Throws the problems of the API's login. */
  checkCredentials(credentials: Credentials): Promise<User>
}

/** Signs in with the account's email, password and code, and returns the cookie's value. */
export async function openStoreSession(
  deps: SessionDeps,
  credentials: Omit<Credentials, 'address'>,
  origin: Origin & { address: string },
): Promise<{ user: User; token: string }> {
  const { db, clock, secrets, checkCredentials } = deps
  const user = await checkCredentials({ ...credentials, address: origin.address })
  const token = randomBytes(32).toString('base64url')
  await transaction(db, (tx) =>
    completeSignIn(deps, tx, user, { origin, method: 'password', place: 'storefront' }, async () => {
      const now = clock.now()
      const sessionId = randomUUID()
      await store.removeExpired(tx, user.id, now)
      await store.insert(tx, {
        user_id: user.id,
        id: sessionId,
        token_hash: secrets.hash('store-session', token),
        user_agent: origin.userAgent?.slice(0, USER_AGENT_MAX) ?? null,
        ip_address: origin.address,
        created_at: now,
        last_used_at: now,
        expires_at: plus(now, SESSION_MS),
      })
      return { sessionId }
    }),
  )
  return { user, token }
}

/** The holder of a cookie; null when it is unknown, expired, or its user is gone or deactivated (then the session ends). */
export async function findStoreCaller(
  { db, clock, secrets }: Pick<SessionDeps, 'db' | 'clock' | 'secrets'>,
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
  // A page is shown whether or not the look at it can be noted.
  if (clock.ms() - Date.parse(session.last_used_at) >= TOUCH_MS) {
    await store.touch(db, session, clock.now()).catch(() => undefined)
  }
  return {
    userId: user.id,
    email: user.email,
    sessionId: session.id,
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

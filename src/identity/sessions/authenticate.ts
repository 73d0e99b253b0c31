// Authenticates access tokens and tokens of views: checks the signature and the session. A verified token is cached
// until it expires, the state of a session for half a second. A change takes effect at once if this
// node made it or the bus announced it; otherwise within half a second.
import { LRUCache } from 'lru-cache'
import { prepared } from '#platform/db/prepared.ts'
import type { Caller, MaybePromise } from '#platform/http/access-control.ts'
import type { Platform } from '#platform/platform.ts'
import { onUserChange, USER_CHANGED } from '../user-changes.ts'
import { findUser, readSlices, type User } from '../users.ts'
import { type AccessClaims, readAccess, type TokenDeps, type ViewClaims } from './tokens.ts'

export type Authenticator = {
  /** Returns null when the token is invalid. `fresh`: ignores the cached session. */
  authenticate(
    token: string,
    options?: { fresh?: boolean | undefined },
  ): MaybePromise<Caller | null>
  close(): Promise<void>
}

type AuthenticatorDeps = TokenDeps & Pick<Platform, 'db' | 'bus' | 'log'>

const TOKENS_MAX = 20_000
const SESSIONS_MAX = 20_000
/** A revocation must take effect within one second; half of that is left for the query. */
const STATE_AGE_MS = 500
const TOUCH_MS = 60_000
const FLUSH_MS = 5_000

type SessionState = { caller: Caller | null; expiresMs: number; readMs: number }

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const { bus, clock } = deps
  const tokens = new LRUCache<string, AccessClaims>({ max: TOKENS_MAX })
  const states = new LRUCache<string, SessionState>({ max: SESSIONS_MAX })
  const reading = new Map<string, Promise<SessionState>>()
  const touches = createTouches(deps)

  const forget = (userId: string) => {
    for (const [id, { caller }] of [...states])
      if (caller?.userId === userId || caller?.viewerId === userId) states.delete(id)
    // A running read may predate the change; its result is used once and not cached.
    reading.clear()
  }
  const stopListening = onUserChange((userId) => bus.publish(USER_CHANGED, { userId }))
  bus.on(USER_CHANGED, (payload) => forget((payload as { userId: string }).userId))
  bus.onGap(() => {
    states.clear()
    reading.clear()
  })

  return {
    authenticate(token, { fresh = false } = {}) {
      const claims = tokens.get(token)
      if (fresh && claims) {
        states.delete(readStateId(claims))
        reading.delete(readStateId(claims))
      }
      const state = claims && recentState(claims)
      return state ? callerOfState(claims, state) : look(token)
    },
    async close() {
      stopListening()
      await touches.close()
    },
  }

  async function look(token: string): Promise<Caller | null> {
    const claims = tokens.get(token) ?? (await verify(token))
    if (!claims || claims.expiresMs <= clock.ms()) return null
    return callerOfState(claims, await readState(claims))
  }

  function callerOfState(claims: AccessClaims, state: SessionState): Caller | null {
    const now = clock.ms()
    if (!state.caller || claims.expiresMs <= now || state.expiresMs <= now) return null
    if (claims.view === null) touches.note(claims, now)
    return state.caller
  }

  async function verify(token: string): Promise<AccessClaims | null> {
    const claims = await readAccess(deps, token)
    if (claims) tokens.set(token, claims)
    return claims
  }

  function recentState(claims: AccessClaims): SessionState | null {
    const known = states.get(readStateId(claims))
    return known?.caller?.userId === claims.userId &&
      Math.abs(clock.ms() - known.readMs) < STATE_AGE_MS
      ? known
      : null
  }

  function readState(claims: AccessClaims): MaybePromise<SessionState> {
    const known = recentState(claims)
    if (known) return known
    const id = readStateId(claims)
    const running = reading.get(id)
    if (running) return running

    const read = (
      claims.view === null ? readSessionState(deps, claims) : readViewState(deps, claims)
    ).then((state) => {
      if (reading.get(id) === read) {
        reading.delete(id)
        if (state.caller) states.set(id, state)
      }
      return state
    })
    read.catch(() => reading.delete(id))
    reading.set(id, read)
    return read
  }
}

const readStateId = ({ sessionId, view }: AccessClaims) => view?.id ?? sessionId ?? ''

const findSession = prepared(
  (db) =>
    db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select([
        'sessions.expires_at',
        'sessions.revoked_at',
        'sessions.view_id',
        'sessions.viewed_user_id',
        'users.email',
        'users.subscription_tier',
        'users.tier_override',
        'users.slices_json',
        'users.is_active',
        'users.is_verified',
        'users.is_superuser',
        'users.is_totp_on',
      ])
      .where('sessions.user_id', '=', '')
      .where('sessions.id', '=', ''),
  2,
)

type StateDeps = Pick<Platform, 'db' | 'clock' | 'config'>

async function readSessionState(
  { db, clock, config }: StateDeps,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<SessionState> {
  const readMs = clock.ms()
  const row = await findSession(db, userId, sessionId)
  if (!row || row.revoked_at !== null) return { caller: null, expiresMs: 0, readMs }
  const caller: Caller = {
    ...buildCaller(userId, row),
    sessionId,
    lacksTwoFactor: config.requireSuperuserTwoFactor && row.is_superuser && !row.is_totp_on,
  }
  return { caller, expiresMs: Date.parse(row.expires_at), readMs }
}

/**
 * Reads the session that the view belongs to, and the viewed user. The view is over when the viewer
 * loses the session, the rights or the second factor, or when the user becomes a superuser.
 */
async function readViewState(
  { db, clock, config }: StateDeps,
  { userId, view }: { userId: string; view: ViewClaims },
): Promise<SessionState> {
  const readMs = clock.ms()
  const [viewer, user] = await Promise.all([
    findSession(db, view.viewerId, view.sessionId),
    findUser(db, userId),
  ])
  const isOpen =
    viewer?.revoked_at === null &&
    viewer.view_id === view.id &&
    viewer.viewed_user_id === userId &&
    viewer.is_active &&
    viewer.is_superuser &&
    (viewer.is_totp_on || !config.requireSuperuserTwoFactor)
  if (!isOpen || !user || user.is_superuser) return { caller: null, expiresMs: 0, readMs }
  const caller: Caller = {
    ...buildCaller(userId, user),
    sessionId: null,
    viewerId: view.viewerId,
  }
  return { caller, expiresMs: Date.parse(viewer.expires_at), readMs }
}

type CallerRow = Pick<
  User,
  | 'email'
  | 'subscription_tier'
  | 'tier_override'
  | 'slices_json'
  | 'is_active'
  | 'is_verified'
  | 'is_superuser'
>

function buildCaller(userId: string, row: CallerRow): Omit<Caller, 'sessionId'> {
  return {
    userId,
    keyId: null,
    email: row.email,
    tier: row.subscription_tier,
    slices: readSlices(row),
    isActive: row.is_active,
    isVerified: row.is_verified,
    isSuperuser: row.is_superuser,
    scopes: null,
  }
}

/** Updates `last_used_at` at most once a minute per session, outside of the request. */
function createTouches({ db, clock, log }: Pick<Platform, 'db' | 'clock' | 'log'>) {
  const notedAt = new LRUCache<string, number>({ max: SESSIONS_MAX })
  const pending = new Map<string, { userId: string; at: string }>()
  let timer: NodeJS.Timeout | null = null

  return {
    note({ userId, sessionId }: { userId: string; sessionId: string }, now: number) {
      if (now - (notedAt.get(sessionId) ?? Number.NEGATIVE_INFINITY) < TOUCH_MS) return
      notedAt.set(sessionId, now)
      pending.set(sessionId, { userId, at: clock.now() })
      timer ??= setTimeout(() => void flush(), FLUSH_MS).unref()
    },
    async close() {
      if (timer) clearTimeout(timer)
      await flush()
    },
  }

  async function flush() {
    timer = null
    const batch = [...pending]
    pending.clear()
    if (batch.length === 0) return
    try {
      for (const [sessionId, { userId, at }] of batch) {
        await db
          .updateTable('sessions')
          .set({ last_used_at: at })
          .where('user_id', '=', userId)
          .where('id', '=', sessionId)
          .where('last_used_at', '<', at)
          .execute()
      }
    } catch (error) {
      log.warn({ err: error }, 'the last use of sessions was not noted')
    }
  }
}

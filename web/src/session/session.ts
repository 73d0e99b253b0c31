/**
 * The session of this tab and its siblings.
 *  The access token stays in memory, so a stolen storage file does not contain it. The refresh
 * token is in localStorage, because reloads and new tabs must stay signed in. An injected script
 * could read it; against that, the page's policy allows no foreign or inline script, each refresh
 * token works once, and reuse ends the session.
 *  Two tabs must not renew with the same token. Renewal runs under a lock that all tabs share,
 * reads the token again inside it, and broadcasts the new access token.
 */
import type { TokenPair } from '../api/types.ts'
import { parseClaims } from './token.ts'

export type SessionMessage = { kind: 'renewed'; access: string } | { kind: 'ended' }

export type SessionDeps = {
  storage: { read(): string | null; write(token: string): void; clear(): void }
  /** Runs `work` in one tab at a time. */
  lock<T>(work: () => Promise<T>): Promise<T>
  /**
   * Exchanges a refresh token; 'refused' when it is invalid. Throws when the service does not
   * respond.
   */
  renew(refreshToken: string): Promise<TokenPair | 'refused'>
  broadcast(message: SessionMessage): void
  now(): number
}

export type Session = ReturnType<typeof createSession>

/** Access tokens are renewed this long before they expire, so that none expires in transit. */
const EXPIRY_MARGIN_MS = 60_000

export function createSession({ storage, lock, renew, broadcast, now }: SessionDeps) {
  let access: string | null = null
  let renewing: Promise<string | null> | null = null
  let userId = storedUserId()
  const listeners = new Set<() => void>()

  return {
    /** Whether this browser has a session. */
    isSignedIn: () => storage.read() !== null,

    /** Id of the signed-in user, or null. */
    userId: () => userId,

    /** Id of the session, or null. */
    id: () => parseClaims(storage.read())?.sid || null,

    /**
     * Returns an access token valid for at least a minute, or null when signed out. Throws when
     * renewal gets no response.
     */
    async token(): Promise<string | null> {
      if (isUsable(access, now())) return access
      return storage.read() === null ? null : renewToken(null)
    },

    /** Renews once after a 401, unless another tab already has a newer token. */
    async tokenAfterRefusal(refused: string): Promise<string | null> {
      return access !== refused && isUsable(access, now()) ? access : renewToken(refused)
    },

    begin(pair: TokenPair) {
      store(pair)
      notify()
    },

    /** Replaces the session after the same user signed in again; pages keep their state. */
    replace: store,

    end,

    /** Handles a message from another tab. */
    receive(message: SessionMessage) {
      access = message.kind === 'renewed' ? message.access : null
      if (access === null || parseClaims(access)?.sub !== userId) notify()
    },

    /** Handles a sign-in, sign-out or renewal in another tab. */
    storageChanged() {
      if (storedUserId() === userId) return
      access = null
      notify()
    },

    /** Calls back on sign-in and sign-out, not on renewals. */
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }

  /** Concurrent callers share one renewal. */
  function renewToken(refused: string | null): Promise<string | null> {
    renewing ??= lock(() => renewInLock(refused)).finally(() => {
      renewing = null
    })
    return renewing
  }

  async function renewInLock(refused: string | null): Promise<string | null> {
    // Another tab may have renewed while this one waited for the lock.
    if (access !== refused && isUsable(access, now())) return access

    const refreshToken = storage.read()
    if (refreshToken === null) return null

    const answer = await renew(refreshToken)
    const stored = storage.read()
    if (answer === 'refused') {
      // A sign-in during the request created a new session: do not end it.
      if (stored !== refreshToken) return renewSuccessor(refreshToken, refused)
      end()
      return null
    }

    // A sign-out or sign-in during the request wins. Without a shared lock, a sibling may have
    // stored the same successor: that is no change.
    if (stored !== refreshToken && stored !== answer.refresh_token)
      return renewSuccessor(refreshToken, refused)

    store(answer)
    return answer.access_token
  }

  /** Returns a token of the session that replaced this one, but never of another user. */
  async function renewSuccessor(
    refreshToken: string,
    refused: string | null,
  ): Promise<string | null> {
    return storedUserId() === parseClaims(refreshToken)?.sub ? renewInLock(refused) : null
  }

  function store(pair: TokenPair) {
    storage.write(pair.refresh_token)
    access = pair.access_token
    broadcast({ kind: 'renewed', access })
  }

  function end() {
    storage.clear()
    access = null
    broadcast({ kind: 'ended' })
    notify()
  }

  function storedUserId(): string | null {
    return parseClaims(storage.read())?.sub ?? null
  }

  function notify() {
    userId = storedUserId()
    for (const listener of listeners) listener()
  }
}

function isUsable(token: string | null, nowMs: number): boolean {
  const claims = parseClaims(token)
  return claims !== null && claims.exp * 1000 - nowMs > EXPIRY_MARGIN_MS
}

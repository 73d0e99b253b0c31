/**
 * Who is signed in, in this tab and its siblings.
 *
 * The access token lives in memory only: it dies with the tab, so a stolen storage file does not hold it. The refresh token
 * lives in localStorage, because a reload and a second tab must stay signed in and the service hands it out in a body,
 * not in a cookie. What that costs: a script injected into this origin could read it. What stands against it: the
 * page's policy allows no foreign and no inline script, every refresh token works once, and using an old one ends the session.
 *
 * One use also means that two tabs must never renew with the same token far apart: renewal happens under a lock that all
 * tabs share, re-reads the token inside it, and tells the other tabs the new access token.
 */
import type { TokenPair } from '../api/types.ts'
import { parseClaims } from './token.ts'

export type SessionMessage = { kind: 'renewed'; access: string } | { kind: 'ended' }

export type SessionDeps = {
  storage: { read(): string | null; write(token: string): void; clear(): void }
  /** Runs `work` while no other tab runs its own. */
  lock<T>(work: () => Promise<T>): Promise<T>
  /** Exchanges a refresh token; 'refused' when the service says it is not valid. Throws when there is no answer. */
  renew(refreshToken: string): Promise<TokenPair | 'refused'>
  broadcast(message: SessionMessage): void
  now(): number
}

export type Session = ReturnType<typeof createSession>

/** An access token with less left than this is renewed before it is used, so that a request never arrives with a dead one. */
const EXPIRY_MARGIN_MS = 60_000

export function createSession({ storage, lock, renew, broadcast, now }: SessionDeps) {
  let access: string | null = null
  let renewing: Promise<string | null> | null = null
  let userId = storedUserId()
  const listeners = new Set<() => void>()

  return {
    /** Signed in, as far as this browser knows. */
    isSignedIn: () => storage.read() !== null,

    /** The id of the signed-in user, or null. */
    userId: () => userId,

    /** The id of the session, or null when signed out. */
    id: () => parseClaims(storage.read())?.sid || null,

    /** An access token good for at least a minute, or null when signed out. Throws when renewal got no answer. */
    async token(): Promise<string | null> {
      if (isUsable(access, now())) return access
      return storage.read() === null ? null : renewToken(null)
    },

    /** After a 401: one renewal, unless another tab has brought a newer token than the refused one already. */
    async tokenAfterRefusal(refused: string): Promise<string | null> {
      return access !== refused && isUsable(access, now()) ? access : renewToken(refused)
    },

    begin(pair: TokenPair) {
      store(pair)
      notify()
    },

    /** The same person has signed in again: the new session takes the place of the old, and no page starts over. */
    replace: store,

    end,

    /** A message from another tab. */
    receive(message: SessionMessage) {
      access = message.kind === 'renewed' ? message.access : null
      if (access === null || parseClaims(access)?.sub !== userId) notify()
    },

    /** Storage changed under us: another tab signed in, out, or renewed. */
    storageChanged() {
      if (storedUserId() === userId) return
      access = null
      notify()
    },

    /** Calls back when somebody signs in or out; not on mere renewals. */
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }

  /** Many callers, one renewal. */
  function renewToken(refused: string | null): Promise<string | null> {
    renewing ??= lock(() => renewInLock(refused)).finally(() => {
      renewing = null
    })
    return renewing
  }

  async function renewInLock(refused: string | null): Promise<string | null> {
    // While we waited for the lock, the tab that held it may have told us its new token.
    if (access !== refused && isUsable(access, now())) return access

    const refreshToken = storage.read()
    if (refreshToken === null) return null

    const answer = await renew(refreshToken)
    const stored = storage.read()
    if (answer === 'refused') {
      // Somebody signed in while we asked: their session is not ours to end.
      if (stored !== refreshToken) return renewSuccessor(refreshToken, refused)
      end()
      return null
    }

    // Somebody signed out, or in anew, while we asked: they meant it. (Where tabs share no lock, a sibling may
    // have stored the very successor that we hold: that is no change.)
    if (stored !== refreshToken && stored !== answer.refresh_token)
      return renewSuccessor(refreshToken, refused)

    store(answer)
    return answer.access_token
  }

  /** Who asked for a token gets that of the session that took the place of theirs, but never another person's. */
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

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

/** Access tokens are renewed this long before they expire, so that none expires in transit. */
const EXPIRY_MARGIN_MS = 60_000

export class Session {
  readonly #deps: SessionDeps
  readonly #listeners = new Set<() => void>()
  #access: string | null = null
  #renewing: Promise<string | null> | null = null
  #userId: string | null

  constructor(deps: SessionDeps) {
    this.#deps = deps
    this.#userId = this.#storedUserId()
  }

  /** Whether this browser has a session. */
  isSignedIn() {
    return this.#deps.storage.read() !== null
  }

  /** Id of the signed-in user, or null. */
  userId() {
    return this.#userId
  }

  /** Id of the session, or null. */
  id() {
    return parseClaims(this.#deps.storage.read())?.sid || null
  }

  /**
   * Returns an access token valid for at least a minute, or null when signed out. Throws when
   * renewal gets no response.
   */
  async token(): Promise<string | null> {
    if (isUsable(this.#access, this.#deps.now())) return this.#access
    return this.#deps.storage.read() === null ? null : this.#renewToken(null)
  }

  /** Renews once after a 401, unless another tab already has a newer token. */
  async tokenAfterRefusal(refused: string): Promise<string | null> {
    return this.#access !== refused && isUsable(this.#access, this.#deps.now())
      ? this.#access
      : this.#renewToken(refused)
  }

  begin(pair: TokenPair) {
    this.#store(pair)
    this.#notify()
  }

  /** Replaces the session after the same user signed in again; pages keep their state. */
  replace(pair: TokenPair) {
    this.#store(pair)
  }

  end() {
    this.#deps.storage.clear()
    this.#access = null
    this.#deps.broadcast({ kind: 'ended' })
    this.#notify()
  }

  /** Handles a message from another tab. */
  receive(message: SessionMessage) {
    this.#access = message.kind === 'renewed' ? message.access : null
    if (this.#access === null || parseClaims(this.#access)?.sub !== this.#userId) this.#notify()
  }

  /** Handles a sign-in, sign-out or renewal in another tab. */
  storageChanged() {
    if (this.#storedUserId() === this.#userId) return
    this.#access = null
    this.#notify()
  }

  /** Calls back on sign-in and sign-out, not on renewals. */
  subscribe(listener: () => void) {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Concurrent callers share one renewal. */
  #renewToken(refused: string | null): Promise<string | null> {
    this.#renewing ??= this.#deps
      .lock(() => this.#renewInLock(refused))
      .finally(() => {
        this.#renewing = null
      })
    return this.#renewing
  }

  async #renewInLock(refused: string | null): Promise<string | null> {
    // Another tab may have renewed while this one waited for the lock.
    if (this.#access !== refused && isUsable(this.#access, this.#deps.now())) return this.#access

    const refreshToken = this.#deps.storage.read()
    if (refreshToken === null) return null

    const answer = await this.#deps.renew(refreshToken)
    const stored = this.#deps.storage.read()
    if (answer === 'refused') {
      // A sign-in during the request created a new session: do not end it.
      if (stored !== refreshToken) return this.#renewSuccessor(refreshToken, refused)
      this.end()
      return null
    }

    // A sign-out or sign-in during the request wins. Without a shared lock, a sibling may have
    // stored the same successor: that is no change.
    if (stored !== refreshToken && stored !== answer.refresh_token)
      return this.#renewSuccessor(refreshToken, refused)

    this.#store(answer)
    return answer.access_token
  }

  /** Returns a token of the session that replaced this one, but never of another user. */
  async #renewSuccessor(refreshToken: string, refused: string | null): Promise<string | null> {
    return this.#storedUserId() === parseClaims(refreshToken)?.sub
      ? this.#renewInLock(refused)
      : null
  }

  #store(pair: TokenPair) {
    this.#deps.storage.write(pair.refresh_token)
    this.#access = pair.access_token
    this.#deps.broadcast({ kind: 'renewed', access: pair.access_token })
  }

  #storedUserId(): string | null {
    return parseClaims(this.#deps.storage.read())?.sub ?? null
  }

  #notify() {
    this.#userId = this.#storedUserId()
    for (const listener of this.#listeners) listener()
  }
}

function isUsable(token: string | null, nowMs: number): boolean {
  const claims = parseClaims(token)
  return claims !== null && claims.exp * 1000 - nowMs > EXPIRY_MARGIN_MS
}

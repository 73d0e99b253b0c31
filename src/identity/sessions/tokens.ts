import { DAY_MS, type Instant, MINUTE_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { openJws, signJws, splitJws } from './jws.ts'
import type { Keyring } from './keyring.ts'

export const ACCESS_MS = 30 * MINUTE_MS
export const REFRESH_MS = 30 * DAY_MS

export type TokenDeps = Pick<Platform, 'clock' | 'config'> & { keyring: Keyring }

/** A superuser's view of an account; `sessionId` is the superuser's session. */
export type ViewClaims = { id: string; viewerId: string; sessionId: string }
/** `sessionId` is null exactly for a view. */
export type AccessClaims = { userId: string; expiresMs: number } & (
  | { sessionId: string; view: null }
  | { sessionId: null; view: ViewClaims }
)
export type RefreshClaims = { userId: string; sessionId: string; jti: string }

export async function signAccess(
  deps: TokenDeps,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<string> {
  const now = seconds(deps.clock.ms())
  return signToken(deps, 'access', {
    sub: userId,
    sid: sessionId,
    iat: now,
    exp: now + ACCESS_MS / 1_000,
    jti: crypto.randomUUID(),
  })
}

/**
 * Signs the token of a view. Its type is `view`: a service that verifies access tokens with the
 * published keys rejects it. `act` names the superuser (RFC 8693, 4.1).
 */
export async function signView(
  deps: TokenDeps,
  userId: string,
  { id, viewerId, sessionId }: ViewClaims,
  expiresAt: Instant,
): Promise<string> {
  return signToken(deps, 'view', {
    sub: userId,
    act: { sub: viewerId },
    sid: sessionId,
    iat: seconds(deps.clock.ms()),
    exp: seconds(Date.parse(expiresAt)),
    jti: id,
  })
}

/**
 * Signs a refresh token. Ed25519 is deterministic: the same arguments give the same token, so a
 * repeated refresh needs no stored token.
 */
export async function signRefresh(
  deps: TokenDeps,
  {
    userId,
    sessionId,
    jti,
    issuedAt,
  }: { userId: string; sessionId: string; jti: string; issuedAt: Instant },
): Promise<string> {
  const issued = seconds(Date.parse(issuedAt))
  return signToken(deps, 'refresh', {
    sub: userId,
    sid: sessionId,
    iat: issued,
    exp: issued + REFRESH_MS / 1_000,
    jti,
  })
}

/**
 * Returns null unless this is an unexpired access token or token of a view of this service, signed
 * by a published key.
 */
export async function readAccess(deps: TokenDeps, token: string): Promise<AccessClaims | null> {
  const claims = await readToken(deps, ['access', 'view'], token)
  if (!claims) return null
  const { sub: userId, sid: sessionId, jti: id, act, type } = claims
  const expiresMs = claims.exp * 1_000
  if (type === 'access') return { userId, expiresMs, sessionId, view: null }
  if (!act) return null
  return { userId, expiresMs, sessionId: null, view: { id, viewerId: act.sub, sessionId } }
}

export async function readRefresh(deps: TokenDeps, token: string): Promise<RefreshClaims | null> {
  const claims = await readToken(deps, ['refresh'], token)
  return claims && { userId: claims.sub, sessionId: claims.sid, jti: claims.jti }
}

type TokenType = 'access' | 'refresh' | 'view'
type Claims = {
  sub: string
  /** Only of a view. */
  act?: { sub: string } | undefined
  sid: string
  iat: number
  exp: number
  jti: string
}

/** The `aud` claim (RFC 7519, 4.1.3). */
const getAudience = (base: string) => `${base}/api`

async function signToken(
  { keyring, config }: TokenDeps,
  type: TokenType,
  claims: Claims,
): Promise<string> {
  const key = await keyring.current()
  const { base } = config.urls
  return signJws(key.header, key.privateKey, { ...claims, type, iss: base, aud: getAudience(base) })
}

async function readToken(
  { keyring, clock, config }: TokenDeps,
  types: readonly TokenType[],
  token: string,
): Promise<(Claims & { type: TokenType }) | null> {
  const parts = splitJws(token)
  if (!parts) return null
  const key = keyring.find(parts.header) ?? (await keyring.seek(parts.header))
  const claims = key && openJws(token, key.publicKey)
  if (!claims) return null
  const { base } = config.urls
  const { sub, sid, iat, exp, jti } = claims
  const type = types.find((one) => one === claims.type)
  if (!type || claims.iss !== base || claims.aud !== getAudience(base)) return null
  if (typeof sub !== 'string' || typeof sid !== 'string' || typeof jti !== 'string') return null
  if (typeof iat !== 'number' || typeof exp !== 'number' || exp * 1_000 <= clock.ms()) return null
  return { type, sub, act: claims.act as Claims['act'], sid, iat, exp, jti }
}

const seconds = (ms: number) => Math.floor(ms / 1_000)

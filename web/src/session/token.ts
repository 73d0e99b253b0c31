/**
 * Claims that this app reads from a JWT. They prove nothing here: the service checks signatures.
 */
export type Claims = { sub: string; sid: string; exp: number }

/** Returns the claims of a JWT, or null for other text. `exp` is in seconds. */
export function parseClaims(token: string | null): Claims | null {
  if (token === null) return null
  try {
    const payload = token.split('.')[1] ?? ''
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, '+').replace(/_/g, '/')), (char) =>
      char.charCodeAt(0),
    )
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof claims !== 'object' || claims === null) return null
    const { sub, sid, exp } = claims as Partial<Claims>
    return typeof sub === 'string' && typeof exp === 'number'
      ? { sub, sid: String(sid ?? ''), exp }
      : null
  } catch {
    return null
  }
}

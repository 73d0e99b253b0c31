/** The claims this app reads from a JWT. Never a proof of anything here: the service checks signatures. */
export type Claims = { sub: string; sid: string; exp: number }

/** The claims of a JWT, or null when it is none. `exp` is in seconds. */
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

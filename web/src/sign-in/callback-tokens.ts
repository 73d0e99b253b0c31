import type { TokenPair } from '../api/types.ts'
import { parseClaims } from '../session/token.ts'

/**
 * Tokens of an OAuth sign-in from the address of `/auth/callback`, or null. main.tsx imports this
 * file first, so that no history entry or referrer holds them.
 */
let tokens: TokenPair | null = location.pathname === '/auth/callback' ? readAddress() : null

/** Returns the tokens to the first caller only. */
export function takeCallbackTokens(): TokenPair | null {
  const pair = tokens
  tokens = null
  return pair
}

function readAddress(): TokenPair | null {
  const query = new URLSearchParams(location.search)
  history.replaceState(null, '', location.pathname)

  const access_token = query.get('access_token') ?? ''
  const refresh_token = query.get('refresh_token') ?? ''
  return parseClaims(access_token) && parseClaims(refresh_token)
    ? { access_token, refresh_token }
    : null
}

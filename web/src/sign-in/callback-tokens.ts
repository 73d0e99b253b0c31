import type { TokenPair } from '../api/types.ts'
import { parseClaims } from '../session/token.ts'

/**
 * The tokens that an OAuth sign-in brought back to `/auth/callback`, or null. main.tsx loads this file first: they leave the
 * address before the router, or anything else, has seen it, so that no history, shared link or referrer holds them.
 */
let tokens: TokenPair | null = location.pathname === '/auth/callback' ? readAddress() : null

/** They serve once, for whoever asks first. */
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

import { Type } from 'typebox'
import { Instant, Nullable } from '#platform/http/schema.ts'
import type { User } from '../users.ts'
import type { TokenPair } from './sessions.ts'

const TokenUser = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    full_name: Nullable(Type.String()),
    is_verified: Type.Boolean(),
    subscription_status: Type.String(),
    subscription_tier: Type.String(),
    created_at: Instant,
  },
  { title: 'TokenUser' },
)

/** SPEC's Token; `user` is null on refresh. */
export const TokenView = Type.Object(
  {
    access_token: Type.String(),
    refresh_token: Type.String(),
    token_type: Type.Literal('bearer'),
    user: Nullable(TokenUser),
  },
  { title: 'Token' },
)

export function tokenView(pair: TokenPair, user: User | null) {
  return { ...pair, user: user && tokenUser(user) }
}

function tokenUser({
  id,
  email,
  full_name,
  is_verified,
  subscription_status,
  subscription_tier,
  created_at,
}: User) {
  return { id, email, full_name, is_verified, subscription_status, subscription_tier, created_at }
}

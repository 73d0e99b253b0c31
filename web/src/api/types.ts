/**
 * Types of requests and replies. `npm run docs` generates them from the routes: change a type in
 * its route.
 */
import type { Token, User } from './schema.d.ts'

export type * from './schema.d.ts'

export type Entitlement = User['entitlements'][number]
export type TokenPair = Pick<Token, 'access_token' | 'refresh_token'>
/** Renamed, because the browser has a `Document` too. */

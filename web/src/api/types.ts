/**
 * The shapes of what goes to the service and comes back, as `npm run docs` makes them from the routes, and names for parts of
 * them. Change a shape in its route.
 */
import type { Document, Token, User } from './schema.d.ts'

export type * from './schema.d.ts'

/** What a plan may grant. */
export type Entitlement = User['entitlements'][number]
export type TokenPair = Pick<Token, 'access_token' | 'refresh_token'>
/** Not the browser's `Document`. */
export type StoredDocument = Document

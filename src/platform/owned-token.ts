/**
 * Tokens that name their owner: the owner's id, then 256 random bits. A lookup names the owner with
 * the hash, so that different owners' rows may be on different servers. The id proves nothing; only
 * the stored hash of the whole token does.
 */
import { randomBytes } from 'node:crypto'

const OWNER_BYTES = 16
const SHAPE = /^[\w-]{64}$/

/** Creates a token. `owner` must be a UUID. */
export function ownedToken(owner: string): string {
  return Buffer.concat([Buffer.from(owner.replaceAll('-', ''), 'hex'), randomBytes(32)]).toString(
    'base64url',
  )
}

/** Returns the UUID in the token; null for another format. */
export function readOwner(token: string): string | null {
  if (!SHAPE.test(token)) return null
  const hex = Buffer.from(token, 'base64url').subarray(0, OWNER_BYTES).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

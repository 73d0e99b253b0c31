/**
 * Tokens that name their owner: the owner's id, then 256 random bits. A lookup names the owner with
 * the hash, so that different owners' rows may be on different servers. The id proves nothing; only
 * the stored hash of the whole token does.
 */
import { randomBytes } from 'node:crypto'

const OWNER_BYTES = 16
const SECRET_BYTES = 32
const SHAPE = /^[\w-]{64}$/

/** Creates a token. `owner` must be a UUID; `secret` has 32 bytes, random by default. */
export function ownedToken(owner: string, secret = randomBytes(SECRET_BYTES)): string {
  const ownerBytes = Buffer.from(owner.replaceAll('-', ''), 'hex')
  return Buffer.concat([ownerBytes, secret.subarray(0, SECRET_BYTES)]).toString('base64url')
}

/** Returns the UUID in the token; null for another format. */
export function readOwner(token: string): string | null {
  if (!SHAPE.test(token)) return null
  const hex = Buffer.from(token, 'base64url').subarray(0, OWNER_BYTES).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

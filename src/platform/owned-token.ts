/**
 * Tokens that say whose they are: the owner's id, then 256 random bits. A look-up names the owner
 * with the hash, so that the rows of different owners may be on different servers. The owner in it
 * proves nothing: only the stored hash of the whole does.
 */
import { randomBytes } from 'node:crypto'

const OWNER_BYTES = 16
const SHAPE = /^[\w-]{64}$/

/** `owner`: a UUID. */
export function ownedToken(owner: string): string {
  return Buffer.concat([Buffer.from(owner.replaceAll('-', ''), 'hex'), randomBytes(32)]).toString(
    'base64url',
  )
}

/** The UUID in it; null where it is no such token. */
export function readOwner(token: string): string | null {
  if (!SHAPE.test(token)) return null
  const hex = Buffer.from(token, 'base64url').subarray(0, OWNER_BYTES).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

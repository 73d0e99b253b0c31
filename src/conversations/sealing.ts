// Seals titles, settings and messages with AES-256-GCM, under a key of each user (HKDF). A sealed
// value opens only in the place that it was sealed for, so rows cannot be exchanged.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Secrets } from '#platform/secrets.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `name`: the row and column of the value, unique for the user. */
export type SealedPlace = { userId: string; name: string }

/** Returns nonce, tag and text. */
export function sealJson(
  secrets: Pick<Secrets, 'key'>,
  place: SealedPlace,
  value: unknown,
): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secrets, place), nonce)
  cipher.setAAD(Buffer.from(place.name))
  const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text])
}

/** @throws Error where the value was sealed for another place or with another root, or was changed */
export function openJson<T>(
  secrets: Pick<Secrets, 'key'>,
  place: SealedPlace,
  sealed: Uint8Array,
): T {
  const decipher = createDecipheriv(
    'aes-256-gcm',
    deriveKey(secrets, place),
    sealed.subarray(0, NONCE_BYTES),
    { authTagLength: TAG_BYTES },
  )
  decipher.setAAD(Buffer.from(place.name))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
  return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8')) as T
}

/** The key that was used last: pages, searches and exports open many values of one user. */
let last: { root: Buffer; userId: string; key: Buffer } | null = null

function deriveKey(secrets: Pick<Secrets, 'key'>, { userId }: SealedPlace): Buffer {
  const root = secrets.key('conversations')
  if (last?.userId === userId && last.root.equals(root)) return last.key
  const key = Buffer.from(hkdfSync('sha256', root, '', `user ${userId}`, 32))
  last = { root, userId, key }
  return key
}

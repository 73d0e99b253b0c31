// The token of a share: owner and share, encrypted and authenticated. It needs no row to be found,
// and is the same at each call. The nonce is computed from the content (a synthetic IV, as in RFC
// 8452), so no two contents share one.
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { Secrets } from '#platform/secrets.ts'

export type ShareKey = { userId: string; id: string }

const SHAPE = /^[\w-]{80}$/
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `userId` and `id` are UUIDs. */
export function createShareToken(secrets: Pick<Secrets, 'key'>, { userId, id }: ShareKey): string {
  const content = Buffer.from(`${userId}${id}`.replaceAll('-', ''), 'hex')
  const nonce = computeNonce(secrets, content)
  const cipher = createCipheriv('aes-256-gcm', secrets.key('conversations/shares'), nonce)
  const text = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
}

/** Returns null for a token that this service has not created. */
export function readShareToken(secrets: Pick<Secrets, 'key'>, token: string): ShareKey | null {
  if (!SHAPE.test(token)) return null
  const bytes = Buffer.from(token, 'base64url')
  const decipher = createDecipheriv(
    'aes-256-gcm',
    secrets.key('conversations/shares'),
    bytes.subarray(0, NONCE_BYTES),
    { authTagLength: TAG_BYTES },
  )
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const content = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
  try {
    decipher.final()
  } catch {
    return null
  }
  return { userId: readUuid(content, 0), id: readUuid(content, 16) }
}

function computeNonce(secrets: Pick<Secrets, 'key'>, content: Buffer): Buffer {
  return createHmac('sha256', secrets.key('conversations/shares/nonce'))
    .update(content)
    .digest()
    .subarray(0, NONCE_BYTES)
}

function readUuid(bytes: Buffer, from: number): string {
  const hex = bytes.subarray(from, from + 16).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

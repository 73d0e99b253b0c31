// Files encrypted at rest: AES-256-GCM in segments, so that bytes are verified before they are
// returned, under a key of each file (HKDF). A segment's nonce is its number and whether it is the
// last, so none can be moved, left out or cut off.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import type { Bytes } from '#platform/content.ts'
import type { Secrets } from '#platform/secrets.ts'

const SEGMENT_BYTES = 64 * 1024
const TAG_BYTES = 16

export async function* seal(
  secrets: Pick<Secrets, 'key'>,
  id: string,
  { sizeBytes, read }: Bytes,
): AsyncGenerator<Buffer> {
  const key = deriveKey(secrets, id)
  const last = Math.max(0, Math.ceil(sizeBytes / SEGMENT_BYTES) - 1)
  for (let number = 0; number <= last; number++) {
    const cipher = createCipheriv('aes-256-gcm', key, buildNonce(number, number === last))
    const segment = await read(
      number * SEGMENT_BYTES,
      Math.min(sizeBytes, (number + 1) * SEGMENT_BYTES),
    )
    yield Buffer.concat([cipher.update(segment), cipher.final(), cipher.getAuthTag()])
  }
}

/** @throws Error where it was sealed for another file or root, or was changed or cut */
export async function* unseal(
  secrets: Pick<Secrets, 'key'>,
  id: string,
  content: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const key = deriveKey(secrets, id)
  let pending: Buffer = Buffer.alloc(0)
  let number = 0
  for await (const piece of content) {
    pending = pending.length === 0 ? piece : Buffer.concat([pending, piece])
    // The last segment has another nonce, so a segment waits until more bytes or the end arrive.
    let from = 0
    for (; pending.length - from > SEGMENT_BYTES + TAG_BYTES; from += SEGMENT_BYTES + TAG_BYTES) {
      yield open(key, number++, false, pending.subarray(from, from + SEGMENT_BYTES + TAG_BYTES))
    }
    pending = pending.subarray(from)
  }
  yield open(key, number, true, pending)
}

function open(key: Buffer, number: number, isLast: boolean, segment: Buffer): Buffer {
  if (segment.length < TAG_BYTES) throw new Error('a sealed file was cut')
  const decipher = createDecipheriv('aes-256-gcm', key, buildNonce(number, isLast), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAuthTag(segment.subarray(-TAG_BYTES))
  const plain = decipher.update(segment.subarray(0, -TAG_BYTES))
  return Buffer.concat([plain, decipher.final()])
}

function deriveKey(secrets: Pick<Secrets, 'key'>, id: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secrets.key('rag/originals'), '', `original ${id}`, 32))
}

function buildNonce(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 8)
  nonce[0] = isLast ? 1 : 0
  return nonce
}

// The text of an API key: `lk_`, 160 random bits, and a checksum that tells junk from a key without a look-up. The
// checksum is no secret and no protection; it saves the database from scanners and typing errors.
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^27 is just above 2^160. */
const BODY_LENGTH = 27
/** 62^6 is above 2^32. */
const CHECKSUM_LENGTH = 6
const PATTERN = new RegExp(`^lk_[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`)

export const PREFIX_LENGTH = 12

/** A new key, as `lk_` and 33 letters and digits. */
export function newSecret(): string {
  const body = base62(BigInt(`0x${randomBytes(20).toString('hex')}`), BODY_LENGTH)
  return `lk_${body}${checksum(body)}`
}

/** True when the text could be a key of ours. */
export function isKeyShaped(text: string): boolean {
  if (!PATTERN.test(text)) return false
  const body = text.slice(3, 3 + BODY_LENGTH)
  return checksum(body) === text.slice(3 + BODY_LENGTH)
}

/** True when the text is meant as a key, and not as a JWT. */
export function hasKeyPrefix(text: string): boolean {
  return text.startsWith('lk_')
}

function checksum(body: string): string {
  let text = ''
  for (let rest = crc32(`lk_${body}`); text.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    text = ALPHABET[rest % 62] + text
  }
  return text
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text
  return text
}

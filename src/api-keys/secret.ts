// The text of an API key: `lk_`, 160 random bits, the owner's id, and a checksum. Only the random
// bits are secret. The owner's id locates the owner's rows. The checksum rejects mistyped keys and
// scanners without a query.
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 62^27 is just above 2^160. */
const RANDOM_LENGTH = 27
/** 62^22 is above 2^128. */
const OWNER_LENGTH = 22
const BODY_LENGTH = RANDOM_LENGTH + OWNER_LENGTH
/** 62^6 is above 2^32. */
const CHECKSUM_LENGTH = 6
const PATTERN = new RegExp(`^lk_[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}$`)

export const PREFIX_LENGTH = 12

/**
 * Creates a key: `lk_` and 55 letters and digits. The random letters come first, because people
 * recognize their keys by the beginning.
 */
export function newSecret(owner: string): string {
  const random = base62(BigInt(`0x${randomBytes(20).toString('hex')}`), RANDOM_LENGTH)
  const body = random + base62(BigInt(`0x${owner.replaceAll('-', '')}`), OWNER_LENGTH)
  return `lk_${body}${checksum(body)}`
}

/** Returns true when the text has the form of a key. */
export function isKeyShaped(text: string): boolean {
  if (!PATTERN.test(text)) return false
  const body = text.slice(3, 3 + BODY_LENGTH)
  return checksum(body) === text.slice(3 + BODY_LENGTH)
}

/** Returns the owner's UUID. The text must have the form of a key. */
export function ownerOfSecret(text: string): string {
  let value = 0n
  for (const letter of text.slice(3 + RANDOM_LENGTH, 3 + BODY_LENGTH))
    value = value * 62n + BigInt(ALPHABET.indexOf(letter))
  const hex = value.toString(16).padStart(32, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** Returns true when the text starts like a key, and not like a JWT. */
export function hasKeyPrefix(text: string): boolean {
  return text.startsWith('lk_')
}

function checksum(body: string): string {
  let text = ''
  for (
    let rest = crc32(`lk_${body}`);
    text.length < CHECKSUM_LENGTH;
    rest = Math.floor(rest / 62)
  ) {
    text = ALPHABET[rest % 62] + text
  }
  return text
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n)
    text = ALPHABET[Number(rest % 62n)] + text
  return text
}

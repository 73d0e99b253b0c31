import { createCipheriv, pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import { keyThreads } from './key-threads.ts'
import { VERIFIER_BYTES } from './records.ts'

const derive = promisify(pbkdf2)
const ROUNDS = 1000
const KEY_BYTES = 32
const BLOCK_BYTES = 16

export type EntryKeys = {
  cipherKey: Buffer
  macKey: Buffer
  /** Allows unpackers to reject a wrong password before they unpack. */
  verifier: Buffer
}

/** Beyond so many keys, starting a thread pays off. */
const MANY_KEYS = 500

/**
 * WinZip's key derivation. It never runs on the event loop, which 1,000 rounds for each of 5,000
 * small files would block for seconds.
 */
export async function deriveKeys(
  password: string,
  salt: Buffer,
  { ofArchive }: { ofArchive: number },
): Promise<EntryKeys> {
  const sizeBytes = 2 * KEY_BYTES + VERIFIER_BYTES
  const bytes =
    ofArchive > MANY_KEYS
      ? await keyThreads.derive({ password, salt, rounds: ROUNDS, sizeBytes })
      : await derive(password, salt, ROUNDS, sizeBytes, 'sha1')
  return {
    cipherKey: bytes.subarray(0, KEY_BYTES),
    macKey: bytes.subarray(KEY_BYTES, 2 * KEY_BYTES),
    verifier: bytes.subarray(2 * KEY_BYTES),
  }
}

/** The most bytes that a cipher takes in one call. */
export const BATCH_BYTES = 128 * 1024

/** Shared by all ciphers, because a call fills and encrypts it without a pause. */
const counters = new Uint32Array(BATCH_BYTES / 4)
const counterBytes = Buffer.from(counters.buffer)
let hasHighWords = false

/**
 * AE-2 counts its blocks from 1, little-endian, which OpenSSL's CTR (big-endian) cannot do. So the
 * counter blocks are encrypted with ECB in one batch, and the data is XORed onto them, so that a
 * batch needs no second buffer. `position` is the offset in the entry and a multiple of 16.
 */
export function entryCipher(cipherKey: Buffer): (data: Buffer, position: number) => Buffer {
  const cipher = createCipheriv('aes-256-ecb', cipherKey, null).setAutoPadding(false)

  return (data, position) => {
    const blocks = Math.ceil(data.length / BLOCK_BYTES)
    countBlocks(position / BLOCK_BYTES + 1, blocks)
    const stream = cipher.update(counterBytes.subarray(0, blocks * BLOCK_BYTES))
    const encrypted = stream.subarray(0, data.length)
    xor(encrypted, data)
    return encrypted
  }
}

function countBlocks(first: number, blocks: number) {
  for (let block = 0; block < blocks; block++) counters[block * 4] = first + block
  const isHigh = first + blocks > 2 ** 32
  // The high words stay 0 up to 64 GB.
  if (!isHigh && !hasHighWords) return
  for (let block = 0; block < counters.length / 4; block++)
    counters[block * 4 + 1] = (first + block) / 2 ** 32
  hasHighWords = isHigh
}

/**
 * Four bytes at a time: 5 times the speed of single bytes; BigUint64Array is slower than either.
 */
function xor(onto: Buffer, data: Buffer) {
  const aligned = onto.byteOffset % 4 === 0 && data.byteOffset % 4 === 0
  const words = aligned ? data.length >>> 2 : 0
  if (words > 0) {
    const to = new Int32Array(onto.buffer, onto.byteOffset, words)
    const from = new Int32Array(data.buffer, data.byteOffset, words)
    for (let i = 0; i < words; i++) to[i] = (to[i] as number) ^ (from[i] as number)
  }
  for (let i = words * 4; i < data.length; i++) onto[i] = (onto[i] as number) ^ (data[i] as number)
}

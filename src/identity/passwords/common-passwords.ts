// The 100,000 most common breached passwords as a Bloom filter of 240 KB. It matches all of them,
// and by mistake one in ten thousand other passwords. scripts/common-passwords.ts generates it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export const FILTER = new URL('./common-passwords.bloom', import.meta.url)
/** 13 hashes with 19.2 bits per entry give one false match in ten thousand. */
const HASHES = 13
export const BITS_PER_ENTRY = 19.2

let bits: Uint8Array | null = null

/** @param password in lower case. */
export function isCommon(password: string): boolean {
  bits ??= readFileSync(FILTER)
  for (const place of computePlaces(password, bits.length * 8)) {
    if (((bits[place >> 3] ?? 0) & (1 << (place & 7))) === 0) return false
  }
  return true
}

/** Derives all hashes from two (Kirsch and Mitzenmacher). */
export function computePlaces(password: string, size: number): number[] {
  const hash = createHash('sha256').update(password).digest()
  const [first, step] = [hash.readUIntBE(0, 6), hash.readUIntBE(6, 6)]
  return Array.from({ length: HASHES }, (_, index) => (first + index * (step % size)) % size)
}

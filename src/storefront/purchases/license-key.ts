import { randomBytes } from 'node:crypto'
import type { Secrets } from '#platform/secrets.ts'

/** Crockford's base32: no I, L, O, U. */
const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const RANDOM_SYMBOLS = 27 // 135 bits
const GROUP = 4
const LENGTH = RANDOM_SYMBOLS + 1
const BODY = new RegExp(`^[${SYMBOLS}]{${LENGTH}}$`)

/**
 * Creates a key: `LK-` and seven groups of four symbols, with 135 random bits and a check symbol.
 * The key is also the password of the buyer's ZIP.
 */
export function newLicenseKey(): string {
  const values = Array.from(randomBytes(RANDOM_SYMBOLS), (byte) => byte & 31)
  return format([...values, computeCheck(values)].map((value) => SYMBOLS[value]).join(''))
}

/**
 * Parses a typed key: any case, O for 0, I or L for 1, with or without dashes and `LK`. Returns
 * null for an invalid key. The check symbol detects every single wrong symbol and every swap of two
 * symbols.
 */
export function parseLicenseKey(typed: string): string | null {
  if (typed.length > 200) return null
  const plain = typed.toUpperCase().replace(/[\s\u2010-\u2015_-]/g, '')
  const body = (plain.length === LENGTH + 2 ? plain.replace(/^LK/, '') : plain)
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
  if (!BODY.test(body)) return null
  const values = Array.from(body, (symbol) => SYMBOLS.indexOf(symbol))
  return values.at(-1) === computeCheck(values.slice(0, -1)) ? format(body) : null
}

/**
 * Masks a key but leaves enough to distinguish a buyer's keys:
 * `LK-7F3K-••••-••••-••••-••••-••••-9XQ2`.
 */
export function maskLicenseKey(key: string): string {
  const groups = key.split('-')
  return groups
    .map((group, index) => (index < 2 || index === groups.length - 1 ? group : '••••'))
    .join('-')
}

/** Returns the first 8 symbols after `LK-`, for the name of the downloaded file. */
export function licensePrefix(key: string): string {
  return key.replace(/^LK-/, '').replaceAll('-', '').slice(0, 8)
}

function format(body: string): string {
  return `LK-${body.match(new RegExp(`.{${GROUP}}`, 'g'))?.join('-')}`
}

/**
 * A weighted sum over GF(32), symbol n times α^n with α a root of x⁵+x²+1. The 31 powers differ, so
 * for up to 31 symbols every swap of two is detected, not only of neighbours. Crockford's own check
 * (mod 37) needs five more symbols that are hard to type.
 */
function computeCheck(values: number[]): number {
  const sum = values.reduce((total, value) => timesAlpha(total) ^ value, 0)
  return timesAlpha(sum)
}

function timesAlpha(value: number): number {
  return ((value << 1) ^ (value & 16 ? 0b100101 : 0)) & 31
}

export function hashLicenseKey(secrets: Secrets, key: string): string {
  return secrets.hash('license-key', key)
}

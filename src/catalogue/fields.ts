/** Readers of a catalogue's fields. Each throws a `CatalogueError` that begins with the field. */
import type { Tier } from './catalogue.ts'

/** The message begins with the field: `plans[0].prices.month is …`. */
export class CatalogueError extends Error {}

/** Reads a tier, which is part of URLs, folder names and settings. */
export function readTier(value: unknown, at: string): Tier {
  const isTier = typeof value === 'string' && /^[a-z0-9][a-z0-9_-]{0,63}$/i.test(value)
  return isTier ? value : wrong(value, at, 'letters, digits, - and _')
}

export function readLimit(value: unknown, at: string): number | null {
  const isCount = Number.isSafeInteger(value) && (value as number) > 0
  return value === null || isCount
    ? (value as number | null)
    : wrong(value, at, 'a whole number above 0')
}

export function readText(value: unknown, at: string): string {
  return typeof value === 'string' && value.trim() !== ''
    ? value.trim()
    : wrong(value, at, 'a text')
}

export function readString(value: unknown, at: string): string {
  return typeof value === 'string' ? value : wrong(value, at, 'a text')
}

export function readList<T>(
  value: unknown,
  at: string,
  read: (item: unknown, at: string) => T,
): T[] {
  return Array.isArray(value)
    ? value.map((item, index) => read(item, `${at}[${index}]`))
    : wrong(value, at, 'a list')
}

export function readFields(
  value: unknown,
  at: string,
  known: readonly string[],
): Record<string, unknown> {
  const fields = readObject(value, at || 'it')
  const unknown = Object.keys(fields).find((name) => !known.includes(name))
  if (unknown === undefined) return fields
  throw new CatalogueError(
    `${at && `${at}.`}${unknown} is no field of the form: expected ${known.join(', ')}`,
  )
}

export function readObject(value: unknown, at: string): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, unknown>) : wrong(value, at, 'an object')
}

export function wrong(value: unknown, at: string, expected: string): never {
  const got =
    value === undefined ? 'is missing' : `is wrong: got ${JSON.stringify(value).slice(0, 80)}`
  throw new CatalogueError(`${at} ${got}, expected ${expected}`)
}

// Reads JSON from vendors, whose shape is not trusted.
import { parseExactly } from '#platform/exact-json.ts'
import { asObject, checkJsonSize } from '#platform/json.ts'
import { VendorError } from './vendor-error.ts'

/** Omits null members: some APIs reject them. */
export function withoutNulls(from: Record<string, unknown>): Record<string, unknown> {
  const values = Object.values(from)
  if (!values.includes(null) && !values.includes(undefined)) return from
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value != null))
}

/** Parses a text that is an object, as a tool's input; null for others and deep nesting. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    checkJsonSize(text)
    return asObject(parseExactly(text))
  } catch {
    return null
  }
}

export function parseEvent(data: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parseExactly(data)
  } catch (cause) {
    throw new VendorError('nonsense', 'sent an event that is not valid JSON', { cause })
  }
  const event = asObject(value)
  if (event === null) throw new VendorError('nonsense', 'sent an event that is no object')
  return event
}

/** Reads a token count. Over a billion is a mistake and would overflow a column of sums. */
export function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.round(Math.min(value, TOKENS_MAX)) : 0
}

const TOKENS_MAX = 1_000_000_000

/** Returns true for text that JSON writes without escapes. */
export function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === 34 || code === 92) return false
  }
  return true
}

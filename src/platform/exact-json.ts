// JSON with integers that are longer than a double holds, as ids of databases are: they stay as they are written, in
// place of a number near by. JSON.stringify writes them again; to all else they are objects, so this is for JSON that passes through.

import { countValues } from './json.ts'

/** A value of sixteen digits or more that is no fraction; what looks like one within a text costs time alone. Ten megabytes take 8 ms. */
const LONG_INTEGER = /[:[,\s]-?\d{16,}\s*[,}\]]/
const INTEGER = /^-?\d+$/

/** Newer than the types: https://tc39.es/proposal-json-parse-with-source */
const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse(text: string, revive?: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** @throws SyntaxError as JSON.parse */
export function parseExactly(text: string): unknown {
  return hasLongIntegers(text) ? parse(text, keepLongIntegers) : parse(text)
}

/** One of the integers that stay as they are written. */
export function isRawJson(value: unknown): boolean {
  return isRawJSON(value)
}

/** False as well where there are so many values that to look at each would take seconds: their long integers are rounded. */
export function hasLongIntegers(text: string): boolean {
  return LONG_INTEGER.test(text) && hasFewValues(text)
}

/** Each takes about a microsecond. */
const VALUES_MAX = 200_000

function hasFewValues(text: string): boolean {
  try {
    return countValues(text) <= VALUES_MAX
  } catch {
    return false
  }
}

function keepLongIntegers(_key: string, value: unknown, { source }: { source?: string }): unknown {
  const isLost =
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
  return isLost ? rawJSON(source) : value
}

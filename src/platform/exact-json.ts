// JSON for requests and replies that pass through: integers that a double cannot hold, such as
// database ids, keep all their digits. Such an integer becomes an object that only JSON.stringify
// understands. A regular expression or a reviver would cost seconds for a body of some megabytes,
// so the text is scanned once, and each such integer is parsed as a marked string.
import { randomUUID } from 'node:crypto'
import { endOfString } from './json.ts'

/** Newer than the types: https://tc39.es/proposal-json-parse-with-source */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): object
  isRawJSON(value: unknown): boolean
}

/** Prefix of the strings that replace integers. Random, so that no caller can send one. */
const MARK = `integer-${randomUUID()}:`

/** An integer with fewer digits is below 2^53; one with more digits is above it. */
const UNSURE_DIGITS = 16

/** @throws SyntaxError as JSON.parse */
export function parseExactly(text: string): unknown {
  const { marked, restore } = markLongIntegers(text)
  return restore(JSON.parse(marked))
}

/** Returns true for an integer that keeps its digits. */
export function isRawJson(value: unknown): boolean {
  return isRawJSON(value)
}

/**
 * Returns the text for any JSON parser, and the function that puts the integers back into what it
 * parsed. Invalid JSON stays invalid.
 */
export function markLongIntegers(text: string): {
  marked: string
  restore: (value: unknown) => unknown
} {
  const pieces: string[] = []
  let copiedTo = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (isDigit(code)) {
      const end = endOfNumber(text, at)
      const start = text.charCodeAt(at - 1) === MINUS ? at - 1 : at
      if (isLongInteger(text, at, end)) {
        pieces.push(text.slice(copiedTo, start), `"${MARK}${text.slice(start, end)}"`)
        copiedTo = end
      }
      at = end - 1
    }
  }
  if (pieces.length === 0) return { marked: text, restore: (value) => value }
  pieces.push(text.slice(copiedTo))
  return { marked: pieces.join(''), restore: restoreIntegers }
}

const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const LOWER_E = 0x65
const UPPER_E = 0x45

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function endOfNumber(text: string, start: number): number {
  let at = start
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isPart =
      isDigit(code) ||
      code === POINT ||
      code === LOWER_E ||
      code === UPPER_E ||
      code === PLUS ||
      code === MINUS
    if (!isPart) break
  }
  return at
}

function isLongInteger(text: string, start: number, end: number): boolean {
  if (end - start < UNSURE_DIGITS || text.charCodeAt(start) === ZERO) return false
  for (let at = start; at < end; at++) {
    if (!isDigit(text.charCodeAt(at))) return false
  }
  return end - start > UNSURE_DIGITS || !Number.isSafeInteger(Number(text.slice(start, end)))
}

/**
 * Uses an explicit stack, because a vendor's reply may be nested deeper than the call stack allows.
 */
function restoreIntegers(value: unknown): unknown {
  const root = { value }
  const open: Record<string | number, unknown>[] = [root]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const current = holder
    const visit = (key: string | number) => {
      const member = current[key]
      if (typeof member === 'string') {
        if (member.startsWith(MARK)) current[key] = rawJSON(member.slice(MARK.length))
      } else if (typeof member === 'object' && member !== null)
        open.push(member as Record<string, unknown>)
    }
    if (Array.isArray(current)) for (let index = 0; index < current.length; index++) visit(index)
    else for (const key of Object.keys(current)) visit(key)
  }
  return root.value
}

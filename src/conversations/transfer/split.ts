// Finds conversations and their members in the bytes of an import without parsing it, in linear
// time and without recursion.
import {
  BACKSLASH,
  BRACE,
  BRACE_END,
  BRACKET,
  BRACKET_END,
  COLON,
  COMMA,
  QUOTE,
} from '#platform/json.ts'
import { invalid, malformedJson } from '#platform/problems.ts'

export type Slice = { from: number; to: number }

/** Returns the place of each element; null beyond `countMax`. @throws Problem 422 */
export function splitConversations(bytes: Buffer, countMax: number): Slice[] | null {
  const start = skipSpace(bytes, 0)
  if (bytes[start] === BRACKET) return listElements(bytes, start, countMax)
  for (const { name, from } of listMembers(bytes, start))
    if (name === 'conversations' && bytes[from] === BRACKET)
      return listElements(bytes, from, countMax)
  throw invalid(['body', 'conversations'], 'Field required', 'missing')
}

/** Yields the members of the object that begins at `brace`. @throws Problem 422 */
export function* listMembers(bytes: Buffer, brace: number): Generator<Slice & { name: string }> {
  if (bytes[brace] !== BRACE) throw malformedJson()
  let at = skipSpace(bytes, brace + 1)
  if (bytes[at] === BRACE_END) return
  while (true) {
    if (bytes[at] !== QUOTE) throw malformedJson()
    const end = endOfString(bytes, at)
    const name = parseName(bytes.toString('utf8', at, end))
    at = skipSpace(bytes, end)
    if (bytes[at] !== COLON) throw malformedJson()
    const from = skipSpace(bytes, at + 1)
    const to = endOfValue(bytes, from)
    if (to === from) throw malformedJson()
    yield { name, from, to }
    at = skipSpace(bytes, to)
    if (bytes[at] === BRACE_END) return
    if (bytes[at] !== COMMA) throw malformedJson()
    at = skipSpace(bytes, at + 1)
  }
}

/** Returns the places in the array at `bracket`; null beyond `countMax`. @throws Problem 422 */
export function listElements(bytes: Buffer, bracket: number, countMax: number): Slice[] | null {
  const slices: Slice[] = []
  let at = skipSpace(bytes, bracket + 1)
  if (bytes[at] === BRACKET_END) return slices
  while (true) {
    const to = endOfValue(bytes, at)
    if (to === at) throw malformedJson()
    if (slices.push({ from: at, to }) > countMax) return null
    at = skipSpace(bytes, to)
    if (bytes[at] === BRACKET_END) return slices
    if (bytes[at] !== COMMA) throw malformedJson()
    at = skipSpace(bytes, at + 1)
  }
}

function parseName(text: string): string {
  try {
    return JSON.parse(text)
  } catch {
    throw malformedJson()
  }
}

/** Returns the place behind the value at `at`. */
function endOfValue(bytes: Buffer, at: number): number {
  if (bytes[at] === QUOTE) return endOfString(bytes, at)
  let depth = 0
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) i = endOfString(bytes, i) - 1
    else if (byte === BRACKET || byte === BRACE) depth++
    else if (byte === BRACKET_END || byte === BRACE_END) {
      if (depth === 0) return i
      if (--depth === 0) return i + 1
    } else if (byte === COMMA && depth === 0) return i
  }
  throw malformedJson()
}

/** Returns the place behind the string that begins at `at`. */
function endOfString(bytes: Buffer, at: number): number {
  for (let i = at + 1; ; i++) {
    i = bytes.indexOf(QUOTE, i)
    if (i < 0) throw malformedJson()
    let slashes = 0
    while (bytes[i - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return i + 1
  }
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

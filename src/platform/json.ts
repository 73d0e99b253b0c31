// Parses external JSON like JSON.parse, but rejects excessive nesting and numbers of values.
// Caution: writing a deep value takes time quadratic in its depth, or overflows the stack, and
// JSON.parse needs seconds for 32 MB of brackets, which compress to some kilobytes.

/** Deeper than any useful schema or tool input. */
export const JSON_DEPTH_MAX = 256

export class JsonTooDeep extends Error {
  constructor() {
    super(`JSON is nested deeper than ${JSON_DEPTH_MAX} levels`)
  }
}

/**
 * A list of token ids for embeddings may contain 300,000 values. JSON.parse takes up to 0.15 µs per
 * value.
 */
export const JSON_VALUES_MAX = 400_000

/**
 * Maximum of strings, including field names. A long conversation has some ten thousand. JSON.parse
 * takes 0.3 µs for a short string that it has not seen before.
 */
export const JSON_TEXTS_MAX = 100_000

/** A million different field names take JSON.parse 0.7 s, and listing them takes as long again. */
export const JSON_NAMES_MAX = 50_000

export class JsonTooMany extends Error {
  constructor() {
    super(
      `JSON has more than ${JSON_VALUES_MAX} values, ${JSON_TEXTS_MAX} texts or ${JSON_NAMES_MAX} fields`,
    )
  }
}

/** @throws JsonTooDeep, JsonTooMany, SyntaxError */
export function parseJson(text: string): unknown {
  checkJsonSize(text)
  return JSON.parse(text)
}

/**
 * Checks the depth and the number of values, texts and fields before JSON is parsed; does not check
 * its syntax.
 * @throws JsonTooDeep, JsonTooMany
 */
export function checkJsonSize(text: string): void {
  if (text.length > JSON_DEPTH_MAX) countJsonValues(text)
}

/** Returns the number of values; an empty list counts as two. @throws as `checkJsonSize` */
export function countJsonValues(text: string): number {
  let depth = 0
  let values = 1
  let texts = 0
  let names = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        if (++texts > JSON_TEXTS_MAX) throw new JsonTooMany()
        at = endOfString(text, at)
        break
      case COLON:
        if (++names > JSON_NAMES_MAX) throw new JsonTooMany()
        break
      case BRACKET:
      case BRACE:
        if (++depth > JSON_DEPTH_MAX) throw new JsonTooDeep()
        if (++values > JSON_VALUES_MAX) throw new JsonTooMany()
        break
      case COMMA:
        if (++values > JSON_VALUES_MAX) throw new JsonTooMany()
        break
      case BRACKET_END:
      case BRACE_END:
        depth--
    }
  }
  return values
}

export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const BACKSLASH = 0x5c
export const BRACKET = 0x5b
export const BRACKET_END = 0x5d
export const BRACE = 0x7b
export const BRACE_END = 0x7d

/**
 * Returns the index of the closing quote. Most strings end at the next quote, so even a file in
 * base64 needs one search.
 */
export function endOfString(text: string, start: number): number {
  const next = text.indexOf('"', start + 1)
  if (next === -1) return text.length
  if (text.charCodeAt(next - 1) !== BACKSLASH) return next
  let at = start + 1
  for (
    let code = text.charCodeAt(at);
    at < text.length && code !== QUOTE;
    code = text.charCodeAt(at)
  ) {
    at += code === BACKSLASH ? 2 : 1
  }
  return at
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a JSON value as an object; null for anything else. */
export function asObject(value: unknown): Record<string, unknown> | null {
  return isObject(value) ? value : null
}

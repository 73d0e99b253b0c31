// JSON from outside, as JSON.parse reads it but for what is nested, or has more values, beyond reason.
// The trap: to write a deep value again takes time by the square of its depth, or all of the stack, and 32 MB of brackets take
// JSON.parse seconds; packed such a body is some kilobytes.

/** Deeper than any schema or tool's input that is meant. */
export const JSON_DEPTH_MAX = 256

export class JsonTooDeep extends Error {
  constructor() {
    super(`JSON is nested deeper than ${JSON_DEPTH_MAX} levels`)
  }
}

/** Long texts count as one each: a request has some thousands, a list of embeddings' tokens some hundred thousand. */
export const JSON_VALUES_MAX = 1_000_000

export class JsonTooMany extends Error {
  constructor() {
    super(`JSON has more than ${JSON_VALUES_MAX} values`)
  }
}

/** @throws JsonTooDeep, JsonTooMany, SyntaxError */
export function parseJson(text: string): unknown {
  countValues(text)
  return JSON.parse(text)
}

/**
 * How many values it has, about, and no fewer. Passes over what stands in strings; whether it is JSON at all is its parser's to
 * say. @throws JsonTooDeep, JsonTooMany
 */
export function countValues(text: string): number {
  if (text.length <= JSON_DEPTH_MAX) return text.length
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at)
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

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d

/** Most strings have no quote in them, and end at the next one: a file in base64 is leapt over. */
function endOfString(text: string, start: number): number {
  const next = text.indexOf('"', start + 1)
  if (next === -1) return text.length
  if (text.charCodeAt(next - 1) !== BACKSLASH) return next
  let at = start + 1
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1
  }
  return at
}

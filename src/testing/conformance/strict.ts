// Shared checks of the strict vendors' dialects: unknown members, schemas, names of tools, events.
import {
  asList,
  asObject,
  type Json,
  type ReceivedRequest,
  Refused,
  type VendorAnswer,
} from './words.ts'

export type Events = { start: string[]; middle: string[]; end: string[]; error: string }

/**
 * One format of a vendor: parses a request or rejects it, and writes an answer, whole or as events.
 */
export type StrictDialect = {
  /** @throws Refused */
  hear(request: { body: Json; headers: ReceivedRequest['headers']; path: string }): ReceivedRequest
  whole(said: VendorAnswer, heard: ReceivedRequest): Json
  events(said: VendorAnswer, heard: ReceivedRequest): Events
  problem(refused: Refused): Json
  /** Omitted when a stream ends without an end mark. */
  endMark: string
}

export function eventLine(data: unknown, name?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** @throws Refused for a member that the real one does not know */
export function known(from: Json, members: readonly string[], at: string): void {
  for (const name of Object.keys(from)) {
    if (!members.includes(name))
      throw new Refused(`Unknown parameter: '${at}.${name}'.`, {
        code: 'unknown_parameter',
        param: `${at}.${name}`,
      })
  }
}

/** @throws Refused */
export function toolName(name: unknown): string {
  if (typeof name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(name)) return name
  throw new Refused(
    `Invalid name of a tool: '${name}'. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
  )
}

/** OpenAI's structured outputs: every object closed, every property required. @throws Refused */
export function checkStrictSchema(schema: Json, where: string): void {
  walk(schema, (one) => {
    if (one.type !== 'object' && one.properties === undefined) return
    if (one.additionalProperties !== false)
      throw new Refused(
        `Invalid schema for ${where}: 'additionalProperties' is required to be supplied and to be false.`,
        { code: 'invalid_json_schema' },
      )
    const required = Array.isArray(one.required) ? one.required : []
    if (Object.keys(asObject(one.properties)).some((name) => !required.includes(name)))
      throw new Refused(
        `Invalid schema for ${where}: 'required' is required to be an array including every key in properties.`,
        { code: 'invalid_json_schema' },
      )
  })
}

export function walk(schema: Json, look: (one: Json) => void): void {
  look(schema)
  for (const key of ['properties', '$defs', 'definitions'])
    for (const child of Object.values(asObject(schema[key]))) walk(asObject(child), look)
  for (const key of ['anyOf', 'allOf', 'oneOf'])
    for (const child of asList(schema[key])) walk(child, look)
  if (schema.items !== undefined) walk(asObject(schema.items), look)
}

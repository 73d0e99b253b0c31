/**
 * Validates requests by TypeBox schemas before a handler runs. Bodies are not converted; query,
 * path and headers arrive as text and are converted first.
 */
import { registerAjvFormats } from '@fastify/type-provider-typebox'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import Format from 'typebox/format'
import { Value } from 'typebox/value'
import type { Issue } from '../problem.ts'
import { findIssues } from './issues.ts'

registerAjvFormats()
// HTML's own rule (WHATWG, "valid email address"), with a dot in the domain and RFC 5321's 254
// octets.
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+$/
Format.Set('email', (value: string) => value.length <= 254 && EMAIL.test(value))

export class ValidationFailure extends Error {
  readonly issues: Issue[]
  readonly statusCode = 422
  constructor(issues: Issue[]) {
    super('validation failed')
    this.issues = issues
  }
}

const LOCATIONS: Record<string, string> = {
  body: 'body',
  querystring: 'query',
  query: 'query',
  params: 'path',
  headers: 'header',
}

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const part = httpPart ?? 'body'
  const isText = part !== 'body'
  // Compiled at the first request, so that the start stays fast.
  let checker: Checker | null = null

  return (input: unknown) => {
    checker ??= compileChecker(schema)
    const { compiled, defaults } = checker
    let value = addDefaults(defaults, input)
    if (isText) value = fromText(schema, value)
    if (compiled.Check(value)) return { value }
    return { error: new ValidationFailure(findIssues(LOCATIONS[part] ?? part, schema, value)) }
  }
}

/** `defaults`: the members with a default, their own or one inside. */
type Checker = { compiled: ReturnType<typeof Compile>; defaults: [name: string, schema: TSchema][] }

/** Compiled once per process, because routes and services share schemas. */
const checkers = new WeakMap<TSchema, Checker>()

function compileChecker(schema: TSchema): Checker {
  const known = checkers.get(schema)
  if (known) return known
  const checker = {
    compiled: Compile(schema),
    defaults: Object.entries(
      (schema as { properties?: Record<string, TSchema> }).properties ?? {},
    ).filter(([, member]) => JSON.stringify(member).includes('"default":')),
  }
  checkers.set(schema, checker)
  return checker
}

/** Changes the input, and visits only members with defaults: `Value.Default` of the whole walks long lists of invalid items. */
function addDefaults(defaults: Checker['defaults'], input: unknown): unknown {
  if (defaults.length === 0 || typeof input !== 'object' || input === null || Array.isArray(input))
    return input
  const members = input as Record<string, unknown>
  for (const [name, schema] of defaults) {
    const value = Value.Default(schema, Object.hasOwn(members, name) ? members[name] : undefined)
    if (value !== undefined) members[name] = value
  }
  return input
}

/**
 * Converts texts to the schema's types. TypeBox would truncate `1.5` to an integer; such a text
 * stays a text, so that the check rejects it.
 */
function fromText(schema: TSchema, input: unknown): unknown {
  const texts = { ...(input as Record<string, unknown>) }
  const value = Value.Convert(schema, input)
  const { properties } = schema as { properties?: Record<string, { type?: unknown }> }
  if (typeof value !== 'object' || value === null || properties === undefined) return value
  const fields = value as Record<string, unknown>
  for (const [name, { type }] of Object.entries(properties)) {
    const read = fields[name]
    if (
      [type].flat().includes('integer') &&
      typeof read === 'number' &&
      Number(texts[name]) !== read
    ) {
      fields[name] = texts[name]
    }
  }
  return value
}

/**
 * Validation of requests by TypeBox schemas, before a handler runs. Bodies are taken as they are; query, path and headers arrive as
 * text and are converted first.
 */
import { registerAjvFormats } from '@fastify/type-provider-typebox'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import Format from 'typebox/format'
import { Value } from 'typebox/value'
import type { Issue } from '../problem.ts'

registerAjvFormats()
// HTML's own rule (WHATWG, "valid email address"), with a dot in the domain and RFC 5321's 254 octets.
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
  // Compiled at the first request: a start compiles nothing it may never need.
  let checker: Checker | null = null

  return (input: unknown) => {
    checker ??= checkerOf(schema)
    const { compiled, hasDefaults } = checker
    let value = input
    if (hasDefaults && typeof value === 'object' && value !== null) value = Value.Default(schema, value)
    if (isText) value = fromText(schema, value)
    if (compiled.Check(value)) return { value }
    return {
      error: new ValidationFailure(issuesOf(LOCATIONS[part] ?? part, input, compiled.Errors(value) as SchemaError[])),
    }
  }
}

type Checker = { compiled: ReturnType<typeof Compile>; hasDefaults: boolean }

/** Once a process: routes share schemas, and services too. */
const checkers = new WeakMap<TSchema, Checker>()

function checkerOf(schema: TSchema): Checker {
  const known = checkers.get(schema)
  if (known) return known
  const checker = { compiled: Compile(schema), hasDefaults: JSON.stringify(schema).includes('"default":') }
  checkers.set(schema, checker)
  return checker
}

/** Where a whole number is wanted the conversion cuts a fraction off: then the text stays, and the check refuses it. */
function fromText(schema: TSchema, input: unknown): unknown {
  const texts = { ...(input as Record<string, unknown>) }
  const value = Value.Convert(schema, input)
  const { properties } = schema as { properties?: Record<string, { type?: unknown }> }
  if (typeof value !== 'object' || value === null || properties === undefined) return value
  const fields = value as Record<string, unknown>
  for (const [name, { type }] of Object.entries(properties)) {
    const read = fields[name]
    if ([type].flat().includes('integer') && typeof read === 'number' && Number(texts[name]) !== read) {
      fields[name] = texts[name]
    }
  }
  return value
}

type SchemaError = { keyword: string; instancePath: string; params: Record<string, unknown>; message: string }

const ISSUES_MAX = 20

function issuesOf(location: string, input: unknown, errors: SchemaError[]): Issue[] {
  if (input === undefined || input === null) return [{ loc: [location], msg: 'Field required', type: 'missing' }]
  const issues: Issue[] = []
  const seen = new Set<string>()
  // A union reports every branch; the first error of a place is the one to show.
  for (const error of errors) {
    for (const issue of issueOf(location, error, input)) {
      const place = issue.loc.join('\u0000')
      if (seen.has(place) || issues.length >= ISSUES_MAX) continue
      seen.add(place)
      issues.push(issue)
    }
  }
  return issues.length > 0 ? issues : [{ loc: [location], msg: 'Input should be valid', type: 'value_error' }]
}

function issueOf(location: string, error: SchemaError, input: unknown): Issue[] {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment))
  const loc = [location, ...path]
  const { params } = error

  switch (error.keyword) {
    case 'required':
      return (params.requiredProperties as string[]).map((name) => ({
        loc: [...loc, name],
        msg: 'Field required',
        type: 'missing',
      }))
    case 'additionalProperties':
      return ((params.additionalProperties as string[] | undefined) ?? []).map((name) => ({
        loc: [...loc, name],
        msg: 'Extra inputs are not permitted',
        type: 'extra_forbidden',
      }))
    case 'type':
      return [{ loc, msg: `Input should be ${typeName(params.type)}`, type: `${[params.type].flat()[0]}_type` }]
    case 'minLength':
      return [{ loc, msg: `Should have at least ${counted(params.limit, 'character')}`, type: 'string_too_short' }]
    case 'maxLength':
      return [{ loc, msg: `Should have at most ${counted(params.limit, 'character')}`, type: 'string_too_long' }]
    case 'minItems':
      return [{ loc, msg: `Should have at least ${counted(params.limit, 'item')}`, type: 'too_short' }]
    case 'maxItems':
      return [{ loc, msg: `Should have at most ${counted(params.limit, 'item')}`, type: 'too_long' }]
    case 'minimum':
      return [{ loc, msg: `Should be greater than or equal to ${params.limit}`, type: 'greater_than_equal' }]
    case 'maximum':
      return [{ loc, msg: `Should be less than or equal to ${params.limit}`, type: 'less_than_equal' }]
    case 'pattern':
      return [{ loc, msg: patternMessage(String(params.pattern), valueAt(input, path)), type: 'pattern' }]
    case 'format':
      return [
        {
          loc,
          msg: FORMAT_MESSAGES[String(params.format)] ?? `Should be a valid ${params.format}`,
          type: 'value_error',
        },
      ]
    case 'enum':
      return [
        {
          loc,
          msg: `Should be one of ${(params.allowedValues as unknown[])
            .filter((value) => value !== null)
            .map((value) => `'${value}'`)
            .join(', ')}`,
          type: 'enum',
        },
      ]
    case 'const':
      return [{ loc, msg: `Should be '${params.allowedValue}'`, type: 'literal_error' }]
    case 'anyOf':
    case 'oneOf':
      return [{ loc, msg: 'Should be one of the allowed forms', type: 'union_error' }]
    default:
      return [{ loc, msg: error.message, type: error.keyword }]
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g
const BEYOND_ASCII = /[^\u0020-\u007e]/g

/** What is wrong with the text, found by what would set it right: a pattern is no sentence. */
function patternMessage(pattern: string, value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  const fits = (without: RegExp) => new RegExp(pattern).test(text.replaceAll(without, ''))
  if (text.trim() === '') return 'Should not be blank'
  if (fits(CONTROLS)) return 'Should be one line, without control characters'
  if (fits(BEYOND_ASCII)) return 'Should hold plain ASCII characters only'
  return 'Should have the form that the documentation shows'
}

function valueAt(input: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    input,
  )
}

const FORMAT_MESSAGES: Record<string, string> = {
  email: 'Should be a valid email address',
  uuid: 'Should be a valid UUID',
  'date-time': 'Should be a date and time in ISO 8601',
  date: 'Should be a date as YYYY-MM-DD',
  uri: 'Should be a web address',
}

function typeName(type: unknown): string {
  const names = [type]
    .flat()
    .map((name) =>
      name === 'integer'
        ? 'a whole number'
        : name === 'array'
          ? 'a list'
          : name === 'null'
            ? 'null'
            : `a valid ${name}`,
    )
  return names.join(' or ')
}

function counted(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

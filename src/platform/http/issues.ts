/**
 * Describes the errors of a value that a schema rejected, as sentences with locations. A validator
 * that collects every error of every branch takes seconds and a gigabyte for a list of a million
 * wrong items. So this walk has a maximum number of steps, and checks the length of a list or text
 * before its contents.
 */

import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { isObject } from '#platform/json.ts'
import type { Issue } from '../problem.ts'

type Path = readonly (string | number)[]
type Schema = {
  type?: string | string[]
  anyOf?: Schema[]
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  maxProperties?: number
  maxLength?: number
}
type SchemaError = { keyword: string; params: Record<string, unknown>; message: string }

export const ISSUES_MAX = 20
/** Each step takes about a microsecond. */
const STEPS_MAX = 10_000
/**
 * Longer texts get no explanation of a failed pattern, which tries the pattern on parts of the
 * text.
 */
const EXPLAINED_LENGTH_MAX = 10_000

/**
 * Returns 1 to 20 issues, at most one per location. If the walk stops before it finds the error,
 * the issue refers to the whole value.
 */
export function findIssues(location: string, schema: TSchema, value: unknown): Issue[] {
  if (value === undefined || value === null)
    return [{ loc: [location], msg: 'Field required', type: 'missing' }]
  const issues = new Issues()
  new Walk().check(schema as Schema, value, [location], issues)
  const found = issues.list()
  return found.length > 0
    ? found
    : [{ loc: [location], msg: 'Input should be valid', type: 'value_error' }]
}

/** Collects the first issue of each location. */
class Issues {
  readonly #byPlace = new Map<string, Issue>()

  get isFull(): boolean {
    return this.#byPlace.size >= ISSUES_MAX
  }

  add(issue: Issue): void {
    const place = issue.loc.join('\u0000')
    if (!this.isFull && !this.#byPlace.has(place)) this.#byPlace.set(place, issue)
  }

  list(): Issue[] {
    return [...this.#byPlace.values()]
  }
}

/** Supports the schema keywords that routes use; a test compares them. */
class Walk {
  #stepsLeft = STEPS_MAX

  /** Returns true when the value is valid; false also when the steps are used up. */
  check(schema: Schema, value: unknown, path: Path, issues: Issues): boolean {
    if (this.#stepsLeft-- <= 0 || issues.isFull) return false
    if (schema.anyOf) return this.#checkUnion(schema.anyOf, value, path, issues)
    const types = [schema.type ?? []].flat()
    if (Array.isArray(value) && types.includes('array'))
      return this.#checkList(schema, value, path, issues)
    if (isObject(value) && types.includes('object'))
      return this.#checkObject(schema, value, path, issues)
    return checkLeaf(schema, value, path, issues)
  }

  /** When no branch matches, every branch reports its issues. */
  #checkUnion(branches: Schema[], value: unknown, path: Path, issues: Issues): boolean {
    const found = new Issues()
    for (const branch of branches) {
      if (this.check(branch, value, path, found)) return true
    }
    for (const issue of found.list()) issues.add(issue)
    issues.add({ loc: [...path], msg: 'Should be one of the allowed forms', type: 'union_error' })
    return false
  }

  #checkList(
    { items, minItems, maxItems }: Schema,
    list: unknown[],
    path: Path,
    issues: Issues,
  ): boolean {
    if (minItems !== undefined && list.length < minItems) {
      issues.add({
        loc: [...path],
        msg: `Should have at least ${counted(minItems, 'item')}`,
        type: 'too_short',
      })
      return false
    }
    if (maxItems !== undefined && list.length > maxItems) {
      issues.add({
        loc: [...path],
        msg: `Should have at most ${counted(maxItems, 'item')}`,
        type: 'too_long',
      })
      return false
    }
    let isValid = true
    for (
      let index = 0;
      items !== undefined && index < list.length && this.#goesOn(issues);
      index++
    ) {
      if (!this.check(items, list[index], [...path, index], issues)) isValid = false
    }
    return isValid && this.#stepsLeft > 0
  }

  #checkObject(
    schema: Schema,
    object: Record<string, unknown>,
    path: Path,
    issues: Issues,
  ): boolean {
    const { properties = {}, required = [], additionalProperties = true, maxProperties } = schema
    let isValid = true
    for (const name of required) {
      if (Object.hasOwn(object, name)) continue
      issues.add({ loc: [...path, name], msg: 'Field required', type: 'missing' })
      isValid = false
    }
    for (const [name, property] of Object.entries(properties)) {
      if (!Object.hasOwn(object, name)) continue
      if (!this.check(property, object[name], [...path, name], issues)) isValid = false
    }
    if (maxProperties === undefined && additionalProperties === true) return isValid

    const names = Object.keys(object)
    if (maxProperties !== undefined && names.length > maxProperties) {
      issues.add({
        loc: [...path],
        msg: `Should have at most ${counted(maxProperties, 'field')}`,
        type: 'too_long',
      })
      return false
    }
    for (const name of names) {
      if (Object.hasOwn(properties, name) || !this.#goesOn(issues)) continue
      if (typeof additionalProperties === 'object') {
        if (!this.check(additionalProperties, object[name], [...path, name], issues))
          isValid = false
      } else if (!additionalProperties) {
        issues.add({
          loc: [...path, name],
          msg: 'Extra inputs are not permitted',
          type: 'extra_forbidden',
        })
        isValid = false
      }
    }
    return isValid && this.#stepsLeft > 0
  }

  #goesOn(issues: Issues): boolean {
    return this.#stepsLeft > 0 && !issues.isFull
  }
}

/** Checks a value that contains no others, or one of the wrong type. */
function checkLeaf(schema: Schema, value: unknown, path: Path, issues: Issues): boolean {
  const { maxLength } = schema
  // A character above U+FFFF has two UTF-16 units. Longer texts are not matched against a pattern.
  if (typeof value === 'string' && maxLength !== undefined && value.length > 2 * maxLength) {
    issues.add(
      issueOfLeaf({ keyword: 'maxLength', params: { limit: maxLength }, message: '' }, value, path),
    )
    return false
  }
  // Only the type of a list or an object is checked here, not its contents.
  const isWhole = typeof value !== 'object' || value === null || schema.type === undefined
  const judged = isWhole ? schema : { type: schema.type }
  const errors = Value.Errors(judged as TSchema, value) as SchemaError[]
  for (const error of errors) issues.add(issueOfLeaf(error, value, path))
  return errors.length === 0
}

function issueOfLeaf({ keyword, params, message }: SchemaError, value: unknown, path: Path): Issue {
  const loc = [...path]
  switch (keyword) {
    case 'type':
      return {
        loc,
        msg: `Input should be ${typeName(params.type)}`,
        type: `${[params.type].flat()[0]}_type`,
      }
    case 'minLength':
      return {
        loc,
        msg: `Should have at least ${counted(params.limit, 'character')}`,
        type: 'string_too_short',
      }
    case 'maxLength':
      return {
        loc,
        msg: `Should have at most ${counted(params.limit, 'character')}`,
        type: 'string_too_long',
      }
    case 'minimum':
      return {
        loc,
        msg: `Should be greater than or equal to ${params.limit}`,
        type: 'greater_than_equal',
      }
    case 'maximum':
      return {
        loc,
        msg: `Should be less than or equal to ${params.limit}`,
        type: 'less_than_equal',
      }
    case 'pattern':
      return { loc, msg: patternMessage(String(params.pattern), value), type: 'pattern' }
    case 'format':
      return {
        loc,
        msg: FORMAT_MESSAGES[String(params.format)] ?? `Should be a valid ${params.format}`,
        type: 'value_error',
      }
    case 'enum': {
      const words = (params.allowedValues as unknown[])
        .filter((word) => word !== null)
        .map((word) => `'${word}'`)
      return { loc, msg: `Should be one of ${words.join(', ')}`, type: 'enum' }
    }
    case 'const':
      return { loc, msg: `Should be '${params.allowedValue}'`, type: 'literal_error' }
    default:
      return { loc, msg: message, type: keyword }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g
const BEYOND_ASCII = /[^\u0020-\u007e]/g

/** Explains a failed pattern by the change that would make the text match. */
function patternMessage(pattern: string, value: unknown): string {
  const text = typeof value === 'string' && value.length <= EXPLAINED_LENGTH_MAX ? value : null
  const matches = (without: RegExp) =>
    text !== null && new RegExp(pattern).test(text.replaceAll(without, ''))
  if (text?.trim() === '') return 'Should not be blank'
  if (matches(CONTROLS)) return 'Should be one line, without control characters'
  if (matches(BEYOND_ASCII)) return 'Should hold plain ASCII characters only'
  return 'Should have the form that the documentation shows'
}

const FORMAT_MESSAGES: Record<string, string> = {
  email: 'Should be a valid email address',
  uuid: 'Should be a valid UUID',
  'date-time': 'Should be a date and time in ISO 8601',
  date: 'Should be a date as YYYY-MM-DD',
  uri: 'Should be a web address',
}

const TYPE_NAMES: Record<string, string> = {
  integer: 'a whole number',
  array: 'a list',
  null: 'null',
}

function typeName(type: unknown): string {
  return [type]
    .flat()
    .map((name) => TYPE_NAMES[name as string] ?? `a valid ${name}`)
    .join(' or ')
}

function counted(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

// JSON schemas for Claude's structured outputs, where unknown keywords are errors. They move into
// the description, which the model reads, as in Anthropic's SDKs.
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
import { asObject } from '#platform/json.ts'
import { wordSet } from '#platform/words.ts'
import { createRefusal } from './vendor-error.ts'

type Schema = Record<string, unknown>

const DEPTH_MAX = 100
const FORMATS = wordSet('date-time time date duration email hostname uri ipv4 ipv6 uuid')
/** Dropped because they constrain nothing; the description is added last. */
const NAMES_ONLY = new Set(['$schema', '$id', '$comment', 'description'])

/** @throws VendorError when the schema is nested too deeply */
export function toClaudeSchema(schema: Schema, depth = 0): Schema {
  if (depth > DEPTH_MAX) throw createRefusal('The JSON schema is nested too deeply for this model')
  const out: Schema = {}
  const unsupported: string[] = []
  for (const [key, value] of Object.entries(schema)) {
    if (NAMES_ONLY.has(key)) continue
    if (!addKeyword(out, key, value, depth)) unsupported.push(`${key}: ${JSON.stringify(value)}`)
  }
  // Next to a reference, only definitions are allowed.
  if (out.$ref !== undefined)
    return {
      ...(out.$defs ? { $defs: out.$defs } : {}),
      ...(out.definitions ? { definitions: out.definitions } : {}),
      $ref: out.$ref,
    }
  // The values imply their type.
  if (out.enum !== undefined || out.const !== undefined) delete out.type
  if (isObject(out)) {
    out.type ??= 'object'
    out.additionalProperties = false
  }
  const description = describe(schema.description, unsupported)
  if (description !== '') out.description = description
  return out
}

/** Returns false for an unsupported keyword. */
function addKeyword(out: Schema, key: string, value: unknown, depth: number): boolean {
  switch (key) {
    case '$ref':
    case 'type':
    case 'title':
    case 'required':
      out[key] = value
      return true
    case 'enum':
      if (!Array.isArray(value) || !value.every(isPrimitive)) return false
      out[key] = value
      return true
    case 'const':
      if (!isPrimitive(value)) return false
      out[key] = value
      return true
    case '$defs':
    case 'definitions':
    case 'properties':
      out[key] = Object.fromEntries(
        Object.entries(asObject(value) ?? {}).map(([name, inner]) => [name, convert(inner, depth)]),
      )
      return true
    case 'items':
      out[key] = convert(Array.isArray(value) ? (value[0] ?? {}) : value, depth)
      return true
    // Claude has no exclusive alternatives.
    case 'oneOf':
    case 'anyOf':
    case 'allOf':
      if (!Array.isArray(value)) return false
      out[key === 'allOf' ? key : 'anyOf'] = value.map((inner) => convert(inner, depth))
      return true
    case 'format':
      if (!FORMATS.has(String(value))) return false
      out[key] = value
      return true
    case 'minItems':
      if (value !== 0 && value !== 1) return false
      out[key] = value
      return true
    case 'additionalProperties':
      // Every object gets `false`; a schema for further properties is described.
      return typeof value !== 'object'
    default:
      return false
  }
}

function convert(value: unknown, depth: number): unknown {
  const schema = asObject(value)
  return schema === null ? value : toClaudeSchema(schema, depth + 1)
}

function describe(description: unknown, unsupported: readonly string[]): string {
  const paragraphs = typeof description === 'string' ? [description] : []
  if (unsupported.length > 0) paragraphs.push(`{${unsupported.join(', ')}}`)
  return paragraphs.join('\n\n')
}

function isPrimitive(value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

function isObject({ type, properties }: Schema): boolean {
  return (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    (type === undefined && properties !== undefined)
  )
}

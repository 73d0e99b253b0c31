// JSON schemas as Claude's structured outputs take them: a subset, in which a keyword that is not known is an error.
// What the subset lacks moves into the description, so that the model still reads it, as in Anthropic's own SDKs.
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
import { objectOf } from './json.ts'
import { refusal } from './vendor-error.ts'

type Schema = Record<string, unknown>

/** Deeper than any schema that is meant. */
const DEPTH_MAX = 100
const FORMATS = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
])
/** Taken as they are. `$schema` and `$id` only name things: they go without a word. */
const PLAIN = new Set(['$ref', 'type', 'title', 'required'])
const NAMES_ONLY = new Set(['$schema', '$id', '$comment'])

/** @throws VendorError when it is nested beyond reason. */
export function claudeSchema(schema: Schema, depth = 0): Schema {
  if (depth > DEPTH_MAX) throw refusal('The JSON schema is nested too deeply for this model')
  const inner = (value: unknown): unknown => {
    const one = objectOf(value)
    return one === null ? value : claudeSchema(one, depth + 1)
  }
  const each = (value: unknown): unknown =>
    Object.fromEntries(
      Object.entries(objectOf(value) ?? {}).map(([name, one]) => [name, inner(one)]),
    )

  const out: Schema = {}
  const rest: [string, unknown][] = []
  for (const [key, value] of Object.entries(schema)) {
    if (PLAIN.has(key)) out[key] = value
    else if (NAMES_ONLY.has(key) || key === 'description') continue
    else if (key === 'enum' && Array.isArray(value) && value.every(isPrimitive)) out[key] = value
    else if (key === 'const' && isPrimitive(value)) out[key] = value
    else if (key === '$defs' || key === 'definitions' || key === 'properties')
      out[key] = each(value)
    else if (key === 'items') out[key] = Array.isArray(value) ? inner(value[0] ?? {}) : inner(value)
    else if ((key === 'anyOf' || key === 'allOf') && Array.isArray(value))
      out[key] = value.map(inner)
    // Of alternatives that exclude each other Claude knows only the alternatives.
    else if (key === 'oneOf' && Array.isArray(value)) out.anyOf = value.map(inner)
    else if (key === 'format' && FORMATS.has(String(value))) out[key] = value
    else if (key === 'minItems' && (value === 0 || value === 1)) out[key] = value
    else if (key === 'additionalProperties') {
      if (typeof value === 'object') rest.push([key, value])
    } else rest.push([key, value])
  }
  // Values say their own type.
  if (out.enum !== undefined || out.const !== undefined) delete out.type
  if (isObject(out)) {
    out.type ??= 'object'
    out.additionalProperties = false
  }

  const words = [
    ...(typeof schema.description === 'string' ? [schema.description] : []),
    ...(rest.length === 0
      ? []
      : [`{${rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`]),
  ]
  // A reference stands alone.
  if (out.$ref !== undefined)
    return {
      ...(out.$defs ? { $defs: out.$defs } : {}),
      ...(out.definitions ? { definitions: out.definitions } : {}),
      $ref: out.$ref,
    }
  if (words.length > 0) out.description = words.join('\n\n')
  return out
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

/**
 * Builds a value that matches a JSON schema: the output of a model that fills forms without
 * understanding them. It fills every property, including optional ones, but follows recursive
 * schemas only where required.
 */

type Schema = Record<string, unknown>

export type Words = {
  /** For fields that expect an answer: `summary`, `text`. */
  answer: string
  /** For fields that expect the question: `query`, `question`. */
  question: string
}

/** Optional properties deeper than this are left out; a schema that refers to itself ends here. */
const DEPTH_MAX = 6
const REQUIRED_DEPTH_MAX = 40
const LENGTH_MAX = 2_000

export function buildSample(schema: unknown, words: Words): unknown {
  return buildValue(schema, { root: asSchema(schema), words, name: '', depth: 0 })
}

/** Removes optional properties, because they can be switches of an agent. */
export function pickRequired(given: unknown): unknown {
  const schema = asSchema(given)
  const required = asStrings(schema.required)
  if (required.length === 0) return given
  const needed = Object.entries(asSchema(schema.properties)).filter(([name]) =>
    required.includes(name),
  )
  return { ...schema, properties: Object.fromEntries(needed) }
}

type Place = { root: Schema; words: Words; name: string; depth: number }

function buildValue(given: unknown, place: Place): unknown {
  const schema = resolved(given, place.root)
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum.find((one) => one !== null) ?? null
  if (schema.default !== undefined && schema.default !== null) return schema.default
  const [example] = Array.isArray(schema.examples) ? schema.examples : [schema.example]
  if (example !== undefined) return example
  switch (readType(schema)) {
    case 'object':
      return buildObject(schema, place)
    case 'array':
      return buildArray(schema, place)
    case 'integer':
      return buildNumber(schema, 1)
    case 'number':
      return buildNumber(schema, typeof schema.multipleOf === 'number' ? schema.multipleOf : 0)
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return buildText(schema, place)
  }
}

/**
 * Resolves a reference, the first choice that is not null, and all parts of an `allOf` into one
 * schema.
 */
function resolved(given: unknown, root: Schema, hops = 0): Schema {
  let schema = asSchema(given)
  if (hops > 32) return {}
  if (typeof schema.$ref === 'string') {
    const { $ref, ...rest } = schema
    return resolved({ ...referred(String($ref), root), ...rest }, root, hops + 1)
  }
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...rest } = schema
    schema = schema.allOf.reduce<Schema>(
      (sum, part) => merged(sum, resolved(part, root, hops + 1)),
      rest,
    )
  }
  for (const choices of [schema.anyOf, schema.oneOf]) {
    if (!Array.isArray(choices)) continue
    const { anyOf: _, oneOf: __, ...rest } = schema
    const choice =
      choices.find((one) => readType(resolved(one, root, hops + 1)) !== 'null') ?? choices[0]
    return merged(rest, resolved(choice, root, hops + 1))
  }
  return schema
}

function merged(a: Schema, b: Schema): Schema {
  const properties = { ...asSchema(a.properties), ...asSchema(b.properties) }
  const required = [...asStrings(a.required), ...asStrings(b.required)]
  return { ...a, ...b, ...(Object.keys(properties).length > 0 ? { properties } : {}), required }
}

/** `#/$defs/Pet`, and the schema itself for `#`. */
function referred(pointer: string, root: Schema): Schema {
  let at: unknown = root
  for (const step of pointer.replace(/^#\/?/, '').split('/').filter(Boolean)) {
    at = asSchema(at)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return asSchema(at)
}

/** Google's types are in upper case. */
function readType(schema: Schema): string {
  const type =
    [schema.type].flat().find((one) => one !== 'null' && one !== 'NULL') ?? [schema.type].flat()[0]
  if (typeof type === 'string') return type.toLowerCase()
  if (schema.properties !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array'
  return 'string'
}

function buildObject(schema: Schema, place: Place): Record<string, unknown> {
  const required = asStrings(schema.required)
  const properties = asSchema(schema.properties)
  const names =
    place.depth < DEPTH_MAX ? new Set([...Object.keys(properties), ...required]) : new Set(required)
  const made: Record<string, unknown> = {}
  if (place.depth > REQUIRED_DEPTH_MAX) return made
  for (const name of names) {
    const value = buildValue(properties[name] ?? {}, { ...place, name, depth: place.depth + 1 })
    // A property by this name would otherwise set the object's prototype.
    Object.defineProperty(made, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return made
}

function buildArray(schema: Schema, place: Place): unknown[] {
  const inner = { ...place, depth: place.depth + 1 }
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const least = Math.min(100, asCount(schema.minItems) ?? (place.depth < DEPTH_MAX ? 1 : 0))
  const length = Math.max(prefix.length, Math.min(least, asCount(schema.maxItems) ?? least))
  if (place.depth > REQUIRED_DEPTH_MAX) return []
  return Array.from({ length }, (_, index) => {
    const value = buildValue(prefix[index] ?? schema.items ?? {}, inner)
    if (schema.uniqueItems !== true || index === 0) return value
    const choices = resolved(schema.items, place.root).enum
    if (Array.isArray(choices)) return choices[index] ?? value
    return typeof value === 'number'
      ? value + index
      : typeof value === 'string'
        ? `${value} ${index + 1}`
        : value
  })
}

function buildNumber(schema: Schema, step: number): number {
  const exclusive = (bound: unknown, inclusive: unknown) => (bound === true ? inclusive : bound)
  const above = exclusive(schema.exclusiveMinimum, schema.minimum)
  const below = exclusive(schema.exclusiveMaximum, schema.maximum)
  const unit =
    typeof schema.multipleOf === 'number' && schema.multipleOf > 0 ? schema.multipleOf : step
  const up = (value: number) => (unit > 0 ? Math.ceil(value / unit) * unit : value)
  let value = typeof schema.minimum === 'number' ? up(schema.minimum) : up(1)
  if (typeof above === 'number' && value <= above)
    value = unit > 0 ? up(above) + (up(above) > above ? 0 : unit) : above + 1
  const most =
    typeof below === 'number' ? below : typeof schema.maximum === 'number' ? schema.maximum : null
  const isOver = most !== null && (typeof below === 'number' ? value >= most : value > most)
  if (!isOver || most === null) return value
  if (unit > 0)
    return typeof below === 'number'
      ? Math.ceil(most / unit - 1) * unit
      : Math.floor(most / unit) * unit
  const least =
    typeof above === 'number'
      ? above
      : typeof schema.minimum === 'number'
        ? schema.minimum
        : most - 2
  return typeof below === 'number' ? (least + most) / 2 : most
}

const FORMATS: Record<string, string> = {
  date: '2026-11-20',
  time: '09:30:00Z',
  'date-time': '2026-11-20T09:30:00Z',
  duration: 'P1D',
  email: 'ada@example.com',
  hostname: 'example.com',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
  ipv4: '127.0.0.1',
  ipv6: '::1',
}

function buildText(schema: Schema, { words, name }: Place): string {
  const formatted = FORMATS[String(schema.format)]
  if (formatted !== undefined) return formatted
  if (typeof schema.pattern === 'string') return patterned(schema.pattern)
  const text = chooseWords(name, words)
  const least = asCount(schema.minLength) ?? 0
  const most = Math.min(LENGTH_MAX, asCount(schema.maxLength) ?? LENGTH_MAX)
  return [...text.padEnd(Math.min(least, LENGTH_MAX), '.')].slice(0, most).join('')
}

function chooseWords(name: string, { answer, question }: Words): string {
  // An agent would run this value, so it is harmless.
  if (/^(command|cmd|script|code|shell)$/i.test(name)) return 'echo "Hello from the sandbox"'
  if (/quer|question|prompt|search|input|message/i.test(name)) return question || 'sandbox'
  if (
    /answer|summar|text|content|explan|reply|response|result|output|reason|description|thought/i.test(
      name,
    )
  )
    return answer
  // A name in the question is usually the argument of the tool: "the weather in Paris".
  const named = /(?<=\s)\p{Lu}[\p{L}\p{M}'’-]+/u.exec(question)
  return named?.[0] ?? 'sandbox'
}

/**
 * Builds a text that matches a pattern. Supports the usual parts of tools' schemas: classes, the
 * first alternative of groups, and counts. Omits unsupported parts.
 */
function patterned(pattern: string): string {
  const source = pattern.replace(/^\^|\$$/g, '')
  const atom =
    /\\([dwsDWS.\-/\\+*?()[\]{}|^$])|\[([^\]]*)\]|\(\?:([^()|]*)[^()]*\)|\(([^()|?]*)[^()]*\)|([^\\[\]()^$*+?{}|])/y
  const times = /\{(\d+)(?:,\d*)?\}|[*+?]/y
  let text = ''
  for (let at = 0; at < source.length && text.length < LENGTH_MAX; ) {
    atom.lastIndex = at
    const found = atom.exec(source)
    if (found === null) {
      at++
      continue
    }
    const [whole, escaped, listed, first, second, plain] = found
    at += whole.length
    const group = first ?? second
    const character =
      plain !== undefined
        ? plain === '.'
          ? 'a'
          : plain
        : group !== undefined
          ? patterned(group)
          : listed !== undefined
            ? ofClass(listed)
            : ofEscape(escaped ?? '')
    times.lastIndex = at
    const count = times.exec(source)
    if (count !== null) at += count[0].length
    text += character.repeat(Math.min(200, count?.[1] === undefined ? 1 : Number(count[1])))
  }
  return text
}

function ofEscape(letter: string): string {
  return { d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a' }[letter] ?? letter
}

function ofClass(listed: string): string {
  if (listed.startsWith('^')) return ['a', '1', '-'].find((one) => !listed.includes(one)) ?? '_'
  return listed.startsWith('\\') ? ofEscape(listed[1] ?? '') : (listed[0] ?? '')
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Schema)
    : {}
}

function asStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Google's counts are strings. */
function asCount(value: unknown): number | null {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) && number >= 0
    ? Math.floor(number)
    : null
}

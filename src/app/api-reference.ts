// The operations of the API for programs, as the user app's reference shows them: those that accept
// an API key. The app's build has them, so that a production service needs no description of itself.
import type { Operation } from '#platform/http/openapi.ts'
import type { Description, Schema } from './api-schema.ts'

export type ReferenceField = { name: string; type: string; required: boolean; about: string }
export type ReferenceOperation = {
  id: string
  group: string
  method: string
  path: string
  title: string
  about: string
  parameters: (ReferenceField & { in: string })[]
  body: ReferenceField[]
  bodyType: string | null
  /** Example of the body. */
  request: unknown
  reply: ReferenceField[]
  /** Example of the reply: JSON, or a text such as a stream of events. */
  replies: { type: string; example: unknown }[]
}

/** Deeper members are described by the vendors' own documentation. */
const DEPTH_MAX = 3
const ENUM_MAX = 8
/** Names the plans of the default catalogue; an operator's plans may differ. */
const PLANS_NOTE = / ?\b[A-Z][\w, ]* only\.$/

/** Lists them in the order of the description's tags. */
export function listOperations({ paths, components, tags }: Description): ReferenceOperation[] {
  const groups = tags.map(({ name }) => name)
  return Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([, { security }]) => security.some((scheme) => 'key' in scheme))
        .map(([method, operation]) =>
          describeOperation(method, path, operation, components.schemas),
        ),
    )
    .sort((one, other) => groups.indexOf(one.group) - groups.indexOf(other.group))
}

function describeOperation(
  method: string,
  path: string,
  operation: Operation,
  schemas: Record<string, Schema>,
): ReferenceOperation {
  const { operationId, tags, parameters = [], requestBody, responses } = operation
  const { summary = '', description = '' } = operation as { summary?: string; description?: string }
  const [bodyType, body] = Object.entries(requestBody?.content ?? {})[0] ?? [null, null]
  const done = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content
  const json = done?.['application/json'] as Media | undefined
  return {
    id: operationId,
    group: tags[0] ?? '',
    method: method.toUpperCase(),
    path,
    ...splitSummary(summary, description.replace(PLANS_NOTE, '')),
    parameters: parameters.map(({ name = '', in: place = '', required = false, ...one }) => {
      const schema = (one.schema ?? {}) as Schema
      const about = (one as { description?: string }).description ?? schema.description ?? ''
      return { name, in: place, type: describeType(schema, schemas), required, about }
    }),
    body: body === null ? [] : listFields(body.schema as Schema, schemas),
    bodyType,
    request: body?.example ?? null,
    reply: json?.schema ? listFields(json.schema, schemas) : [],
    replies: Object.entries((done ?? {}) as Record<string, Media>)
      .filter(([, { example }]) => example !== undefined)
      .map(([type, { example }]) => ({ type, example })),
  }
}

/** A summary's second part is too long for a heading. */
function splitSummary(summary: string, description: string): { title: string; about: string } {
  const [title = '', more = ''] = summary.split('; ')
  const sentence = more && `${more[0]?.toUpperCase()}${more.slice(1)}.`
  return { title, about: [sentence, description].filter(Boolean).join(' ') }
}

type Media = { schema?: Schema; example?: unknown }

/** Lists the members of an object with the members inside them: `messages[].role`. */
function listFields(
  schema: Schema,
  schemas: Record<string, Schema>,
  prefix = '',
  depth = 1,
): ReferenceField[] {
  const { items, ...found } = findObject(schema, schemas)
  if (items) return listFields(items, schemas, `${prefix}[]`, depth)
  const dot = prefix === '' ? '' : `${prefix}.`
  return Object.entries(found.properties ?? {}).flatMap(([name, field]) => {
    const own: ReferenceField = {
      name: `${dot}${name}`,
      type: describeType(field, schemas),
      required: found.required?.includes(name) === true,
      about: field.description ?? resolve(field, schemas).description ?? '',
    }
    return depth === DEPTH_MAX ? [own] : [own, ...listFields(field, schemas, own.name, depth + 1)]
  })
}

/** Returns the only object or list that a value may be; a schema without members if there are several. */
function findObject(schema: Schema, schemas: Record<string, Schema>): Schema {
  const found = resolve(schema, schemas)
  const choices = found.anyOf?.map((one) => findObject(one, schemas)) ?? []
  const objects = choices.filter(({ properties, items }) => properties ?? items)
  return objects.length === 1 ? (objects[0] as Schema) : found
}

function resolve(schema: Schema, schemas: Record<string, Schema>): Schema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : (schemas[name] ?? {})
}

/** Returns the type in words: `string or null`, `list of objects`. */
function describeType(schema: Schema, schemas: Record<string, Schema>): string {
  const found = resolve(schema, schemas)
  if ('const' in found) return JSON.stringify(found.const)
  if (found.enum && found.enum.length <= ENUM_MAX)
    return found.enum.map((one) => JSON.stringify(one)).join(' or ')
  const choices = found.anyOf ?? [found.type ?? []].flat().map((type) => ({ ...found, type }))
  const names = choices.map((one) =>
    found.anyOf ? describeType(one, schemas) : describeSimple(one, schemas),
  )
  return [...new Set(names)].join(' or ') || 'any'
}

function describeSimple({ type, items }: Schema, schemas: Record<string, Schema>): string {
  if (type !== 'array') return String(type)
  return items ? `list of ${describeType(items, schemas)}` : 'list'
}

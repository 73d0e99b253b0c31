/**
 * What the routes' schemas leave unsaid in the API's description (OpenAPI 3.1): names of schemas, who may call, event streams
 * and errors. A schema with a `title` becomes a component of that name; a body without one is named after its operation.
 * One trap: two shapes under one title are refused when the description is asked for, not at the start.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Catalogue as Problems } from '../problem.ts'
import { platformProblem } from '../problems.ts'
import type { Access } from './access-control.ts'

/** A tag, in the order that readers see, and what its routes may refuse. */
export type Tag = { name: string; description: string; problems: Problems; errors?: ErrorDialect }

/** Errors that are told in another shape than the API's own. */
export type ErrorDialect = {
  name: string
  schema: Json
  /** Of input of the wrong form. */
  invalidStatus: number
}

/** What a route says of itself beside its schema; carried through the plugin as `x-policy`. */
export type DescribedPolicy = { access: Access; limited: boolean; events: Record<string, object> | null }

type Json = Record<string, unknown>
type Operation = {
  operationId: string
  tags: string[]
  security: Json[]
  parameters?: { required?: boolean; schema?: Json }[]
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<string, Json & { content?: Record<string, Json> }>
  'x-policy'?: DescribedPolicy
}
export type Description = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json>; responses: Record<string, Json> }
}

/** The names of the security schemes. */
const SECURITY: Record<Access, Json[]> = {
  anyone: [],
  user: [{ bearer: [] }],
  superuser: [{ bearer: [] }],
  'user-or-key': [{ bearer: [] }, { key: [] }],
  session: [{ session: [] }],
}

/** Completes what the plugin has made of the routes, in place. @throws Error when a title stands for two shapes */
export function completeDescription(description: Description, tags: readonly Tag[], shared: Problems): void {
  const schemas: Record<string, Json> = {}
  const responses: Record<string, Json> = {}
  const name = (schema: unknown, wanted?: string) => withComponents(schema, schemas, wanted)
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const operation of Object.values(operations)) {
      const { access, limited, events } = operation['x-policy'] ?? { access: 'anyone', limited: false, events: null }
      delete operation['x-policy']
      operation.security = SECURITY[access]
      for (const parameter of operation.parameters ?? []) if (hasDefault(parameter.schema)) parameter.required = false
      const title = pascal(operation.operationId)
      for (const media of Object.values(operation.requestBody?.content ?? {})) {
        media.schema = name(withoutDefaultsRequired(media.schema), `${title}Request`) as Json
      }
      for (const response of Object.values(operation.responses)) {
        for (const media of Object.values(response.content ?? {})) media.schema = name(media.schema, `${title}Response`)
        if (response.description === 'Default Response') response.description = 'Done.'
      }
      if (events !== null) declareStream(operation, events, name)
      const tag = tags.find(({ name }) => name === operation.tags[0])
      if (!tag) throw new Error(`${path} has a tag that the description does not know: ${operation.tags[0]}`)
      const isValidated = operation.parameters !== undefined || operation.requestBody !== undefined
      declareErrors(operation, tag, { access, limited, isValidated, shared }, responses)
    }
  }
  for (const { errors } of tags) if (errors) schemas[`${errors.name}Error`] = errors.schema
  description.components.schemas = sorted({ ...schemas, ApiError: ERROR, Issue: ISSUE })
  description.components.responses = sorted(responses)
}

function declareStream(
  operation: Operation,
  events: Record<string, object>,
  name: (schema: unknown, wanted: string) => unknown,
): void {
  const reply = operation.responses['200'] ?? { description: 'Done.' }
  operation.responses['200'] = reply
  const told = Object.entries(events).map(([event, schema]) => `\`${event}\`: ${(schema as Json).description}`)
  reply.content = {
    ...(reply.content ?? json({ type: 'object', additionalProperties: true })),
    'text/event-stream': {
      schema: { type: 'string', description: `Server-sent events, then \`data: [DONE]\`. ${told.join(' ')}` },
      'x-events': Object.fromEntries(
        Object.entries(events).map(([event, schema]) => [
          event,
          name(schema, `${pascal(operation.operationId)}${pascal(event)}Event`),
        ]),
      ),
    },
  }
}

/** The statuses that follow from a route's policy, and as `default` whatever else its room refuses. */
function declareErrors(
  operation: Operation,
  tag: Tag,
  {
    access,
    limited,
    isValidated,
    shared,
  }: { access: Access; limited: boolean; isValidated: boolean; shared: Problems },
  responses: Record<string, Json>,
): void {
  const statuses = [
    ...(isValidated ? [tag.errors?.invalidStatus ?? 422] : []),
    ...(access === 'anyone' ? [] : [401, 403]),
    ...(limited ? [429] : []),
  ]
  for (const status of [...statuses.sort((a, b) => a - b), null]) {
    const key = `${tag.errors?.name ?? pascal(tag.name)}${status ?? 'Error'}`
    responses[key] ??= errorReply(status, tag, shared)
    operation.responses[status ?? 'default'] = { $ref: `#/components/responses/${key}` }
  }
}

function errorReply(status: number | null, { errors, problems }: Tag, shared: Problems): Json {
  const description = status === null ? 'Refused: `code` says why.' : (STATUS_SAYS[status] ?? 'Refused.')
  // The dialect's own codes are for its own clients to know; others may pass through as well.
  if (errors) return { description, content: json({ $ref: `#/components/schemas/${errors.name}Error` }) }
  const codes = Object.entries({ ...platformProblem.catalogue, ...shared, ...problems } as Problems)
    .filter(([, [statuses]]) => status === null || [statuses].flat().includes(status))
    .map(([code]) => code)
  return {
    description,
    content: json({
      allOf: [
        { $ref: '#/components/schemas/ApiError' },
        { type: 'object', properties: { code: { type: 'string', enum: codes } } },
      ],
    }),
  }
}

const STATUS_SAYS: Record<number, string> = {
  400: 'The request is not valid.',
  401: 'No valid credential.',
  403: 'Not this caller, plan or key.',
  422: 'The request is not valid; `detail` lists what is wrong where.',
  429: 'Too many requests; `Retry-After` says how long to wait.',
}

const ERROR = {
  type: 'object',
  description: 'A refusal: a sentence for people, which may be reworded, and a word that stays.',
  properties: {
    detail: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/components/schemas/Issue' } }] },
    code: { type: 'string' },
  },
  required: ['detail', 'code'],
}

const ISSUE = {
  type: 'object',
  properties: {
    loc: {
      type: 'array',
      items: { type: ['string', 'integer'] },
      description: 'Begins with body, query, path or header',
    },
    msg: { type: 'string' },
    type: { type: 'string' },
  },
  required: ['loc', 'msg', 'type'],
}

/** Copies a schema, and puts each part of it that has a `title`, and the whole if it is an object, among the components. */
function withComponents(schema: unknown, components: Record<string, Json>, wanted?: string): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withComponents(part, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, withComponents(part, components)]))
  const title = copy.title ?? ([copy.type].flat().includes('object') ? wanted : undefined)
  // Among properties one may be called `title`.
  if (typeof title !== 'string') return copy
  delete copy.title

  const reference = { $ref: `#/components/schemas/${title}` }
  // `Nullable` of what has a name.
  const isNullable = Array.isArray(copy.type) && copy.type.includes('null')
  const shape = isNullable ? { ...copy, type: (copy.type as string[])[0] } : copy
  const known = components[title]
  components[title] = shape
  if (known && !isDeepStrictEqual(known, shape)) throw new Error(`two schemas have the title ${title}`)
  return isNullable ? { anyOf: [reference, { type: 'null' }] } : reference
}

/** What is filled in need not be sent. */
function withoutDefaultsRequired(schema: Json): Json {
  const { required, properties } = schema as { required?: string[]; properties?: Record<string, Json> }
  if (!required || !properties) return schema
  const needed = required.filter((field) => !hasDefault(properties[field]))
  const { required: _, ...rest } = schema
  return needed.length > 0 ? { ...rest, required: needed } : rest
}

const hasDefault = (schema: Json | undefined) => schema !== undefined && 'default' in schema
const json = (schema: Json) => ({ 'application/json': { schema } })
const pascal = (words: string) => words.replace(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase())
const sorted = <T>(entries: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))

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
export type Tag = { name: string; description: string; problems: Problems }

/** What a route says of itself beside its schema; carried through the plugin as `x-terms`. */
export type Terms = { access: Access; limited: boolean; events: Record<string, object> | null }

type Json = Record<string, unknown>
type Operation = {
  operationId: string
  tags: string[]
  security: Json[]
  parameters?: { required?: boolean; schema?: Json }[]
  requestBody?: { content: Record<string, { schema: Json }> }
  responses: Record<string, Json & { content?: Record<string, Json> }>
  'x-terms'?: Terms
}
export type Description = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Json>; responses: Record<string, Json> }
}

export const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token from POST /api/auth/login',
  },
  key: { type: 'http', scheme: 'bearer', description: 'An API key from POST /api/api-keys' },
  session: { type: 'apiKey', in: 'cookie', name: 'store_session', description: 'The storefront’s session' },
} as const

const SECURITY: Record<Access, Json[]> = {
  anyone: [],
  user: [{ bearer: [] }],
  superuser: [{ bearer: [] }],
  'user-or-key': [{ bearer: [] }, { key: [] }],
  session: [{ session: [] }],
}

/** Completes what the plugin has made of the routes, in place. @throws Error when a title stands for two shapes */
export function completeDescription(description: Description, tags: readonly Tag[]): void {
  const schemas: Record<string, Json> = {}
  const responses: Record<string, Json> = {}
  const name = (schema: unknown, wanted?: string) => withComponents(schema, schemas, wanted)
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const operation of Object.values(operations)) {
      const { access, limited, events } = operation['x-terms'] ?? { access: 'anyone', limited: false, events: null }
      delete operation['x-terms']
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
      declareErrors(operation, path.startsWith('/v1') ? null : tag, { access, limited, isValidated }, responses)
    }
  }
  description.components.schemas = sorted({ ...schemas, ApiError: ERROR, Issue: ISSUE, OpenAiError: OPENAI_ERROR })
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

/** The statuses that follow from a route's terms, and as `default` whatever else its room refuses; under /v1 `tag` is null. */
function declareErrors(
  operation: Operation,
  tag: Tag | null,
  { access, limited, isValidated }: { access: Access; limited: boolean; isValidated: boolean },
  shared: Record<string, Json>,
): void {
  const statuses = [
    ...(isValidated ? [tag ? 422 : 400] : []),
    ...(access === 'anyone' ? [] : [401, 403]),
    ...(limited ? [429] : []),
  ]
  for (const status of [...statuses.sort((a, b) => a - b), null]) {
    const key = `${tag ? pascal(tag.name) : 'OpenAi'}${status ?? 'Error'}`
    shared[key] ??= errorReply(status, tag)
    operation.responses[status ?? 'default'] = { $ref: `#/components/responses/${key}` }
  }
}

function errorReply(status: number | null, tag: Tag | null): Json {
  const description = status === null ? 'Refused: `code` says why.' : (STATUS_SAYS[status] ?? 'Refused.')
  // What OpenAI's own clients know; a vendor's word may pass through as well.
  if (tag === null) return { description, content: json({ $ref: '#/components/schemas/OpenAiError' }) }
  const codes = Object.entries({ ...platformProblem.catalogue, ...tag.problems } as Problems)
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

const OPENAI_ERROR = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        code: { type: ['string', 'null'] },
        param: { type: ['string', 'null'] },
      },
      required: ['message', 'type', 'code', 'param'],
    },
  },
  required: ['error'],
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

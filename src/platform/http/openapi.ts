/**
 * Completes the API description (OpenAPI 3.1) with facts outside the routes' schemas: names of
 * schemas, access, event streams, errors, and what a route `describes`. A schema with a `title`
 * becomes a component of that name; a body without one is named after its operation. Caution: two
 * shapes under one title fail when the description is built, not at the start.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Entry, Catalogue as Problems } from '../problem.ts'
import { platformProblem } from '../problems.ts'
import type { Access, Entitlements } from './access-control.ts'

/** A tag, with the problems of its routes. Tags are in display order. */
export type Tag = { name: string; description: string; problems: Problems; errors?: ErrorDialect }

/** The error format of a group of routes, if it differs from the API's. */
export type ErrorDialect = {
  /** The same for all tags of the group. */
  name: string
  schema: { type: 'object'; properties: Json; required: string[]; description?: string }
  /** The statuses for invalid input. */
  invalidStatuses: readonly number[]
  /**
   * Whether a `code` beside the schema's properties is one of the tag's; others may be the family's
   * own to tell.
   */
  tellsCodes: boolean
}

/**
 * Documented only: parts that no schema of a route validates or serialises, because a vendor's
 * fields pass through, the bytes are not JSON, or a handler validates them.
 */
export type Described = {
  /** For routes whose handler checks the caller. */
  security?: object[]
  parameters?: {
    name: string
    in: 'query' | 'header'
    required?: boolean
    description?: string
    schema: object
  }[]
  /** The request body: a schema for each media type. */
  body?: Record<string, object>
  /** The replies by status; `content` has a schema for each media type. */
  replies?: Record<
    number,
    { description: string; content?: Record<string, object>; headers?: Record<string, object> }
  >
}

declare module 'fastify' {
  interface FastifyContextConfig {
    described?: Described
  }
}

/** The example of an operation, with bodies by media type. */
export type Example = {
  parameters?: Record<string, unknown>
  body?: unknown
  status: number
  headers?: Record<string, string>
  reply?: Record<string, unknown>
}

/** The parts of the description that do not come from routes. */
export type Reference = {
  /** The title can change while the service runs. */
  info(): { title: string; version: string; description: string }
  url: string
  /** The security schemes, by the names in SECURITY. */
  securitySchemes: Record<string, object>
  tags: readonly Tag[]
  /** Problems of all routes, in addition to the platform's. */
  problems: Problems
  entitlements: Entitlements
  /** Returns the examples by operation. Read only when the description is requested. */
  examples: () => Record<string, Example>
}

/** A route's policy, passed through the plugin as `x-policy`. */
export type DescribedPolicy = {
  access: Access
  limited: boolean
  events: Record<string, object> | null
  described: Described
}

type Json = Record<string, unknown>
export type Operation = {
  operationId: string
  tags: string[]
  security: Json[]
  parameters?: {
    name?: string
    in?: string
    required?: boolean
    schema?: Json
    example?: unknown
  }[]
  requestBody?: { required?: boolean; content: Record<string, { schema: Json; example?: unknown }> }
  responses: Record<
    string,
    Json & { content?: Record<string, Json>; headers?: Record<string, object> }
  >
  'x-policy'?: DescribedPolicy
}
export type Description = {
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Json>
    responses: Record<string, Json>
    securitySchemes?: Record<string, object>
  }
}

/** The names of the security schemes. */
const SECURITY: Record<Access, Json[]> = {
  anyone: [],
  user: [{ bearer: [] }],
  superuser: [{ bearer: [] }],
  'user-or-key': [{ bearer: [] }, { key: [] }, { key_header: [] }],
  session: [{ session: [] }],
}

type Completion = Pick<Reference, 'tags' | 'problems'> & {
  schemas: Record<string, Json>
  responses: Record<string, Json>
  examples: ReturnType<Reference['examples']>
}

/**
 * Completes the plugin's description of the routes, in place. @throws Error when two different
 * schemas have one title
 */
export function completeDescription(
  description: Description,
  { tags, problems, examples }: Pick<Reference, 'tags' | 'problems' | 'examples'>,
): void {
  const completion: Completion = {
    tags,
    problems,
    schemas: {},
    responses: {},
    examples: examples(),
  }
  const usedSchemes = new Set<string>()
  for (const operations of Object.values(description.paths)) {
    // HEAD repeats GET under the same operationId.
    delete operations.head
    for (const operation of Object.values(operations)) {
      completeOperation(operation, completion)
      for (const scheme of listSecuritySchemes(operation)) usedSchemes.add(scheme)
    }
  }
  const { components } = description
  components.schemas = sorted(completion.schemas)
  components.responses = sorted(completion.responses)
  components.securitySchemes = Object.fromEntries(
    Object.entries(components.securitySchemes ?? {}).filter(([scheme]) => usedSchemes.has(scheme)),
  )
}

function completeOperation(operation: Operation, completion: Completion): void {
  const { tags, problems, schemas, responses, examples } = completion
  const { access, limited, events, described } = operation['x-policy'] ?? NO_POLICY
  delete operation['x-policy']
  operation.security = (described.security as Json[] | undefined) ?? SECURITY[access]
  const isValidated = operation.parameters !== undefined || operation.requestBody !== undefined
  declareDescribed(operation, described)
  nameSchemas(operation, schemas)
  if (events !== null)
    declareStream(operation, events, (schema, title) => withComponents(schema, schemas, title))
  const example = examples[operation.operationId]
  if (example) addExample(operation, example)

  const tag = tags.find(({ name }) => name === operation.tags[0])
  if (!tag) throw new Error(`${operation.operationId} has an unknown tag: ${operation.tags[0]}`)
  const dialect = tag.errors ?? { name: pascal(tag.name), ...OWN_ERRORS }
  const codes = Object.entries<Entry>({
    ...platformProblem.catalogue,
    ...problems,
    ...tag.problems,
  })
  withComponents(errorSchema(dialect, codes), schemas, `${dialect.name}Error`)
  declareErrors(operation, { dialect, codes, access, limited, isValidated }, responses)
}

/** Moves the schemas of parameters, body and responses into the components. */
function nameSchemas(operation: Operation, schemas: Record<string, Json>): void {
  const title = pascal(operation.operationId)
  for (const parameter of operation.parameters ?? []) {
    if (hasDefault(parameter.schema)) parameter.required = false
    parameter.schema = withComponents(parameter.schema, schemas) as Json
  }
  if (operation.requestBody)
    declareBody(operation.requestBody, (schema) =>
      withComponents(schema, schemas, `${title}Request`),
    )
  for (const response of Object.values(operation.responses)) {
    for (const media of Object.values(response.content ?? {}))
      media.schema = withComponents(media.schema, schemas, `${title}Response`) as Json
    if (response.description === 'Default Response') response.description = 'Done.'
  }
}

function declareBody(
  requestBody: NonNullable<Operation['requestBody']>,
  name: (schema: unknown) => unknown,
): void {
  for (const media of Object.values(requestBody.content)) {
    const { isNullable, shape } = withoutNull(media.schema)
    // Nullable fields are optional.
    if (isNullable) requestBody.required = false
    media.schema = name(withDefaultsTold(shape)) as Json
  }
}

/** Adds the documented-only parts in the plugin's format, before schemas are named. */
function declareDescribed(operation: Operation, { parameters, body, replies }: Described): void {
  if (parameters) {
    const remaining =
      operation.parameters?.filter(({ name }) => parameters.every((one) => one.name !== name)) ?? []
    operation.parameters = [...remaining, ...(parameters as { schema: Json }[])]
  }
  if (body) operation.requestBody = { required: true, content: buildMedia(body) }
  if (!replies) return
  // The plugin's default for a route without a reply schema.
  if (operation.responses['200']?.content === undefined) delete operation.responses['200']
  for (const [status, { content, ...reply }] of Object.entries(replies)) {
    // Headers alone may be added to a reply that has a schema.
    const known = operation.responses[status]
    operation.responses[status] = {
      ...known,
      ...reply,
      ...(content ? { content: buildMedia(content) } : {}),
    }
  }
}

function addExample(
  operation: Operation,
  { parameters = {}, body, status, headers = {}, reply = {} }: Example,
): void {
  for (const parameter of operation.parameters ?? []) {
    const value = parameters[parameter.name ?? '']
    if (value !== undefined) parameter.example = value
  }
  const [media] = Object.values(operation.requestBody?.content ?? {})
  if (media && body !== undefined) media.example = body
  const response = operation.responses[status]
  for (const [type, value] of Object.entries(reply)) {
    const media = response?.content?.[type]
    if (media) media.example = value
  }
  for (const [name, value] of Object.entries(headers)) {
    const header = response?.headers?.[name]
    // A route's own object describes both statuses.
    if (response && header)
      response.headers = { ...response.headers, [name]: { ...header, example: value } }
  }
}

function declareStream(
  operation: Operation,
  events: Record<string, object>,
  name: (schema: unknown, wanted: string) => unknown,
): void {
  const reply = operation.responses['200'] ?? { description: 'Done.' }
  operation.responses['200'] = reply
  const lines = Object.entries(events).map(
    ([event, schema]) => `\`${event}\`: ${(schema as Json).description}`,
  )
  // Dialects with named events have a separate end event.
  const end = 'message' in events ? ', then `data: [DONE]`' : ''
  reply.content = {
    ...(reply.content ?? json({ type: 'object', additionalProperties: true })),
    'text/event-stream': {
      schema: { type: 'string', description: `Server-sent events${end}. ${lines.join(' ')}` },
      'x-events': Object.fromEntries(
        Object.entries(events).map(([event, schema]) => [
          event,
          name(schema, `${pascal(operation.operationId)}${pascal(event)}Event`),
        ]),
      ),
    },
  }
}

/**
 * Adds the error statuses that follow from a route's policy, and a `default` for its room's other
 * problems.
 */
function declareErrors(
  operation: Operation,
  {
    dialect,
    codes,
    access,
    limited,
    isValidated,
  }: Pick<DescribedPolicy, 'access' | 'limited'> & ErrorTerms,
  shared: Record<string, Json>,
): void {
  const statuses = [
    ...(isValidated ? dialect.invalidStatuses : []),
    ...(access === 'anyone' ? [] : [401, 403]),
    ...(limited ? [429] : []),
  ]
  for (const status of [...statuses.sort((a, b) => a - b), null]) {
    const key = `${dialect.name}${status ?? 'Error'}`
    shared[key] ??= errorReply(status, dialect, codes)
    operation.responses[status ?? 'default'] ??= { $ref: `#/components/responses/${key}` }
  }
}

type Codes = [code: string, entry: Entry][]
type ErrorTerms = { dialect: ErrorDialect; codes: Codes; isValidated: boolean }

/**
 * One type for all problems of a room, so that clients check once; the description lists the codes
 * of each status.
 */
function errorReply(status: number | null, { name, tellsCodes }: ErrorDialect, codes: Codes): Json {
  const says = status === null ? 'Refused: `code` says why.' : (STATUS_SAYS[status] ?? 'Refused.')
  const ofStatus = codes.filter(([, [statuses]]) => [statuses].flat().some((one) => one === status))
  const codeNames = status !== null && tellsCodes ? ofStatus.map(([code]) => `\`${code}\``) : []
  return {
    description: [says, codeNames.join(', ')].filter(Boolean).join(' '),
    content: json({ $ref: `#/components/schemas/${name}Error` }),
  }
}

function errorSchema({ schema, tellsCodes }: ErrorDialect, codes: Codes): Json {
  if (!tellsCodes) return schema
  const code = { type: 'string', enum: codes.map(([code]) => code) }
  return {
    ...schema,
    properties: { ...schema.properties, code },
    required: [...schema.required, 'code'],
  }
}

const STATUS_SAYS: Record<number, string> = {
  400: 'The request is not valid.',
  401: 'No valid credential.',
  403: 'Not this caller, plan or key.',
  422: 'The request is not valid; `detail` lists what is wrong where.',
  429: 'Too many requests; `Retry-After` says how long to wait.',
}

export const REFUSAL =
  'A refusal: a sentence for people, which may be reworded, and a word that stays.'

const ISSUE = {
  title: 'Issue',
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

const OWN_ERRORS: Omit<ErrorDialect, 'name'> = {
  invalidStatuses: [422],
  tellsCodes: true,
  schema: {
    type: 'object',
    description: REFUSAL,
    properties: { detail: { anyOf: [{ type: 'string' }, { type: 'array', items: ISSUE }] } },
    required: ['detail'],
  },
}

/**
 * Copies a schema, and puts each part of it that has a `title`, and the whole if it is an object,
 * among the components.
 */
function withComponents(
  schema: unknown,
  components: Record<string, Json>,
  wanted?: string,
): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withComponents(part, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, withComponents(part, components)]),
  )
  const title = copy.title ?? ([copy.type].flat().includes('object') ? wanted : undefined)
  // In a map of properties, `title` may be the name of a property.
  if (typeof title !== 'string') {
    const { isNullable, shape } = withoutNull(copy)
    // Client generators treat a null in an enum as one of its strings.
    return isNullable && 'enum' in copy ? { anyOf: [shape, { type: 'null' }] } : copy
  }
  delete copy.title
  const reference = { $ref: `#/components/schemas/${title}` }
  const known = components[title]
  const { isNullable, shape } = withoutNull(copy)
  components[title] = shape
  if (known && !isDeepStrictEqual(known, shape))
    throw new Error(`two schemas have the title ${title}`)
  return isNullable ? { anyOf: [reference, { type: 'null' }] } : reference
}

/** Reverts `Nullable`. */
function withoutNull(schema: Json): { isNullable: boolean; shape: Json } {
  const isNullable = Array.isArray(schema.type) && schema.type.includes('null')
  if (!isNullable) return { isNullable, shape: schema }
  const words = Array.isArray(schema.enum)
    ? { enum: schema.enum.filter((word) => word !== null) }
    : {}
  return { isNullable, shape: { ...schema, type: (schema.type as string[])[0], ...words } }
}

/**
 * A field with a default is optional. The default is documented in words: openapi-typescript treats
 * fields with a default as always present, and openapi-python-client would send it, though the
 * default may change.
 */
function withDefaultsTold(schema: Json): Json {
  const {
    required = [],
    properties,
    ...rest
  } = schema as { required?: string[]; properties?: Record<string, Json> }
  if (!properties || !Object.values(properties).some(hasDefault)) return schema
  const needed = required.filter((field) => !hasDefault(properties[field]))
  const fields = Object.entries(properties).map(([field, { default: usual, ...property }]) => {
    const says = [
      property.description,
      usual !== undefined && `Default: ${JSON.stringify(usual)}.`,
    ].filter(Boolean)
    return [field, says.length > 0 ? { ...property, description: says.join(' ') } : property]
  })
  return {
    ...rest,
    ...(needed.length > 0 ? { required: needed } : {}),
    properties: Object.fromEntries(fields),
  }
}

const listSecuritySchemes = ({ security }: Operation) => security.flatMap(Object.keys)
const NO_POLICY: DescribedPolicy = { access: 'anyone', limited: false, events: null, described: {} }

const buildMedia = (schemas: Record<string, object>) =>
  Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => [type, { schema: schema as Json }]),
  )
const hasDefault = (schema: Json | undefined) => schema !== undefined && 'default' in schema
const json = (schema: Json) => ({ 'application/json': { schema } })
const pascal = (words: string) =>
  words.replace(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase())
const sorted = <T>(entries: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)))

/**
 * A user's documents over the Model Context Protocol: streamable HTTP without sessions, one JSON reply a request, which the protocol allows.
 * Source: modelcontextprotocol.io, specification 2025-11-25, "Transports" and "Tools".
 */
import type { FastifyRequest } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Value } from 'typebox/value'
import { callerOf, hasScope } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { clientGone } from '#platform/http/client.ts'
import type { Described } from '#platform/http/openapi.ts'
import { JsonObject } from '#platform/http/schema.ts'
import { Problem } from '#platform/problem.ts'
import { answer } from './answer/answer.ts'
import type { RagDeps } from './deps.ts'
import { listDocuments } from './documents/documents.ts'
import { CHUNK_SIZE, overlapFor } from './ingest/chunk-settings.ts'
import { ingest } from './ingest/ingest.ts'
import { checkedMetadata } from './ingest/metadata.ts'
import type { RagCall } from './metering.ts'
import { ragProblem } from './problems.ts'
import { RAG_POLICY, RAG_READ_POLICY } from './schemas.ts'
import { parseFilter } from './search/filter.ts'
import { search } from './search/search.ts'

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26']
const DOCUMENTS_MAX = 1_000

type Tool = {
  description: string
  input: TSchema
  isReadOnly: boolean
  call(deps: RagDeps, call: RagCall, input: never): Promise<Record<string, unknown>>
}

const FreeObject = Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })
const topK = Type.Optional(
  Type.Integer({ default: 5, minimum: 1, maximum: 50, description: 'How many chunks at most.' }),
)
const SearchInput = Type.Object({
  query: Type.String({ minLength: 1 }),
  top_k: topK,
  filter: Type.Optional(FreeObject),
})
const AskInput = Type.Object({ question: Type.String({ minLength: 1 }), top_k: topK })
const IngestInput = Type.Object({ content: Type.String({ minLength: 1 }), metadata: Type.Optional(FreeObject) })

const tools: Record<string, Tool> = {
  search: {
    description: 'Find the passages of the user’s stored documents that are nearest to a query.',
    input: SearchInput,
    isReadOnly: true,
    async call(deps, call, { query, top_k = 5, filter }: Static<typeof SearchInput>) {
      const conditions = parseFilter(filter)
      const results = await search(deps, call, { queries: [query], topK: top_k, conditions })
      return { results }
    },
  },
  ask: {
    description: 'Answer a question from the user’s stored documents, with the passages that the answer cites.',
    input: AskInput,
    isReadOnly: true,
    async call(deps, call, { question, top_k = 5 }: Static<typeof AskInput>) {
      const { answer: text, sources } = await answer(deps, call, {
        question,
        topK: top_k,
        minScore: 0.5,
        history: [],
        conditions: [],
      })
      return { answer: text, sources }
    },
  },
  ingest: {
    description: 'Store a text among the user’s documents. The same text again replaces itself.',
    input: IngestInput,
    isReadOnly: false,
    async call(deps, call, { content, metadata = {} }: Static<typeof IngestInput>) {
      const checked = checkedMetadata(metadata)
      return ingest(deps, call, {
        text: content,
        metadata: checked,
        source: typeof checked.source === 'string' ? checked.source : null,
        externalId: null,
        replacesSource: false,
        chunkSize: CHUNK_SIZE,
        chunkOverlap: overlapFor(CHUNK_SIZE, undefined),
      })
    },
  },
  list_documents: {
    description: 'List the user’s stored documents, newest first.',
    input: Type.Object({}),
    isReadOnly: true,
    async call({ db }, { caller }) {
      return listDocuments(db, caller.userId, DOCUMENTS_MAX, 0)
    },
  },
}

const compiled = new Map<string, ReturnType<typeof Compile>>()

/** A request has an id, a notification none; what a client answers to us has no method. */
const Envelope = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  method: Type.Optional(Type.String()),
  params: Type.Optional(Type.Unknown()),
})
let envelope: ReturnType<typeof Compile<typeof Envelope>> | null = null

/** In the description alone: the protocol has words of its own for what is wrong with a message. */
const Id = { type: ['string', 'number', 'null'] }
const Reply = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Unsafe<unknown>(Id),
    result: Type.Optional(JsonObject),
    error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() }, { title: 'JsonRpcError' })),
  },
  { title: 'JsonRpcReply', description: 'Has a `result` or an `error`.' },
)
const MESSAGES: Described = {
  body: {
    'application/json': Type.Object(
      {
        jsonrpc: Type.Literal('2.0'),
        id: Type.Optional(Type.Unsafe<unknown>(Id)),
        method: Type.String({ description: '`initialize`, `ping`, `tools/list`, `tools/call`, or a notification.' }),
        params: Type.Optional(JsonObject),
      },
      { title: 'JsonRpcRequest', description: 'A message without an `id` is a notification.' },
    ),
  },
  replies: {
    200: { description: 'The reply.', content: { 'application/json': Reply } },
    202: { description: 'A notification was taken.' },
    400: { description: 'No message of the protocol.', content: { 'application/json': Reply } },
  },
}

/** What the body was when it was no JSON: told in the protocol's own words. */
const NO_JSON = Symbol('no JSON')

export function mcpRoutes(app: App, deps: RagDeps): void {
  void app.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser('application/json', { parseAs: 'string' }, async (_: FastifyRequest, body: string) => {
      try {
        return JSON.parse(body) as unknown
      } catch {
        return NO_JSON
      }
    })
    scope.post(
      '/mcp',
      {
        schema: { operationId: 'callMcp', tags: ['mcp'], summary: 'Model Context Protocol' },
        config: { ...RAG_READ_POLICY, described: MESSAGES },
      },
      async (request, reply) => {
        checkOrigin(deps, request.headers.origin)
        const refuse = (code: number, message: string, id: string | number | null = null) =>
          reply
            .status(400)
            .type('application/json')
            .send(JSON.stringify(failure(id, code, message)))

        const version = request.headers['mcp-protocol-version']
        if (version !== undefined && !VERSIONS.includes(String(version))) {
          return refuse(-32600, `Unsupported protocol version: this server speaks ${VERSIONS.join(', ')}`)
        }
        const { body } = request
        if (body === NO_JSON || body === undefined) return refuse(-32700, 'Parse error: the body is not valid JSON')
        // At the first request: a start compiles nothing it may never need.
        envelope ??= Compile(Envelope)
        if (!envelope.Check(body)) return refuse(-32600, 'Invalid Request')
        const { id, method, params = {} } = body
        if (!isObject(params)) return refuse(-32602, 'Invalid params: should be an object', id)
        // Replies of the client, and notifications, are taken and not answered.
        if (method === undefined || id === undefined) {
          const isTaken = method !== undefined || 'result' in body || 'error' in body
          return isTaken ? reply.status(202).send() : refuse(-32600, 'Invalid Request', id)
        }

        const call = { caller: callerOf(request), route: '/mcp', signal: clientGone(reply) }
        return reply.type('application/json').send(JSON.stringify(await respond(deps, call, { id, method, params })))
      },
    )
  })

  for (const method of ['GET', 'DELETE'] as const) {
    app.route({
      method,
      url: '/mcp',
      schema: { hide: true },
      config: RAG_READ_POLICY,
      handler: async (request, reply) => {
        checkOrigin(deps, request.headers.origin)
        reply.header('allow', 'POST')
        throw ragProblem('method_not_allowed')
      },
    })
  }
}

/** A page of another site that a browser's user has open must not speak here (DNS rebinding). */
function checkOrigin({ origins }: RagDeps, origin: string | undefined): void {
  if (origin !== undefined && !origins.includes(origin)) throw ragProblem('origin_refused')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

type RpcRequest = {
  id: string | number
  method: string
  params: Record<string, unknown>
}

async function respond(deps: RagDeps, call: RagCall, { id, method, params }: RpcRequest): Promise<object> {
  switch (method) {
    case 'initialize': {
      const wanted = String(params.protocolVersion)
      return success(id, {
        protocolVersion: VERSIONS.includes(wanted) ? wanted : VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'latchkey', title: 'Latchkey documents', version: '1' },
        instructions: 'The user’s own documents: search them, ask questions of them, add to them.',
      })
    }
    case 'ping':
      return success(id, {})
    case 'tools/list':
      return success(id, {
        tools: toolsFor(call.caller).map(([name, { description, input, isReadOnly }]) => ({
          name,
          description,
          inputSchema: input,
          annotations: { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: false },
        })),
      })
    case 'tools/call':
      return callTool(deps, call, id, params)
    default:
      return failure(id, -32601, `Method not found: ${method}`)
  }
}

async function callTool(
  deps: RagDeps,
  call: RagCall,
  id: string | number,
  params: Record<string, unknown>,
): Promise<object> {
  const name = typeof params.name === 'string' ? params.name : ''
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
  if (tool !== undefined && !mayUse(call.caller, tool)) {
    return toolError(id, "This API key is not allowed to use 'rag': it may only read")
  }
  if (tool === undefined) return failure(id, -32602, `Unknown tool: ${name}`)

  const check = compiled.get(name) ?? Compile(tool.input)
  compiled.set(name, check)
  const input = Value.Default(tool.input, params.arguments ?? {})
  if (!check.Check(input)) {
    const [error] = check.Errors(input)
    return toolError(id, `${error?.instancePath.slice(1) || 'arguments'}: ${error?.message ?? 'invalid'}`)
  }
  try {
    const result = await tool.call(deps, call, input as never)
    return success(id, {
      content: [{ type: 'text', text: JSON.stringify(result) }],
      structuredContent: result,
      isError: false,
    })
  } catch (error) {
    // What the model can mend is told to the model; bugs go the way of all errors.
    if (!(error instanceof Problem)) throw error
    return toolError(id, error.message)
  }
}

/** What a key may not do is not offered to its model. */
function toolsFor(caller: RagCall['caller']): [string, Tool][] {
  return Object.entries(tools).filter(([, tool]) => mayUse(caller, tool))
}

function mayUse({ scopes }: RagCall['caller'], { isReadOnly }: Tool): boolean {
  return isReadOnly || hasScope(scopes, RAG_POLICY.scope)
}

function success(id: string | number, result: object): object {
  return { jsonrpc: '2.0', id, result }
}

function toolError(id: string | number, message: string): object {
  return success(id, { content: [{ type: 'text', text: message }], isError: true })
}

function failure(id: string | number | null, code: number, message: string): object {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

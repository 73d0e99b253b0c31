// `/mcp`, streamable HTTP: each POST is answered with JSON, or late as a stream of one event. Also
// serves the metadata of RFC 9728, to which every 401 points. It names no authorization server
// while there is none.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { readOrigin } from '#ai/call-origin.ts'
import { sendEventStream, withinMs } from '#ai/stream-encoder.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { textBodyBytesMax } from '#platform/http/bodies.ts'
import { clientGone } from '#platform/http/client.ts'
import type { Described } from '#platform/http/openapi.ts'
import { formatDetail } from '#platform/http/replies.ts'
import { JsonObject, NamedObject } from '#platform/http/schema.ts'
import { streamProblem } from '#platform/http/sse.ts'
import { parseJson } from '#platform/json.ts'
import { platformProblem } from '#platform/problems.ts'
import type { RagDeps } from '../deps.ts'
import { RAG } from '../mounts.ts'
import { ragProblem } from '../problems.ts'
import { METHOD_NAMES, respond } from './methods.ts'
import { failure, INTERNAL_ERROR, noJson, RpcError, readId, readMessage } from './protocol.ts'
import { TEXT_BYTES_MAX } from './tools.ts'

/** For the description only: the protocol has separate errors for invalid messages. */
const Id = { type: ['string', 'integer', 'null'] }
const Reply = NamedObject(
  'JsonRpcReply',
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Unsafe<unknown>(Id),
    result: Type.Optional(JsonObject),
    error: Type.Optional(
      NamedObject('JsonRpcError', {
        code: Type.Integer(),
        message: Type.String(),
        data: Type.Optional(JsonObject),
      }),
    ),
  },
  { description: 'Has a `result` or an `error`.' },
)
const named = METHOD_NAMES.map((name) => `\`${name}\``).join(', ')
const ofModern = 'Since 2026-07-28 required, and the same as in the body.'
const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  description,
  schema: { type: 'string' },
})
const MESSAGES: Described = {
  parameters: [
    header(
      'MCP-Protocol-Version',
      'The version that the message is of; left out: one with `initialize`.',
    ),
    header('Mcp-Method', ofModern),
    header(
      'Mcp-Name',
      `Of \`tools/call\` and \`resources/read\`: the tool or the URI. ${ofModern}`,
    ),
  ],
  body: {
    'application/json': NamedObject(
      'JsonRpcRequest',
      {
        jsonrpc: Type.Literal('2.0'),
        id: Type.Optional(Type.Unsafe<unknown>(Id)),
        method: Type.String({ description: `${named}, or a notification.` }),
        params: Type.Optional(JsonObject),
      },
      { description: 'A message without an `id` is a notification.' },
    ),
  },
  replies: {
    200: {
      description:
        'The reply; a slow reply is a stream of one event, if the client accepts streams.',
      content: { 'application/json': Reply, 'text/event-stream': { type: 'string' } },
    },
    202: { description: 'A notification was accepted.' },
    400: { description: 'Not a message of the protocol.', content: { 'application/json': Reply } },
    404: { description: 'No such method.', content: { 'application/json': Reply } },
  },
}

const ProtectedResource = NamedObject('ProtectedResource', {
  resource: Type.String({ format: 'uri' }),
  resource_name: Type.String(),
  scopes_supported: Type.Array(Type.String()),
  bearer_methods_supported: Type.Array(Type.String()),
})

/** Replaces a body that is no JSON, so that the protocol's error is returned. */
const NO_JSON = Symbol('no JSON')

export function mcpRoutes(app: App, deps: RagDeps): void {
  const resource = new URL('/mcp', deps.urls.base).href
  const metadata = new URL('/.well-known/oauth-protected-resource/mcp', deps.urls.base).href
  const origins = [deps.urls.base, deps.urls.frontend].map((url) => new URL(url).origin)
  const isForeign = ({ headers: { origin } }: FastifyRequest) =>
    origin !== undefined && !origins.includes(origin)

  void app.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser(
      'application/json',
      { parseAs: 'string' },
      async (_: FastifyRequest, body: string) => {
        try {
          return parseJson(body)
        } catch {
          return NO_JSON
        }
      },
    )
    // Without a credential or a permission, the reply names where to get one, but not to other sites.
    scope.setErrorHandler((error, request, reply) => {
      if (platformProblem.is(error, 'unauthenticated')) {
        if (isForeign(request)) throw ragProblem('origin_refused')
        const { authorization, 'x-api-key': key } = request.headers
        const fault = authorization === undefined && key === undefined ? null : 'invalid_token'
        throw platformProblem('unauthenticated', {
          headers: { 'WWW-Authenticate': challenge(fault) },
        })
      }
      if (platformProblem.is(error, 'scope_missing')) {
        reply.header('www-authenticate', challenge('insufficient_scope'))
      }
      throw error
    })

    scope.post(
      '/mcp',
      {
        schema: {
          operationId: 'callMcp',
          tags: ['mcp'],
          summary: 'Model Context Protocol',
          description:
            'Configure clients with this address, and with an API key as the bearer token.',
        },
        config: { ...RAG.readPolicy, described: MESSAGES },
        // The limit applies to the text, which `ingest` checks; its JSON is larger.
        bodyLimit: textBodyBytesMax(Math.min(TEXT_BYTES_MAX, deps.maxTextBytes)),
      },
      async (request, reply) => {
        requireOwnPage(request)
        reply
          .header('cache-control', 'no-store')
          .type('application/json')
          .serializer((body: unknown) => JSON.stringify(body))
        const { body } = request
        try {
          if (body === NO_JSON || body === undefined) throw noJson()
          const message = readMessage(body, request.headers)
          if (message === null) return reply.status(202).removeHeader('content-type').send()
          const call = {
            caller: requireCaller(request),
            route: '/mcp',
            signal: clientGone(reply),
            origin: readOrigin(reply),
          }
          const answering = respond(deps, call, message)
          const isPatient = !request.headers.accept?.includes('text/event-stream')
          if (isPatient) return await answering
          return (
            (await withinMs(deps.gateway.silenceMs, answering)) ??
            (await sendLate(request, reply, answering))
          )
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          return reply.status(error.status).send(failure(readId(body), error))
        }
      },
    )
    for (const method of ['GET', 'DELETE'] as const) {
      scope.route({
        method,
        url: '/mcp',
        schema: { hide: true },
        config: RAG.readPolicy,
        handler: async (request, reply) => {
          requireOwnPage(request)
          reply.header('allow', 'POST')
          throw ragProblem('method_not_allowed')
        },
      })
    }
  })

  // Section 3.1 puts it before the path; clients of 2025-06-18 request it without one.
  for (const path of ['', '/mcp']) {
    app.get(
      `/.well-known/oauth-protected-resource${path}`,
      {
        schema: {
          ...(path === '' ? { hide: true } : {}),
          operationId: path === '' ? 'getProtectedResourceOfServer' : 'getProtectedResource',
          tags: ['mcp'],
          summary: 'How `/mcp` is protected (RFC 9728)',
          response: { 200: ProtectedResource },
        },
        config: { access: 'anyone' },
      },
      async (_request, reply) => {
        reply.header('cache-control', 'public, max-age=300')
        return {
          resource,
          resource_name: `${deps.brand.name} documents`,
          scopes_supported: [RAG.policy.scope],
          bearer_methods_supported: ['header'],
        }
      },
    )
  }

  /** Proxies give up on a silent reply: a slow one is a stream of one event with keep-alives. */
  function sendLate(
    request: FastifyRequest,
    reply: FastifyReply,
    answering: Promise<object>,
  ): Promise<FastifyReply> {
    return sendEventStream(
      reply,
      0,
      answering,
      () => ({}),
      async (events, answer) => {
        await events.data(answer)
        events.end()
      },
      (error) =>
        `data: ${JSON.stringify(failure(readId(request.body), asRpcError(error, request)))}\n\n`,
    )
  }

  /** RFC 6750, section 3, with RFC 9728, section 5.1. */
  function challenge(error: 'invalid_token' | 'insufficient_scope' | null): string {
    const challengeParameters = [`scope="${RAG.policy.scope}"`, `resource_metadata="${metadata}"`]
    return `Bearer ${[...(error === null ? [] : [`error="${error}"`]), ...challengeParameters].join(', ')}`
  }

  /** A page must not call this through an address of the machine (DNS rebinding) without a key. */
  function requireOwnPage(request: FastifyRequest): void {
    if (isForeign(request) && requireCaller(request).keyId === null)
      throw ragProblem('origin_refused')
  }
}

/** For failures after the reply's status was sent. */
function asRpcError(error: unknown, { id, log }: FastifyRequest): RpcError {
  if (error instanceof RpcError) return error
  const problem = streamProblem(error, id)
  if (problem.status >= 500)
    log.error({ err: error, code: problem.code, reqId: id }, 'a request failed')
  return new RpcError(INTERNAL_ERROR, formatDetail(problem))
}

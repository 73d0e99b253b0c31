/**
 * Creates an HTTP server with request ids, headers, body limits, validation, access control and
 * error replies. Each route declares a schema and a policy (`config: { access, needs, limit, scope
 * }`). A route without `access` or `operationId` stops the start.
 */
import { randomUUID } from 'node:crypto'
import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import cookie from '@fastify/cookie'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastJson from 'fast-json-stringify'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
  type RouteOptions,
} from 'fastify'
import type { Config } from '#config/config.ts'
import { markLongIntegers } from '../exact-json.ts'
import { checkJsonSize } from '../json.ts'
import type { Platform } from '../platform.ts'
import { malformedJson, platformProblem } from '../problems.ts'
import {
  AccessControl,
  type Authenticators,
  type Entitlements,
  type Limits,
} from './access-control.ts'
import { type BodyAdmission, judgeBeforeContinue } from './bodies.ts'
import type { ConnectionLimit } from './connections.ts'
import { allowOrigins } from './cross-origin.ts'
import { securityHeaders } from './headers.ts'
import { isApiRequest, isApiRoute, readRoutePath } from './path.ts'
import { pacePipelines } from './pipelining.ts'
import { type ErrorShape, replyWithError } from './replies.ts'
import { logRequests } from './request-log.ts'
import { traceRequests } from './tracing.ts'
import { validatorCompiler } from './validation.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export const MEGABYTE = 1024 * 1024

/**
 * An idle connection costs about 20 KB. Beyond this number new ones are closed at once, so that a
 * balancer uses another node.
 */
export const CONNECTIONS_MAX = 10_000

/** `draining`: the process is stopping and accepts no new work. */
export type ServiceState = { draining: boolean }

export type AppOptions = {
  authenticators: Authenticators
  entitlements: Entitlements
  /** The rooms' buckets; `general` always exists. */
  limits: Limits
  /**
   * The API's paths. They count in `general` unless their route sets another bucket, and clients
   * must not cache their replies.
   */
  api: RegExp
  /** Paths whose routes must declare `access` and `operationId`. */
  documented: RegExp
  /** The public address; https adds HSTS. */
  url: string
  /**
   * The origin of the user app when it differs from this server's. Undefined: no cross-origin
   * access.
   */
  appOrigin?: string | null
  /**
   * Receives the pattern of the matching route, or the requested path without one, and the
   * request's headers.
   */
  errorsOf(path: string, headers: IncomingHttpHeaders): ErrorShape
  /** While the process drains, every reply makes its client reconnect. */
  state: ServiceState
  /** The limit of requests in flight, shared by all servers of a process. */
  bodies: BodyAdmission
  connections: ConnectionLimit
  /**
   * True when every route may use cookies. Otherwise the routes that need the plugin register it.
   */
  cookies?: boolean
}

export async function createApp(
  platform: Pick<Platform, 'config' | 'limiter' | 'log' | 'metrics' | 'tracer'>,
  {
    authenticators,
    entitlements,
    api,
    documented,
    url,
    appOrigin,
    errorsOf,
    state,
    bodies,
    connections,
    cookies = false,
    limits: roomLimits,
  }: AppOptions,
): Promise<App> {
  const { config, limiter, log, metrics, tracer } = platform
  const { requestLog } = config.telemetry
  const limits = { general: config.limits.general, ...roomLimits }
  const { hook: controlAccess } = new AccessControl({
    limiter,
    limits,
    authenticators,
    entitlements,
    api,
  })
  const secure = securityHeaders({ https: url.startsWith('https:') })

  /** Headers of every reply. */
  function dress(request: FastifyRequest, reply: FastifyReply): void {
    secure(reply)
    reply.header('x-request-id', request.id)
    if (state.draining) reply.header('connection', 'close')
    if (isApiRequest(request, request.routeOptions.config ?? {}, api))
      reply.header('cache-control', 'no-store')
  }

  const app = Fastify({
    loggerInstance: childless(log) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: trusted(config.http.trustProxy),
    bodyLimit: MEGABYTE,
    // A slow client has 20 s for its headers; bodies.ts limits the time of its body. These two
    // options are set here because Fastify would override them inside `http`.
    requestTimeout: bodies.requestTimeoutMs,
    keepAliveTimeout: 72_000,
    http: { headersTimeout: 20_000, maxHeaderSize: 16_384 },
    routerOptions: { maxParamLength: 512 },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => refuseMalformed(error, socket, errorsOf('/', {})),
    // Requests with a malformed address bypass all hooks.
    frameworkErrors(error, request, reply) {
      dress(request, reply as FastifyReply)
      controlAccess(request, reply as FastifyReply, (refused) =>
        replyWithError(
          errorsOf(readRoutePath(request), request.headers),
          refused ?? error,
          request,
          reply as FastifyReply,
        ),
      )
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  app.server.maxConnections = CONNECTIONS_MAX
  connections.watch(app.server)
  judgeBeforeContinue(app.server)
  pacePipelines(app.server)
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(compileSerializer)

  app.addHook('onRoute', requireRoutePolicy(documented, limits))
  app.addHook('onRoute', bodies.checkRoute)
  app.addHook('onRoute', (route) => {
    const isApi = isApiRoute(route.url, api)
    route.config = {
      ...route.config,
      isApi,
      limit: route.config?.limit ?? (isApi ? 'general' : undefined),
    }
  })
  app.decorateRequest('caller', null)
  if (tracer) traceRequests(app, tracer)
  if (requestLog !== 'off') logRequests(app, log, { addresses: requestLog === 'addresses' })

  app.addHook('onRequest', (request, reply, done) => {
    dress(request, reply)
    if (hasOneHost(request.raw)) done()
    else done(platformProblem('bad_http'))
  })
  if (appOrigin !== undefined) allowOrigins(app, { appOrigin, apiKey: authenticators.apiKey, api })
  parseJsonBodies(app)

  if (cookies) await app.register(cookie)
  app.addHook('onRequest', controlAccess)
  app.addHook('onRequest', (request, _reply, done) => {
    connections.release(request)
    done()
  })
  app.addHook('onRequest', bodies.admit)

  observeReplies(app, { log, metrics })

  app.setErrorHandler((error, request, reply) =>
    replyWithError(errorsOf(readRoutePath(request), request.headers), error, request, reply),
  )
  app.setNotFoundHandler((request, reply) =>
    replyWithError(
      errorsOf(readRoutePath(request), request.headers),
      platformProblem('not_found'),
      request,
      reply,
    ),
  )
  return app as unknown as App
}

/**
 * Many clients send the JSON content type on every POST, even without a body. An empty body counts
 * as no body, not as malformed JSON.
 */
function parseJsonBodies(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = String(body)
    if (text === '') return done(null, undefined)
    try {
      checkJsonSize(text)
    } catch (cause) {
      return done(malformedJson(cause))
    }
    if (!request.routeOptions.config.passesOn) return parseJson(request, text, done)
    const { marked, restore } = markLongIntegers(text)
    return parseJson(request, marked, (error, value) =>
      error ? done(error) : done(null, restore(value)),
    )
  })
}

/** Measures each reply, and logs it at `debug`. */
function observeReplies(app: App, { log, metrics }: Pick<Platform, 'log' | 'metrics'>): void {
  const debugging = log.isLevelEnabled('debug')
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    metrics.requests.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1_000)
    if (request.refusedBy !== undefined)
      metrics.refusals(request.refusedBy, reply.statusCode).value++
    if (debugging) {
      log.debug(
        {
          reqId: request.id,
          method: request.method,
          route,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
        },
        'request',
      )
    }
    done()
  })
}

/**
 * RFC 9112, 3.2: with two Host headers, a proxy may use one and Node the other. Node itself rejects
 * a missing one.
 */
function hasOneHost({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count <= 1
}

type Stringify = (value: unknown) => string

/** Compiles a schema's serializer when the first reply needs it. */
function compileSerializer({ schema }: { schema: unknown }): Stringify {
  let stringify: Stringify | null = null
  return (value) => {
    stringify ??= buildStringify(schema as object)
    return stringify(value)
  }
}

/** Serializers, compiled at the first reply of a schema and shared by all routes of the process. */
const stringifiers = new WeakMap<object, Stringify>()

function buildStringify(schema: object): Stringify {
  const known = stringifiers.get(schema)
  if (known) return known
  const stringify = fastJson(schema as Parameters<typeof fastJson>[0])
  stringifiers.set(schema, stringify)
  return stringify
}

/**
 * Hops are counted from the socket. With one proxy, the client's address is the last one in the
 * header.
 */
function trusted(proxies: Config['http']['trustProxy']) {
  // Fastify would interpret a number as "trust nobody".
  if (typeof proxies === 'number') return (_address: string, hop: number) => hop < proxies
  return proxies === false ? false : [...proxies]
}

/**
 * A child logger per request costs a fifth of a small request's time, so log lines name the
 * request's id themselves. At `info`, Fastify only logs its address, which the start message
 * already shows.
 */
function childless(log: Platform['log']): Platform['log'] {
  const logger: Platform['log'] = Object.create(log, {
    child: { value: () => logger },
    info: { value: () => {} },
  })
  return logger
}

/**
 * Returns an onRoute hook that throws for API routes without an access policy or an operation id.
 */
function requireRoutePolicy(documented: RegExp, limits: Limits): (route: RouteOptions) => void {
  const named = new Set<string>()
  return ({ method, url, config, schema }) => {
    const { limit = 'none' } = config ?? {}
    if (limit !== 'none' && !(limit in limits))
      throw new Error(`${method} ${url} counts in a bucket of nobody: ${limit}`)
    if (!documented.test(url) || method === 'HEAD' || method === 'OPTIONS') return
    if (config?.access === undefined)
      throw new Error(`${method} ${url} does not say who may call it (config.access)`)
    if (schema?.hide) return
    const name = schema?.operationId
    if (name === undefined) throw new Error(`${method} ${url} has no name (schema.operationId)`)
    if (named.has(name)) throw new Error(`${method} ${url} has the name of another route: ${name}`)
    named.add(name)
  }
}

/** Replies to bytes that are not HTTP or arrive too slowly. They never reach a route. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, errors: ErrorShape): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = platformProblem(
    error.code === 'HPE_HEADER_OVERFLOW'
      ? 'headers_too_large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request_timeout'
        : 'bad_http',
  )
  const body = JSON.stringify(errors.body(problem))
  const { status } = problem
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${randomUUID()}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/**
 * Admission of request bodies: limits the bytes in flight of the process and of each caller, and
 * how slowly a body may arrive. With a Content-Length, the body is accepted or rejected before any
 * of it is read. A body without a length, or a compressed one, reserves memory in steps of a
 * megabyte as it arrives or unpacks.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type {
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  preParsingHookHandler,
  RouteOptions,
} from 'fastify'
import type { Config } from '#config/config.ts'
import type { Clock } from '../clock.ts'
import type { Problem } from '../problem.ts'
import { platformProblem } from '../problems.ts'
import { addressKey } from './address.ts'
import { readEncoding, unpacked } from './packed-bodies.ts'

const MEGABYTE = 1024 * 1024

/** A body must arrive within this time, plus one second for each 100 KB. */
const ARRIVAL_MS = 60_000
const BYTES_PER_SECOND = 100_000

/**
 * The minimum that each body counts, because its socket and parser use memory even for one byte.
 */
const FLOOR_BYTES = 16 * 1024
/**
 * Bodies up to this size are small. It is enough for requests without an account: forms and the
 * payment processor's events.
 */
const SMALL_BYTES = 64 * 1024

/** A body without a length reserves memory in steps of this size. */
const STEP_BYTES = MEGABYTE
/** Memory for smaller bodies, in addition to the longest body. */
const SMALL_BODIES_BYTES = 4 * MEGABYTE
/**
 * Maximum bytes of one user's larger bodies together; further ones are rejected. A text that is
 * read and parsed needs four times its size.
 */
const LARGE_BODIES_BYTES = 64 * MEGABYTE + SMALL_BODIES_BYTES

const SWEEP_MS = 1_000
const RETRY_AFTER_S = 5

/**
 * How long a rejected client may continue to send before its connection closes. If the connection
 * stays open, the limit is `ARRIVAL_MS`.
 */
const LINGER_MS = 5_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `packed`: bodies may be compressed. `uncounted`: no admission control, for routes that only
     * this machine can call, and for a superuser's files, which go to the disk as they arrive.
     */
    bodies?: 'packed' | 'uncounted'
    /** JSON bodies are passed on unchanged: integers keep all their digits (exact-json.ts). */
    passesOn?: boolean
  }
}

/**
 * Returns the maximum size of a JSON body that carries a text of `textBytes`. JSON escapes quotes
 * and line ends with two bytes; a client that escapes all non-ASCII characters triples the size.
 * Doubling is always accepted. Tripling is accepted up to 64 MB, because the whole body is in
 * memory.
 */
export function textBodyBytesMax(textBytes: number): number {
  return Math.max(2 * textBytes, Math.min(3 * textBytes, 64 * MEGABYTE)) + MEGABYTE
}

type AdmissionDeps = {
  config: Pick<Config, 'maxTextBytes' | 'maxFileBytes' | 'maxAiBodyBytes'>
  clock: Clock
}

/**
 * All servers of a process share one instance. A user may use half of the total, and an anonymous
 * address an eighth. All anonymous clients together may use half, and their large bodies a quarter.
 * So they cannot block users or other clients' small forms.
 */
export class BodyAdmission {
  readonly #clock: Clock
  readonly #longestBytes: number
  readonly #totalBytesMax: number
  readonly #bytesByCaller = new Map<string, number>()
  #totalBytes = 0
  #anonymousBytes = 0
  readonly #arriving = new Set<Arrival>()
  #sweeping: NodeJS.Timeout | null = null

  constructor({ config, clock }: AdmissionDeps) {
    this.#clock = clock
    this.#longestBytes = Math.max(
      textBodyBytesMax(config.maxTextBytes),
      config.maxFileBytes + MEGABYTE,
      config.maxAiBodyBytes,
    )
    this.#totalBytesMax = 2 * (this.#longestBytes + SMALL_BODIES_BYTES)
  }

  /** Request timeout of the HTTP server: longer than any body may take, plus the headers. */
  get requestTimeoutMs(): number {
    return arrivalMs(this.#longestBytes) + 30_000
  }

  /** An onRoute hook. @throws Error for a route whose body limit exceeds the longest known body. */
  readonly checkRoute = (route: RouteOptions): void => {
    const { method, url, bodyLimit = 0, config: policy } = route
    if (policy?.bodies === 'packed') route.preParsing = unpack
    if (bodyLimit > this.#longestBytes && policy?.bodies !== 'uncounted')
      throw new Error(
        `${method} ${url} takes bodies of ${bodyLimit} bytes: bodies.ts allows ${this.#longestBytes} at most`,
      )
  }

  /**
   * An onRequest hook. Runs after access control, when the caller is known and the body is unread.
   */
  readonly admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void => {
    const length = request.raw.headers['content-length']
    try {
      if (
        hasBody(request.raw) &&
        !this.#enter(request, reply, length === undefined ? null : Number(length))
      ) {
        done(busy())
        return
      }
      if (awaitingContinue.has(request.raw)) reply.raw.writeContinue()
      done()
    } catch (refusal) {
      done(refusal as Problem)
    }
  }

  /** Returns false when there is no room. @throws Problem 415 */
  #enter(request: FastifyRequest, reply: FastifyReply, length: number | null): boolean {
    const { bodyLimit, config: policy } = request.routeOptions
    if (policy?.bodies === 'uncounted') return true

    const { caller, raw } = request
    const isPacked = readEncoding(raw, policy?.bodies === 'packed') !== null
    const isAnonymous = caller === null
    const key = caller ? caller.userId : addressKey(request.ip)
    // The body's reader rejects a body over the limit by its length, except for forms, whose parts
    // have separate limits.
    const declared = length !== null && length <= bodyLimit ? length : null
    const known = isPacked ? null : declared
    let bytes = Math.max(FLOOR_BYTES, known ?? Math.min(STEP_BYTES, bodyLimit))
    // Most bodies arrive with their headers. They are complete by the next turn of the event loop
    // and need no watching.
    const begun = { begunMs: this.#clock.ms(), begunBytes: raw.socket.bytesRead }
    setImmediate(() => this.#watch({ request, reply, declared, ...begun }))
    if (!this.#hasRoom(key, bytes, isAnonymous)) return false
    this.#charge(key, bytes, isAnonymous)

    // The bytes are released when the reply ends.
    reply.raw.once('close', () => this.#charge(key, -bytes, isAnonymous))
    if (known !== null) return true

    const makeRoom = (arrived: number): boolean => {
      if (arrived <= bytes) return true
      const more = Math.min(bodyLimit, arrived + STEP_BYTES) - bytes
      if (!this.#hasRoom(key, more, isAnonymous, bytes)) return false
      this.#charge(key, more, isAnonymous)
      bytes += more
      return true
    }
    if (isPacked) rooms.set(request, makeRoom)
    else countArriving(request, reply, bodyLimit, makeRoom)
    return true
  }

  /** `bodyBytes`: the bytes already reserved for this body. */
  #hasRoom(key: string, bytes: number, isAnonymous: boolean, bodyBytes = 0): boolean {
    const own = (this.#bytesByCaller.get(key) ?? 0) + bytes
    const body = bodyBytes + bytes
    if (body > SMALL_BODIES_BYTES && own - body > SMALL_BODIES_BYTES && own > LARGE_BODIES_BYTES)
      return false
    if (this.#totalBytes + bytes > this.#totalBytesMax) return false
    if (own > this.#totalBytesMax / (isAnonymous ? 8 : 2)) return false
    const anonymousShare = this.#totalBytesMax / (bytes > SMALL_BYTES ? 4 : 2)
    return !isAnonymous || this.#anonymousBytes + bytes <= anonymousShare
  }

  #charge(key: string, bytes: number, isAnonymous: boolean): void {
    this.#totalBytes += bytes
    if (isAnonymous) this.#anonymousBytes += bytes
    const left = (this.#bytesByCaller.get(key) ?? 0) + bytes
    if (left > 0) this.#bytesByCaller.set(key, left)
    else this.#bytesByCaller.delete(key)
  }

  #watch(arrival: Arrival): void {
    if (hasArrived(arrival)) return
    this.#arriving.add(arrival)
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  #sweep(): void {
    for (const arrival of this.#arriving) {
      if (hasArrived(arrival)) this.#arriving.delete(arrival)
      else if (this.#clock.ms() - arrival.begunMs > arrivalMs(estimateBytes(arrival))) {
        this.#arriving.delete(arrival)
        cut(arrival, platformProblem('request_timeout'))
      }
    }
    if (this.#arriving.size > 0 || this.#sweeping === null) return
    clearInterval(this.#sweeping)
    this.#sweeping = null
  }
}

/**
 * Reserves memory for a body without a length as it arrives, and rejects it when there is no memory
 * left.
 */
function countArriving(
  request: FastifyRequest,
  reply: FastifyReply,
  bodyLimit: number,
  makeRoom: (arrived: number) => boolean,
): void {
  const { raw } = request
  let arrived = 0
  const count = (chunk: Buffer) => {
    arrived += chunk.length
    // Over the limit, the body's reader has already rejected the request.
    if (arrived > bodyLimit) raw.off('data', count)
    else if (!makeRoom(arrived)) {
      raw.off('data', count)
      cut({ request, reply }, busy())
    }
  }
  // Without the pause, adding this listener would start the stream before the body's reader
  // listens.
  raw.pause()
  raw.on('data', count)
  reply.raw.once('close', () => raw.off('data', count))
}

/** Requests whose clients wait for `100 Continue`. */
const awaitingContinue = new WeakSet<IncomingMessage>()

/**
 * `Expect: 100-continue` (RFC 9110, 10.1.1): a rejected client receives the error instead of `100
 * Continue`, before it sends the body.
 */
export function judgeBeforeContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    awaitingContinue.add(request)
    server.emit('request', request, response)
  })
}

/**
 * For each request with a compressed body: the function that reserves memory for unpacked bytes. It
 * returns false when there is none left.
 */
const rooms = new WeakMap<FastifyRequest, (bytes: number) => boolean>()

/** The preParsing hook of routes that accept compressed bodies. */
const unpack: preParsingHookHandler = (request, reply, payload, done) => {
  const makeRoom = rooms.get(request)
  const encoding = makeRoom ? readEncoding(request.raw, true) : null
  if (!makeRoom || encoding === null) {
    done(null, payload)
    return
  }
  const { bodyLimit } = request.routeOptions
  const judge = (bytes: number) =>
    bytes > bodyLimit ? platformProblem('body_too_large') : makeRoom(bytes) ? null : busy()
  const body = unpacked(request.raw, encoding, judge)
  // The reserved memory is released when the reply closes, so unpacking must stop too.
  reply.raw.once('close', () => body.destroy())
  done(null, body)
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['content-length']
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}

type Arrival = {
  request: FastifyRequest
  reply: FastifyReply
  declared: number | null
  begunMs: number
  begunBytes: number
}

const arrivalMs = (bytes: number) => ARRIVAL_MS + Math.ceil(bytes / BYTES_PER_SECOND) * 1_000

const hasArrived = ({ request: { raw } }: Arrival) =>
  raw.complete || raw.destroyed || raw.socket.destroyed

const estimateBytes = ({ declared, request: { raw }, begunBytes }: Arrival) =>
  declared ?? raw.socket.bytesRead - begunBytes

/**
 * Reports the error to the body's reader, which then handles it like any broken body. If the reply
 * was already sent, only closes the connection.
 */
function cut({ request: { raw }, reply }: Pick<Arrival, 'request' | 'reply'>, why: Problem): void {
  if (reply.sent) {
    raw.socket.destroy()
    return
  }
  reply.header('connection', 'close')
  if (raw.listenerCount('error') > 0) raw.emit('error', why)
  else reply.send(why)
  // Sends the reply first, then closes the connection of a client that does not read it.
  setTimeout(() => raw.socket.destroy(), LINGER_MS).unref()
}

/** When a rejected request has a longer body than this, its connection closes after the reply. */
const DISCARD_BYTES_MAX = 2 * MEGABYTE

/**
 * Handles a reply sent before its request is complete. Closing with unread bytes resets the
 * connection, and a client that is still sending would never see the reply. On a connection that
 * stays open, unread bytes would precede the next request. So the rest of the body is read and
 * discarded, with a time limit.
 */
export function lingerAfterReply(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  if (Number(request.headers['content-length'] ?? 0) > DISCARD_BYTES_MAX)
    response.shouldKeepAlive = false
  // The server calls this after the last reply of a connection.
  socket.destroySoon = () => {
    Reflect.deleteProperty(socket, 'destroySoon')
    if (request.complete) return socket.destroySoon()
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
  // Runs before the server's own listener, which would read the rest at full speed.
  response.prependOnceListener('finish', () => {
    // A small body has arrived by now.
    if (request.complete || !socket.writable) return
    discardBody(request)
    refused++
    const giveUp = setTimeout(() => socket.destroy(), ARRIVAL_MS).unref()
    const over = () => {
      refused--
      clearTimeout(giveUp)
      socket.off('close', over)
      request.off('end', over)
    }
    socket.once('close', over)
    request.once('end', over)
  })
}

/**
 * Reads and discards the rest of a body, also after a reader has stopped early, as a form parser
 * does at the first error.
 */
function discardBody(request: IncomingMessage): void {
  request.unpipe().removeAllListeners('data')
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  // Small bodies are read without delay, so that their clients see the reply even during a flood.
  if (length > SMALL_BYTES) request.on('data', limitDiscardRate(request))
  request.resume()
}

/**
 * Bytes per second that all rejected clients together may still send, so that a flood does not
 * starve other clients.
 */
const DISCARD_BYTES_PER_S = 16 * MEGABYTE
/**
 * The rate for up to `FEW_CLIENTS` rejected clients. That is no flood, and each should see its
 * reply soon.
 */
const DISCARD_BYTES_PER_S_OF_FEW = 50 * MEGABYTE
const FEW_CLIENTS = 32
/** Number of rejected clients whose bodies are being discarded. */
let refused = 0
/**
 * Shorter waits are skipped. In a flood, a client whose wait would be longer than the maximum is
 * disconnected, because a waiting client's bytes stay in memory.
 */
const WAIT_MS_MIN = 10
const WAIT_MS_MAX = 2_000
let discardingUntilMs = 0

/**
 * Returns a `data` listener that delays chunks so that all rejected clients together stay within
 * the rate.
 */
function limitDiscardRate(request: IncomingMessage): (chunk: Buffer) => void {
  return ({ length }) => {
    const nowMs = performance.now()
    const isFlood = refused > FEW_CLIENTS
    const pace = isFlood ? DISCARD_BYTES_PER_S : DISCARD_BYTES_PER_S_OF_FEW
    const turnMs = Math.max(nowMs, discardingUntilMs) + (length / pace) * 1_000
    const waitMs = turnMs - nowMs
    if (isFlood && waitMs > WAIT_MS_MAX) {
      request.socket.destroy()
      return
    }
    discardingUntilMs = turnMs
    if (waitMs < WAIT_MS_MIN) return
    request.pause()
    setTimeout(() => request.resume(), waitMs).unref()
  }
}

const busy = () => platformProblem('busy', { headers: { 'Retry-After': String(RETRY_AFTER_S) } })

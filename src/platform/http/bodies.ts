/**
 * Admission of request bodies: limits the bytes in flight of the process and of each caller, and
 * how slowly a body may arrive. Content-Length decides before a byte is read. A body without a
 * length, or a packed one, is charged as it arrives or unpacks, a megabyte ahead.
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

/** A body must arrive within this, and a second more for each 100 KB. */
const ARRIVAL_MS = 60_000
const BYTES_A_SECOND = 100_000

/** The least that a body counts: its socket and its parser are there even for one byte. */
const FLOOR_BYTES = 16 * 1024
/** Enough for requests without an account: forms, and the processor's events. */
const SMALL_BYTES = 64 * 1024

/** Bodies without a length are charged in steps of this size. */
const STEP_BYTES = MEGABYTE
/** Room for smaller bodies besides the longest one. */
const BESIDE_BYTES = 4 * MEGABYTE
/**
 * The memory that one user's larger bodies may hold together; further bodies wait. Read and parsed,
 * a text needs four times its size.
 */
const TOGETHER_BYTES = 64 * MEGABYTE + BESIDE_BYTES

const SWEEP_MS = 1_000
const RETRY_AFTER_S = 5

/**
 * How long a rejected client may continue to send when its connection will close. On a connection
 * that stays open, it has the time of a small body.
 */
const LINGER_MS = 5_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * `packed`: they may come compressed. `uncounted`: for routes that answer this machine alone.
     */
    bodies?: 'packed' | 'uncounted'
    /** JSON bodies are passed on unchanged: integers keep all their digits (exact-json.ts). */
    passesOn?: boolean
  }
}

/**
 * Of a JSON body with a text of so many bytes. JSON escapes enlarge a text: quotes and line ends
 * become two bytes, and a client that escapes all non-ASCII characters triples the size. The former
 * is always accepted, the latter up to a body of 64 MB, since it is held in memory whole.
 */
export function textBodyBytesMax(textBytes: number): number {
  return Math.max(2 * textBytes, Math.min(3 * textBytes, 64 * MEGABYTE)) + MEGABYTE
}

type AdmissionDeps = {
  config: Pick<Config, 'maxTextBytes' | 'maxFileBytes' | 'maxAiBodyBytes'>
  clock: Clock
}

/**
 * One instance for all servers of a process. A user may use half of the total, an address an
 * eighth. Anonymous clients together may use half, and a quarter with large bodies, so that they
 * cannot block users or the small forms of other clients.
 */
export class BodyAdmission {
  readonly #clock: Clock
  readonly #longestBytes: number
  readonly #wholeBytes: number
  readonly #held = new Map<string, number>()
  #totalBytes = 0
  #strangerBytes = 0
  readonly #arriving = new Set<Arrival>()
  #sweeping: NodeJS.Timeout | null = null

  constructor({ config, clock }: AdmissionDeps) {
    this.#clock = clock
    this.#longestBytes = Math.max(
      textBodyBytesMax(config.maxTextBytes),
      config.maxFileBytes + MEGABYTE,
      config.maxAiBodyBytes,
    )
    this.#wholeBytes = 2 * (this.#longestBytes + BESIDE_BYTES)
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

  /** An onRequest hook after access control: the caller is known, and the body is unread. */
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
      if (expectant.has(request.raw)) reply.raw.writeContinue()
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
    const isStranger = caller === null
    const key = caller ? caller.userId : addressKey(request.ip)
    // Long bodies are refused unread, except forms, whose parts have separate limits.
    const declared = length !== null && length <= bodyLimit ? length : null
    const known = isPacked ? null : declared
    let bytes = Math.max(FLOOR_BYTES, known ?? Math.min(STEP_BYTES, bodyLimit))
    // Most bodies arrive with their headers; by the next turn they are complete and need no watch.
    const begun = { begunMs: this.#clock.ms(), begunBytes: raw.socket.bytesRead }
    setImmediate(() => this.#watch({ request, reply, declared, ...begun }))
    if (!this.#hasRoom(key, bytes, isStranger)) return false
    this.#charge(key, bytes, isStranger)

    // The bytes count until the reply is over.
    reply.raw.once('close', () => this.#charge(key, -bytes, isStranger))
    if (known !== null) return true

    const makeRoom = (arrived: number): boolean => {
      if (arrived <= bytes) return true
      const more = Math.min(bodyLimit, arrived + STEP_BYTES) - bytes
      if (!this.#hasRoom(key, more, isStranger, bytes)) return false
      this.#charge(key, more, isStranger)
      bytes += more
      return true
    }
    if (isPacked) rooms.set(request, makeRoom)
    else countArriving(request, reply, bodyLimit, makeRoom)
    return true
  }

  /** `bodyBytes`: the bytes that the same body already holds. */
  #hasRoom(key: string, bytes: number, isStranger: boolean, bodyBytes = 0): boolean {
    const own = (this.#held.get(key) ?? 0) + bytes
    const body = bodyBytes + bytes
    if (body > BESIDE_BYTES && own - body > BESIDE_BYTES && own > TOGETHER_BYTES) return false
    if (this.#totalBytes + bytes > this.#wholeBytes) return false
    if (own > this.#wholeBytes / (isStranger ? 8 : 2)) return false
    const strangerShare = this.#wholeBytes / (bytes > SMALL_BYTES ? 4 : 2)
    return !isStranger || this.#strangerBytes + bytes <= strangerShare
  }

  #charge(key: string, bytes: number, isStranger: boolean): void {
    this.#totalBytes += bytes
    if (isStranger) this.#strangerBytes += bytes
    const left = (this.#held.get(key) ?? 0) + bytes
    if (left > 0) this.#held.set(key, left)
    else this.#held.delete(key)
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

/** Charges a body without a length as it arrives, and cuts it when there is no room. */
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
    // Past its limit, the reader has refused it.
    if (arrived > bodyLimit) raw.off('data', count)
    else if (!makeRoom(arrived)) {
      raw.off('data', count)
      cut({ request, reply }, busy())
    }
  }
  // A listener alone would start the flow before the body's reader listens.
  raw.pause()
  raw.on('data', count)
  reply.raw.once('close', () => raw.off('data', count))
}

/** Requests whose clients wait for `100 Continue`. */
const expectant = new WeakSet<IncomingMessage>()

/**
 * `Expect: 100-continue` (RFC 9110, 10.1.1): a refused client gets its refusal instead of the `100
 * Continue`, before it sends the body.
 */
export function judgeBeforeContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expectant.add(request)
    server.emit('request', request, response)
  })
}

/**
 * Reserves memory for the unpacked bytes of a compressed body; returns false when there is none.
 */
const rooms = new WeakMap<FastifyRequest, (bytes: number) => boolean>()

/** Of routes that take packed bodies. */
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
  // Its share is released then: nothing may be added after that.
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

const arrivalMs = (bytes: number) => ARRIVAL_MS + Math.ceil(bytes / BYTES_A_SECOND) * 1_000

const hasArrived = ({ request: { raw } }: Arrival) =>
  raw.complete || raw.destroyed || raw.socket.destroyed

const estimateBytes = ({ declared, request: { raw }, begunBytes }: Arrival) =>
  declared ?? raw.socket.bytesRead - begunBytes

/**
 * Reports the end to the reader of the body, so that it ends like any broken body; a reply that was
 * already sent needs no second one.
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

/**
 * A client rejected with much of its body unsent must open a new connection: the service does not
 * wait for the rest.
 */
const READ_ON_BYTES = 2 * MEGABYTE

/**
 * Handles a reply sent before its request is complete. Closing with unread bytes resets the
 * connection, so a client that is still sending never sees the reply. On a connection that stays
 * open, unread bytes would precede the next request. So the bytes are read and discarded for a
 * while.
 */
export function lingerAfterReply(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request
  if (Number(request.headers['content-length'] ?? 0) > READ_ON_BYTES)
    response.shouldKeepAlive = false
  // Called by the server after the last reply of a connection.
  socket.destroySoon = () => {
    Reflect.deleteProperty(socket, 'destroySoon')
    if (request.complete) return socket.destroySoon()
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
  // Ahead of the server's own listener: that would have all the rest read, as fast as it comes.
  response.prependOnceListener('finish', () => {
    // Small ones are there by now.
    if (request.complete || !socket.writable) return
    throwAway(request)
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

/** Also when a reader has stopped early, as a form parser does at the first error. */
function throwAway(request: IncomingMessage): void {
  request.unpipe().removeAllListeners('data')
  const length = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY)
  // A small one is read like any other: its client is to see the reply in a flood, too.
  if (length > SMALL_BYTES) request.on('data', slowly(request))
  request.resume()
}

/**
 * The bytes per second that all refused clients together may still send: a flood of them must not
 * starve others.
 */
const THROWN_AWAY_BYTES = 16 * MEGABYTE
/**
 * The rate for at most `FEW` rejected clients, which are no flood: each should see its reply in
 * time.
 */
const THROWN_AWAY_BYTES_OF_FEW = 50 * MEGABYTE
const FEW = 32
/** Number of clients whose bodies are being discarded. */
let refused = 0
/**
 * A shorter wait is none; and each that waits holds what it has sent, so that of a flood the rest
 * is cut off.
 */
const WAIT_MS_MIN = 10
const WAIT_MS_MAX = 2_000
let thrownAwayUntilMs = 0

/** Delays each chunk after all earlier ones, to keep the common rate. */
function slowly(request: IncomingMessage): (chunk: Buffer) => void {
  return ({ length }) => {
    const nowMs = performance.now()
    const isFlood = refused > FEW
    const pace = isFlood ? THROWN_AWAY_BYTES : THROWN_AWAY_BYTES_OF_FEW
    const turnMs = Math.max(nowMs, thrownAwayUntilMs) + (length / pace) * 1_000
    const waitMs = turnMs - nowMs
    if (isFlood && waitMs > WAIT_MS_MAX) {
      request.socket.destroy()
      return
    }
    thrownAwayUntilMs = turnMs
    if (waitMs < WAIT_MS_MIN) return
    request.pause()
    setTimeout(() => request.resume(), waitMs).unref()
  }
}

const busy = () => platformProblem('busy', { headers: { 'Retry-After': String(RETRY_AFTER_S) } })

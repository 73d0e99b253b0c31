// Admission of request bodies: how many bytes are in flight at once, for the process and for a caller, and how slowly they may come.
// Decided by the announced length before a byte is read; what hides its length counts as the longest body that its route takes.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import type { Config } from '../../config.ts'
import type { Clock } from '../clock.ts'
import { Problem } from '../problem.ts'
import { addressKey } from './address.ts'

const MEGABYTE = 1024 * 1024

/** A body must arrive within this, and a second more for each 100 KB. */
const ARRIVAL_MS = 60_000
const BYTES_A_SECOND = 100_000

/** The least that a body counts: its socket and its parser are there even for one byte. */
const FLOOR_BYTES = 16 * 1024
/** Nobody without an account has reason to send more: forms, and the processor's events. */
const SMALL_BYTES = 64 * 1024

const SWEEP_MS = 1_000
const RETRY_AFTER_S = 5

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `uncounted`: for routes that answer this machine alone. */
    bodies?: 'uncounted'
  }
}

export type BodyAdmission = ReturnType<typeof admitBodies>

/**
 * One for all servers of a process. Shares of the whole: a user may hold half, an address an eighth; strangers together
 * may fill half, with large bodies a quarter, so that they cannot keep users out, nor one another's small forms.
 */
export function admitBodies({
  config,
  clock,
}: {
  config: Pick<Config, 'maxTextBytes' | 'maxFileBytes'>
  clock: Clock
}) {
  const bodyBytesMax = Math.max(config.maxTextBytes, config.maxFileBytes, 32 * MEGABYTE) + MEGABYTE
  const wholeBytes = 4 * bodyBytesMax
  const held = new Map<string, number>()
  let total = 0
  let ofStrangers = 0

  const arriving = new Set<Arrival>()
  let sweeping: NodeJS.Timeout | null = null

  function hasRoom(key: string, bytes: number, isStranger: boolean): boolean {
    const own = (held.get(key) ?? 0) + bytes
    if (total + bytes > wholeBytes || own > wholeBytes / (isStranger ? 8 : 2)) return false
    return !isStranger || ofStrangers + bytes <= wholeBytes / (bytes > SMALL_BYTES ? 4 : 2)
  }

  function charge(key: string, bytes: number, isStranger: boolean): void {
    total += bytes
    if (isStranger) ofStrangers += bytes
    const left = (held.get(key) ?? 0) + bytes
    if (left > 0) held.set(key, left)
    else held.delete(key)
  }

  function watch(arrival: Arrival): void {
    if (hasArrived(arrival)) return
    arriving.add(arrival)
    sweeping ??= setInterval(sweep, SWEEP_MS).unref()
  }

  function sweep(): void {
    for (const arrival of arriving) {
      if (hasArrived(arrival)) arriving.delete(arrival)
      else if (clock.ms() - arrival.begunMs > arrivalMs(sizeOf(arrival))) {
        arriving.delete(arrival)
        cut(arrival)
      }
    }
    if (arriving.size > 0 || sweeping === null) return
    clearInterval(sweeping)
    sweeping = null
  }

  return {
    wholeBytes,
    /** For the server itself, past what any body may take: the headers' time is in it. */
    requestTimeoutMs: arrivalMs(bodyBytesMax) + 30_000,

    /** An onRequest hook behind the gate: the caller is known, and the body is not read. */
    admit(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
      const { headers } = request.raw
      const length = headers['content-length']
      const isEmpty = (length === undefined || length === '0') && headers['transfer-encoding'] === undefined
      if (isEmpty || enter(request, reply, length === undefined ? null : Number(length))) done()
      else done(busy())
    },
  }

  /** False: there is no room. */
  function enter(request: FastifyRequest, reply: FastifyReply, announced: number | null): boolean {
    const { bodyLimit, config: terms } = request.routeOptions
    // What is too long is refused as such, unread.
    if (terms?.bodies === 'uncounted' || (announced !== null && announced > bodyLimit)) return true

    const { caller, raw } = request
    const key = caller ? caller.userId : addressKey(request.ip)
    const bytes = Math.max(FLOOR_BYTES, announced ?? bodyLimit)
    // Most come in one packet with their headers, but are read after this: by then they are there, and nothing holds them.
    setImmediate(watch, { request, reply, announced, begunMs: clock.ms(), begunBytes: raw.socket.bytesRead })
    if (!hasRoom(key, bytes, caller === null)) return false

    charge(key, bytes, caller === null)
    // What was read of it is held until the reply is over.
    reply.raw.once('close', () => charge(key, -bytes, caller === null))
    return true
  }
}

type Arrival = {
  request: FastifyRequest
  reply: FastifyReply
  announced: number | null
  begunMs: number
  begunBytes: number
}

const arrivalMs = (bytes: number) => ARRIVAL_MS + Math.ceil(bytes / BYTES_A_SECOND) * 1_000

const hasArrived = ({ request: { raw } }: Arrival) => raw.complete || raw.destroyed || raw.socket.destroyed

const sizeOf = ({ announced, request: { raw }, begunBytes }: Arrival) => announced ?? raw.socket.bytesRead - begunBytes

/** Tells whoever reads the body, so that it ends as any broken body does; a reply that is out needs no second one. */
function cut({ request: { raw }, reply }: Arrival): void {
  if (reply.sent) {
    raw.socket.destroy()
    return
  }
  const late = new Problem('request_timeout', 408, 'The request took too long to arrive')
  reply.header('connection', 'close')
  if (raw.listenerCount('error') > 0) raw.emit('error', late)
  else reply.send(late)
  // The reply goes first; who does not take it either is left.
  setTimeout(() => raw.socket.destroy(), 5_000).unref()
}

function busy(): Problem {
  return new Problem('busy', 503, 'Too much is arriving at once: try again in a moment', {
    headers: { 'Retry-After': String(RETRY_AFTER_S) },
  })
}

// The connections to the vendors: one pool with keep-alive, three timeouts, and a strict difference
// between a cut and an end. Every failure is a VendorError, neither retried nor logged here. A
// caller's abort destroys the vendor's socket at once.
import type { Agent } from 'undici'
import { parseExactly } from '#platform/exact-json.ts'
import { lazyRequire } from '#platform/lazy-require.ts'
import type { Span } from '#platform/telemetry/tracer.ts'
import { ChunkSource, type ChunkStream } from './chunk-stream.ts'
import { splitEvents } from './event-stream.ts'
import { type AnswerLimits, dispatch, type ExchangeDeps, type Tracing } from './exchange.ts'
import { createReplyFailure } from './failures.ts'
import type { EventReader, ReplyHeaders, Vendor, VendorRequest } from './vendor.ts'
import { VendorError } from './vendor-error.ts'

/** `deadlineMs`: the time until an answer begins, for requests without their own limits. */
export type WireTimeouts = { connectTimeoutMs: number; deadlineMs: number; idleTimeoutMs: number }

export type Target = { vendor: Vendor; origin: string; pathPrefix: string }

/** `baseUrl` as in the vendors' SDKs: with or without a path or a slash at its end. */
export function createTarget(vendor: Vendor, baseUrl: string): Target {
  const url = new URL(baseUrl)
  return { vendor, origin: url.origin, pathPrefix: url.pathname.replace(/\/$/, '') }
}

/** Facts from a reply's head, also of failed requests. */
export type SeenReply = {
  vendorRequestId: string | null
  /** The span of the call. */
  readonly span?: Span | null
}

export type Wire = {
  /** Resolves with the parsed body of a 2xx. @throws VendorError, or the signal's reason */
  send(
    target: Target,
    request: VendorRequest,
    signal: AbortSignal,
    seen?: SeenReply,
    limits?: AnswerLimits,
  ): Promise<unknown>
  /** Resolves with the first chunk. @throws VendorError, or the signal's reason */
  open(
    target: Target,
    request: VendorRequest,
    reader: EventReader,
    signal: AbortSignal,
    seen?: SeenReply,
    limits?: AnswerLimits,
  ): Promise<ChunkStream>
  close(): Promise<void>
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024
/** Longer than most vendors keep a connection; an announced shorter time precedes. */
const KEEP_ALIVE_MS = 55_000

const undici = lazyRequire<typeof import('undici')>('undici')

/** `tracing`: null without a trace collector. */
export function openWire(timeouts: WireTimeouts, tracing: Tracing | null = null): Wire {
  let opened: Agent | null = null
  let connections = 0
  const agent = () => {
    opened ??= openAgent(timeouts, () => connections++)
    return opened
  }
  const defaultLimits = { headMs: timeouts.deadlineMs, answerMs: timeouts.deadlineMs }
  const deps = { agent, timeouts, tracing, connections: () => connections }

  return {
    send: (target, request, signal, seen, limits = defaultLimits) =>
      sendWhole(deps, target, request, signal, seen, limits),
    open: (target, request, reader, signal, seen, limits = defaultLimits) =>
      openStream(deps, target, request, reader, signal, seen, limits),
    close: async () => opened?.destroy(),
  }
}

function openAgent(timeouts: WireTimeouts, onConnection: () => void): Agent {
  const connector = undici().buildConnector({ allowH2: false, timeout: timeouts.connectTimeoutMs })
  return new (undici().Agent)({
    // HTTP/1.1: an abort closes the vendor's connection, which every vendor detects.
    allowH2: false,
    connect(options, callback) {
      connector(options, (...connected) => {
        onConnection()
        callback(...connected)
      })
    },
    // undici cannot distinguish a reasoning model from a broken stream, so silence is measured here.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
}

function sendWhole(
  deps: ExchangeDeps,
  target: Target,
  request: VendorRequest,
  signal: AbortSignal,
  seen: SeenReply | undefined,
  limits: AnswerLimits,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let status = 0
    let headers: ReplyHeaders = {}

    const exchange = dispatch(deps, target, request, signal, {
      limits,
      parent: seen?.span ?? null,
      onHead(code, replyHeaders) {
        status = code
        headers = replyHeaders
        if (seen) seen.vendorRequestId = readRequestId(replyHeaders)
        if (status < 200 || status > 299) exchange.markBegun()
      },
      onData(chunk) {
        if (bytes === 0) exchange.markBegun()
        bytes += chunk.length
        if (bytes > ANSWER_BYTES_MAX)
          exchange.fail(new VendorError('nonsense', 'answered without an end'))
        else chunks.push(chunk)
      },
      onEnd() {
        const text = (
          chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
        ).toString('utf8')
        if (status < 200 || status > 299) {
          reject(createReplyFailure(target.vendor, status, headers, text))
          return
        }
        try {
          resolve(parseExactly(text))
        } catch (cause) {
          reject(
            new VendorError('nonsense', 'answered with a body that is not valid JSON', {
              status,
              cause,
            }),
          )
        }
      },
      onFailure: reject,
    })
  })
}

function openStream(
  deps: ExchangeDeps,
  target: Target,
  request: VendorRequest,
  reader: EventReader,
  signal: AbortSignal,
  seen: SeenReply | undefined,
  limits: AnswerLimits,
): Promise<ChunkStream> {
  const { vendor } = target
  return new Promise((resolve, reject) => {
    let refusal: { status: number; headers: ReplyHeaders; chunks: Buffer[]; bytes: number } | null =
      null

    const stream = new ChunkSource(reader, {
      pause: () => exchange.pause(),
      resume: () => exchange.resume(),
      cancel: (reason) =>
        exchange.fail(reason instanceof Error ? reason : new Error('the reader broke off')),
    })

    const flush = () => {
      if (!stream.flush()) return
      exchange.markBegun()
      resolve(stream)
    }

    const events = splitEvents(
      (data) => {
        if (!reader.isOver) stream.read(data)
      },
      (text, from) => stream.pass(text, from),
    )

    // One network read delivers many HTTP chunks, each with one event: they are sent as one batch.
    let unread: Buffer[] = []
    /** Returns the failure to parse, or null. Text before a failure is still delivered. */
    const readAll = (): unknown => {
      if (unread.length === 0) return null
      const bytes = unread.length === 1 && unread[0] ? unread[0] : Buffer.concat(unread)
      unread = []
      try {
        events.push(bytes)
      } catch (error) {
        return error instanceof VendorError
          ? error
          : new VendorError('nonsense', 'sent an unreadable stream', { cause: error })
      } finally {
        flush()
      }
      if (reader.isOver) stream.end()
      if (reader.isCut) exchange.fail(new Error('the answer was cut at a stop sequence'))
      return null
    }
    const readPending = () => {
      const failure = readAll()
      if (failure !== null) exchange.fail(failure as Error)
    }
    const failStream = (error: unknown) => {
      // A connection that breaks after the end mark loses nothing.
      if (reader.isWhole && error instanceof VendorError) {
        stream.end()
        resolve(stream)
        return
      }
      stream.fail(error)
      reject(error)
    }

    const exchange = dispatch(deps, target, request, signal, {
      limits,
      parent: seen?.span ?? null,
      onHead(status, headers) {
        if (seen) seen.vendorRequestId = readRequestId(headers)
        if (status >= 200 && status <= 299) return
        exchange.markBegun()
        refusal = { status, headers, chunks: [], bytes: 0 }
      },
      onData(chunk) {
        if (refusal !== null) {
          refusal.bytes += chunk.length
          if (refusal.bytes <= ERROR_BYTES_MAX) refusal.chunks.push(chunk)
          return
        }
        if (unread.push(chunk) === 1) queueMicrotask(readPending)
      },
      onEnd() {
        if (refusal !== null) {
          const { status, headers, chunks } = refusal
          reject(
            createReplyFailure(vendor, status, headers, Buffer.concat(chunks).toString('utf8')),
          )
          return
        }
        const failure = readAll()
        if (failure === null && reader.isWhole) {
          stream.end()
          resolve(stream)
        } else {
          failStream(
            failure ??
              new VendorError('nonsense', 'ended its stream without saying that it is complete'),
          )
        }
      },
      onFailure: (error) => failStream(readAll() ?? error),
    })
  })
}

const REQUEST_ID_LENGTH_MAX = 200

/** Most vendors use OpenAI's header name; Anthropic has another. */
function readRequestId(headers: ReplyHeaders): string | null {
  const id = headers['x-request-id'] ?? headers['request-id']
  return typeof id === 'string' && id !== '' ? id.slice(0, REQUEST_ID_LENGTH_MAX) : null
}

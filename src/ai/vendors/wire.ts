// The sockets to the vendors: one pool with keep-alive, three timeouts, and a cut that is never mistaken for an end.
// Nothing is retried here and nothing is logged: every failure leaves as a VendorError, and a caller's
// abort destroys the vendor's socket at once, whether or not a byte has come.
import type { Transform } from 'node:stream'
import type { Agent, Dispatcher } from 'undici'
import { lazily } from '#platform/lazy.ts'
import { decoderFor, encodingOf } from './decompress.ts'
import { splitEvents } from './event-stream.ts'
import { failureFromReply, failureFromWire } from './failures.ts'
import { type PieceStream, pieceStream } from './piece-stream.ts'
import type { ReplyHeaders, Vendor, VendorRequest } from './vendor.ts'
import { VendorError } from './vendor-error.ts'

export type WireTimeouts = { connectTimeoutMs: number; firstByteTimeoutMs: number; idleTimeoutMs: number }

export type Target = { vendor: Vendor; origin: string; pathPrefix: string }

/** `baseUrl` as the vendors' SDKs have it: with or without a path, and a slash at its end. */
export function targetOf(vendor: Vendor, baseUrl: string): Target {
  const url = new URL(baseUrl)
  return { vendor, origin: url.origin, pathPrefix: url.pathname.replace(/\/$/, '') }
}

export type Wire = {
  /** The parsed body of a 2xx. @throws VendorError, or the signal's reason */
  send(target: Target, request: VendorRequest, signal: AbortSignal): Promise<unknown>
  /** Resolves with the first piece. @throws VendorError, or the signal's reason */
  open(target: Target, request: VendorRequest, signal: AbortSignal): Promise<PieceStream>
  close(): Promise<void>
}

const ANSWER_BYTES_MAX = 64 * 1024 * 1024
const ERROR_BYTES_MAX = 64 * 1024
/** Longer than most vendors keep a connection; the shorter of the two counts (they announce theirs). */
const KEEP_ALIVE_MS = 55_000

const undici = lazily<typeof import('undici')>('undici')

export function openWire(timeouts: WireTimeouts): Wire {
  let opened: Agent | null = null
  let connections = 0
  const agent = () => {
    opened ??= openAgent(timeouts, () => connections++)
    return opened
  }
  const deps = { agent, timeouts, connections: () => connections }

  return {
    send: (target, request, signal) => sendWhole(deps, target, request, signal),
    open: (target, request, signal) => openStream(deps, target, request, signal),
    close: async () => opened?.destroy(),
  }
}

function openAgent(timeouts: WireTimeouts, onConnection: () => void): Agent {
  const connector = undici().buildConnector({ allowH2: false, timeout: timeouts.connectTimeoutMs })
  return new (undici().Agent)({
    // HTTP/1.1: an abort closes the vendor's connection, which is how every vendor notices that nobody listens.
    allowH2: false,
    connect(options, callback) {
      connector(options, (...connected) => {
        onConnection()
        callback(...connected)
      })
    },
    // Silence is ours to measure: undici cannot tell a model that thinks from one that broke off in the middle.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
}

type Deps = {
  agent: () => Agent
  timeouts: WireTimeouts
  /** How many have been made up to now. */
  connections: () => number
}

function sendWhole(deps: Deps, target: Target, request: VendorRequest, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let status = 0
    let headers: ReplyHeaders = {}

    const exchange = dispatch(deps, target, request, signal, {
      onHead(code, replyHeaders) {
        status = code
        headers = replyHeaders
        if (status < 200 || status > 299) exchange.begun()
      },
      onData(chunk) {
        if (bytes === 0) exchange.begun()
        bytes += chunk.length
        if (bytes > ANSWER_BYTES_MAX) exchange.fail(new VendorError('nonsense', 'answered without an end'))
        else chunks.push(chunk)
      },
      onEnd() {
        const text = (chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)).toString('utf8')
        if (status < 200 || status > 299) {
          reject(failureFromReply(target.vendor, status, headers, text))
          return
        }
        try {
          resolve(JSON.parse(text))
        } catch (cause) {
          reject(new VendorError('nonsense', 'answered with a body that is no JSON', { status, cause }))
        }
      },
      onFailure: reject,
    })
  })
}

function openStream(deps: Deps, target: Target, request: VendorRequest, signal: AbortSignal): Promise<PieceStream> {
  const { vendor } = target
  return new Promise((resolve, reject) => {
    const reader = vendor.createReader()
    let refusal: { status: number; headers: ReplyHeaders; chunks: Buffer[]; bytes: number } | null = null

    const stream = pieceStream(reader, {
      pause: () => exchange.pause(),
      resume: () => exchange.resume(),
      cancel: () => exchange.fail(new DOMException('The reader went away', 'AbortError')),
    })

    // A vendor sends each event in an HTTP chunk of its own, and one network read brings many: they go out as one batch.
    let isFlushDue = false
    const flush = () => {
      isFlushDue = false
      if (!stream.flush()) return
      exchange.begun()
      resolve(stream)
    }

    const events = splitEvents((data) => {
      if (!reader.isOver) stream.read(data)
    })

    const exchange = dispatch(deps, target, request, signal, {
      onHead(status, headers) {
        if (status >= 200 && status <= 299) return
        exchange.begun()
        refusal = { status, headers, chunks: [], bytes: 0 }
      },
      onData(chunk) {
        if (refusal !== null) {
          refusal.bytes += chunk.length
          if (refusal.bytes <= ERROR_BYTES_MAX) refusal.chunks.push(chunk)
          return
        }
        try {
          events.push(chunk)
        } catch (error) {
          // What came before the failure was said: whether it shared a network read with it must make no difference.
          flush()
          exchange.fail(
            error instanceof VendorError
              ? error
              : new VendorError('nonsense', 'sent an unreadable stream', { cause: error }),
          )
          return
        }
        if (reader.isOver) {
          flush()
          stream.end()
        } else if (!isFlushDue) {
          isFlushDue = true
          queueMicrotask(flush)
        }
      },
      onEnd() {
        if (refusal !== null) {
          const { status, headers, chunks } = refusal
          reject(failureFromReply(vendor, status, headers, Buffer.concat(chunks).toString('utf8')))
        } else if (reader.isWhole) {
          flush()
          stream.end()
          resolve(stream)
        } else {
          flush()
          const error = new VendorError('nonsense', 'ended its stream without saying that it is complete')
          stream.fail(error)
          reject(error)
        }
      },
      onFailure(error) {
        flush()
        // A connection that breaks after the end mark has cost nothing.
        if (reader.isWhole && error instanceof VendorError) {
          stream.end()
          resolve(stream)
          return
        }
        stream.fail(error)
        reject(error)
      },
    })
  })
}

type Listener = {
  onHead(status: number, headers: ReplyHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** A VendorError, or the reason of the caller's abort. Nothing is called after it. */
  onFailure(error: unknown): void
}

type Exchange = {
  pause(): void
  resume(): void
  /** The answer itself has begun: from now on silence is a broken line and no thinking. */
  begun(): void
  fail(error: Error): void
}

/** undici's dispatch without its streams: nothing stands between its parser and ours, and pausing is pausing the socket. */
function dispatch(
  { agent, timeouts, connections }: Deps,
  { origin, pathPrefix }: Target,
  request: VendorRequest,
  signal: AbortSignal,
  listener: Listener,
): Exchange {
  let controller: Dispatcher.DispatchController | null = null
  let isOver = false
  let encoding = ''
  let decoder: Transform | null = null
  let isFull = false
  let isPaused = false
  let hasBegun = false
  let hasHead = false
  let limitMs = timeouts.firstByteTimeoutMs
  let heardMs = performance.now()

  const finish = () => {
    isOver = true
    clearTimeout(silence)
    signal.removeEventListener('abort', onAbort)
  }
  const fail = (error: unknown) => {
    if (isOver) return
    finish()
    controller?.abort(error instanceof Error ? error : new Error('aborted'))
    decoder?.destroy()
    listener.onFailure(error)
  }
  const onAbort = () => fail(signal.reason)
  // One timer a call, wound up again when it finds that something was heard meanwhile: a byte costs a look at the clock.
  const onSilence = () => {
    const leftMs = isPaused ? limitMs : limitMs - (performance.now() - heardMs)
    if (leftMs > 0) {
      silence = setTimeout(onSilence, Math.ceil(leftMs))
      return
    }
    const isUnanswered = controller !== null
    fail(new VendorError('timeout', `sent nothing for ${limitMs} ms`, { isUnanswered }))
  }
  const limitSilence = (ms: number) => {
    if (ms === limitMs) return
    limitMs = ms
    clearTimeout(silence)
    silence = setTimeout(onSilence, ms)
  }
  let silence = setTimeout(onSilence, limitMs)
  const begun = () => {
    if (hasBegun || isOver) return
    hasBegun = true
    limitSilence(timeouts.idleTimeoutMs)
  }

  const unreadable = (words: string, cause?: unknown) => fail(new VendorError('nonsense', words, { cause }))

  const decode = (chunk: Buffer) => {
    decoder ??= openDecoder(chunk)
    if (decoder === null || decoder.write(chunk)) return
    isFull = true
    controller?.pause()
  }
  const openDecoder = (first: Buffer): Transform | null => {
    const opened = decoderFor(encoding, first)
    if (opened === undefined) {
      unreadable(`answered in an encoding that is not known: ${encoding.slice(0, 40)}`)
      return null
    }
    opened.on('data', (chunk: Buffer) => {
      if (!isOver) listener.onData(chunk)
    })
    opened.on('drain', () => {
      isFull = false
      if (!isPaused) controller?.resume()
    })
    opened.on('end', end)
    opened.on('error', (cause) => unreadable('sent an answer that cannot be decompressed', cause))
    if (isPaused) opened.pause()
    return opened
  }
  const end = () => {
    if (isOver) return
    finish()
    listener.onEnd()
  }

  if (signal.aborted) {
    queueMicrotask(onAbort)
    return { pause() {}, resume() {}, begun, fail }
  }
  signal.addEventListener('abort', onAbort)

  const before = connections()
  let isReused = false
  agent().dispatch(
    {
      origin,
      path: pathPrefix + request.path,
      method: 'POST',
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body,
    },
    {
      onRequestStart(started) {
        controller = started
        // undici does not say over which connection it writes; where none was made meanwhile, it is one that was kept.
        isReused = connections() === before
        // The caller may have left while the connection was being made.
        if (isOver) started.abort(new Error('aborted'))
      },
      onResponseStart(_controller, status, headers) {
        if (isOver) return
        hasHead = true
        heardMs = performance.now()
        // A head, a role or a ping is no answer yet: what thinks may go on doing so in silence.
        if (!hasBegun) limitSilence(Math.max(timeouts.firstByteTimeoutMs, timeouts.idleTimeoutMs))
        if (status < 200) return
        encoding = encodingOf(headers['content-encoding'])
        listener.onHead(status, headers)
      },
      onResponseData(_controller, chunk) {
        if (isOver) return
        heardMs = performance.now()
        if (encoding === '') listener.onData(chunk)
        else decode(chunk)
      },
      onResponseEnd() {
        // What is still being decompressed comes first.
        if (decoder === null) end()
        else decoder.end()
      },
      onResponseError(_controller, error) {
        if (!isOver) fail(failureFromWire(error, { isStale: isReused && !hasHead }))
      },
    },
  )

  return {
    pause() {
      isPaused = true
      controller?.pause()
      decoder?.pause()
    },
    resume() {
      isPaused = false
      heardMs = performance.now()
      decoder?.resume()
      if (!isFull) controller?.resume()
    },
    begun,
    fail,
  }
}

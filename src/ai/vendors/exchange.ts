// One request to a vendor and its answer, over undici's dispatch without its streams: our parser
// reads undici's chunks directly, and pausing pauses the socket.
import type { Agent, Dispatcher } from 'undici'
import { formatTraceparent } from '#platform/telemetry/trace-context.ts'
import type { Span, Tracer } from '#platform/telemetry/tracer.ts'
import { readEncoding } from './decompress.ts'
import { createWireFailure } from './failures.ts'
import { createPackedBody, type PackedBody } from './packed-body.ts'
import { limitSilence } from './silence.ts'
import type { ReplyHeaders, VendorRequest } from './vendor.ts'
import { VendorError } from './vendor-error.ts'

/** `tellsVendors`: send the trace's id to vendors. */
export type Tracing = { tracer: Tracer; tellsVendors: boolean }

export type ExchangeDeps = {
  agent: () => Agent
  tracing: Tracing | null
  timeouts: { deadlineMs: number; idleTimeoutMs: number }
  /** Returns the number of connections opened so far. */
  connections: () => number
}

/** Milliseconds from the request to the reply's head, and to the beginning of the answer. */
export type AnswerLimits = { headMs: number; answerMs: number }

export type Listener = {
  limits: AnswerLimits
  /** The parent of the exchange's span. */
  parent: Span | null
  onHead(status: number, headers: ReplyHeaders): void
  onData(chunk: Buffer): void
  onEnd(): void
  /** Receives a VendorError or the reason of the caller's abort. No callback follows it. */
  onFailure(error: unknown): void
}

export type Exchange = {
  pause(): void
  resume(): void
  /** Marks the beginning of the answer: further silence is a broken connection, not reasoning. */
  markBegun(): void
  fail(error: Error): void
}

export function dispatch(
  { agent, timeouts, connections, tracing }: ExchangeDeps,
  { origin, pathPrefix }: { origin: string; pathPrefix: string },
  request: VendorRequest,
  signal: AbortSignal,
  listener: Listener,
): Exchange {
  let controller: Dispatcher.DispatchController | null = null
  let isOver = false
  let hasBegun = false
  let hasHead = false
  let packed: PackedBody | null = null

  const span =
    tracing?.tracer.start('POST', {
      ...describeSpan(origin),
      parent: listener.parent ?? undefined,
    }) ?? null

  const finish = (failure: string | null) => {
    isOver = true
    span?.end(failure)
    silence.stop()
    clearTimeout(deadline)
    signal.removeEventListener('abort', onAbort)
  }
  const fail = (error: unknown) => {
    if (isOver) return
    finish(describeFailure(error))
    controller?.abort(error instanceof Error ? error : new Error('aborted'))
    packed?.destroy()
    listener.onFailure(error)
  }
  const onAbort = () => fail(signal.reason)
  const failTimeout = (words: string) => {
    const isUnanswered = controller !== null
    fail(new VendorError('timeout', words, { isUnanswered }))
  }
  const { headMs, answerMs } = listener.limits
  const silence = limitSilence(headMs, (limitMs) =>
    failTimeout(`sent nothing for ${Math.round(limitMs)} ms`),
  )
  // Pings end a silence, but are not an answer.
  const deadline = setTimeout(
    () => failTimeout(`did not begin to answer within ${Math.round(answerMs)} ms`),
    answerMs,
  )
  const markBegun = () => {
    if (hasBegun || isOver) return
    hasBegun = true
    clearTimeout(deadline)
    silence.limit(timeouts.idleTimeoutMs)
  }

  const onData = (chunk: Buffer) => {
    if (!isOver) listener.onData(chunk)
  }
  const onEnd = () => {
    if (isOver) return
    finish(null)
    listener.onEnd()
  }
  const onUnreadable = (words: string, cause?: unknown) =>
    fail(new VendorError('nonsense', words, { cause }))

  if (signal.aborted) {
    queueMicrotask(onAbort)
    return { pause() {}, resume() {}, markBegun, fail }
  }
  signal.addEventListener('abort', onAbort)

  const before = connections()
  let isReused = false
  agent().dispatch(
    {
      origin,
      path: pathPrefix + request.path,
      method: 'POST',
      headers: {
        'accept-encoding': 'identity',
        ...request.headers,
        ...(span !== null && tracing?.tellsVendors ? { traceparent: formatTraceparent(span) } : {}),
      },
      body: request.body,
    },
    {
      onRequestStart(started) {
        controller = started
        // undici does not name a request's connection; without a new one meanwhile, it was reused.
        isReused = connections() === before
        // The caller may have left while the connection was opened.
        if (isOver) started.abort(new Error('aborted'))
      },
      onResponseStart(socket, status, headers) {
        if (isOver) return
        hasHead = true
        silence.reset()
        // A head, a role or a ping is not an answer, so a reasoning model may stay silent.
        if (!hasBegun) silence.limit(answerMs)
        if (status < 200) return
        const encoding = readEncoding(headers['content-encoding'])
        if (encoding !== '')
          packed = createPackedBody(encoding, socket, { onData, onEnd, onUnreadable })
        span?.set({ 'http.response.status_code': status })
        listener.onHead(status, headers)
      },
      onResponseData(_controller, chunk) {
        if (isOver) return
        silence.reset()
        if (packed === null) listener.onData(chunk)
        else packed.write(chunk)
      },
      onResponseEnd() {
        if (packed === null) onEnd()
        else packed.end()
      },
      onResponseError(_controller, error) {
        if (!isOver) fail(createWireFailure(error, { isStale: isReused && !hasHead }))
      },
    },
  )

  return {
    pause() {
      silence.pause()
      ;(packed ?? controller)?.pause()
    },
    resume() {
      silence.resume()
      ;(packed ?? controller)?.resume()
    },
    markBegun,
    fail,
  }
}

const describeSpan = (origin: string) =>
  ({
    kind: 'client',
    attributes: { 'http.request.method': 'POST', 'server.address': new URL(origin).host },
  }) as const

/** The error's message may contain the request, so only its name is recorded. */
function describeFailure(error: unknown): string {
  if (error instanceof VendorError) return error.failure
  return error instanceof Error ? error.name : 'aborted'
}

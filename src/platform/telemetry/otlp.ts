/**
 * Exports spans to an OpenTelemetry collector: OTLP over HTTP, as JSON
 * (opentelemetry.io/docs/specs/otlp). Spans that the collector does not accept in time are stored
 * up to a limit, then dropped and counted. So traces never delay a request or fill the memory.
 */
import type { TracesConfig } from '#config/config.ts'
import { type Log, seldom } from './log.ts'
import type { Count, Metrics } from './metrics.ts'
import type { Attributes, FinishedSpan, SpanKind } from './tracer.ts'

export type Exporter = {
  take(span: FinishedSpan): void
  /** Sends the remaining spans for a limited time. */
  close(): Promise<void>
}

const EVERY_MS = 5_000
const BATCH_MAX = 512
const WAITING_MAX = 4_096
const POST_MS = 10_000
const CLOSE_MS = 2_000
/** The statuses that the protocol allows to retry. */
const TRY_AGAIN = [429, 502, 503, 504]

type Deps = { log: Log; metrics: Pick<Metrics, 'counts'> }

export function openExporter(config: TracesConfig, { log, metrics }: Deps): Exporter {
  const waiting: FinishedSpan[] = []
  const say = seldom((details, message) => log.warn(details, message))
  const outcomes = metrics.counts(
    'latchkey_trace_spans_total',
    'Spans, by whether the collector has them',
    ['result'],
  )
  const count: Record<'sent' | 'dropped', Count> = {
    sent: outcomes('sent'),
    dropped: outcomes('dropped'),
  }
  let sending: Promise<void> | null = null
  const closing = new AbortController()
  const timer = setInterval(send, EVERY_MS).unref()

  return {
    take(span) {
      if (waiting.length >= WAITING_MAX) {
        count.dropped.value++
        return
      }
      waiting.push(span)
      if (waiting.length === BATCH_MAX) send()
    },
    async close() {
      clearInterval(timer)
      // This deadline also limits requests in flight.
      const deadline = setTimeout(() => closing.abort(), CLOSE_MS)
      await sending
      while (
        waiting.length > 0 &&
        (await sendBatch(waiting.splice(0, BATCH_MAX), closing.signal))
      ) {}
      clearTimeout(deadline)
    },
  }

  function send(): void {
    if (sending !== null || waiting.length === 0) return
    const signal = AbortSignal.any([AbortSignal.timeout(POST_MS), closing.signal])
    sending = sendBatch(waiting.splice(0, BATCH_MAX), signal).then((isTaken) => {
      sending = null
      // A collector that has just refused is retried at the next timer.
      if (isTaken && waiting.length >= BATCH_MAX) send()
    })
  }

  async function sendBatch(batch: FinishedSpan[], signal: AbortSignal): Promise<boolean> {
    try {
      const reply = await fetch(config.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...config.headers },
        body: JSON.stringify(buildRequest(batch, config)),
        redirect: 'error',
        signal,
      })
      const text = await reply.text()
      if (reply.ok) {
        count.sent.value += batch.length
        if (text.includes('rejectedSpans'))
          say({ answer: text.slice(0, 300) }, 'the collector refuses some spans')
        return true
      }
      say(
        { status: reply.status, answer: text.slice(0, 300) },
        'the collector of traces refuses them',
      )
      if (TRY_AGAIN.includes(reply.status)) keep(batch)
      else count.dropped.value += batch.length
    } catch (err) {
      say({ err }, 'the collector of traces cannot be reached')
      keep(batch)
    }
    return false
  }

  function keep(batch: FinishedSpan[]): void {
    const accepted = batch.slice(0, Math.max(0, WAITING_MAX - waiting.length))
    count.dropped.value += batch.length - accepted.length
    waiting.unshift(...accepted)
  }
}

const KINDS: Record<SpanKind, number> = {
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
}
const FAILED = 2

function buildRequest(spans: FinishedSpan[], { resource, version }: TracesConfig) {
  return {
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: 'latchkey', version }, spans: spans.map(encodeSpan) }],
      },
    ],
  }
}

function encodeSpan({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  startMs,
  endMs,
  attributes,
  failure,
}: FinishedSpan) {
  return {
    traceId,
    spanId,
    ...(parentId === null ? {} : { parentSpanId: parentId }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startMs),
    endTimeUnixNano: toNanos(Math.max(startMs, endMs)),
    attributes: encodeAttributes(attributes),
    ...(failure === null ? {} : { status: { code: FAILED, message: failure.slice(0, 300) } }),
  }
}

/** Returns nanoseconds as text, because a number cannot represent them exactly. */
const toNanos = (ms: number) => `${Math.round(ms * 1_000)}000`

function encodeAttributes(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: anyValue(value) }],
  )
}

function anyValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value.slice(0, 1_000) }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

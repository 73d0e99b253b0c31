/**
 * OpenTelemetry spans for requests, model calls, vendors, the database and jobs. A tracer exists
 * only when an exporter is configured; otherwise `tracer?.` costs nothing. Names and attributes
 * contain routes, models and counts, never users' texts.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { TracesConfig } from '#config/config.ts'
import type { TraceContext } from './trace-context.ts'

export type Attributes = Record<string, string | number | boolean | null | undefined>
/** The span kinds of OTLP. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

export type Span = TraceContext & {
  /** Null and undefined values are omitted. */
  set(attributes: Attributes): void
  rename(name: string): void
  /** Call once; `failure` is the reason of a failure. */
  end(failure?: string | null, endMs?: number): void
  /** Registers a callback that runs when the span ends, before it is exported. */
  onEnd(callback: () => void): void
}

/** A span in the form that the exporter receives. */
export type FinishedSpan = {
  traceId: string
  spanId: string
  parentId: string | null
  name: string
  kind: SpanKind
  startMs: number
  endMs: number
  attributes: Attributes
  failure: string | null
}

export type SpanOptions = {
  kind?: SpanKind
  /** Default: the current span. Null: starts a new trace. */
  parent?: TraceContext | null
  attributes?: Attributes
  startMs?: number
}

export type Tracer = { start(name: string, options?: SpanOptions): Span }

const running = new AsyncLocalStorage<Span>()

/** Returns the span in which the caller runs. */
export const currentSpan = (): Span | undefined => running.getStore()

/** Runs `work` in the span, so that everything it starts belongs to the span. */
export const inSpan = <T>(span: Span, work: () => T): T => running.run(span, work)

export function createTracer(
  { sampler, ratio }: TracesConfig,
  take: (span: FinishedSpan) => void,
): Tracer {
  return {
    start(
      name,
      {
        kind = 'internal',
        parent = currentSpan() ?? null,
        attributes = {},
        startMs = epochMs(),
      } = {},
    ) {
      const traceId = parent?.traceId ?? randomBytes(16).toString('hex')
      const spanId = randomBytes(8).toString('hex')
      // A parent in this process decides whether the span is sampled. The sampler decides whether
      // the `sampled` flag of a remote parent counts.
      const isOurs = parent !== null && 'onEnd' in parent
      const isSampled =
        isOurs || (parent !== null && sampler.startsWith('parentbased_'))
          ? parent.isSampled
          : isDrawn(traceId)
      if (!isSampled) return { traceId, spanId, isSampled, ...NOTHING }
      const span = {
        traceId,
        spanId,
        parentId: parent?.spanId ?? null,
        name,
        kind,
        startMs,
        attributes,
      }
      return { traceId, spanId, isSampled, ...recording(span, take) }
    },
  }

  /** Based on the trace id, so that all services with the same ratio sample the same traces. */
  function isDrawn(traceId: string): boolean {
    if (sampler.endsWith('always_on')) return true
    if (sampler.endsWith('always_off')) return false
    return Number.parseInt(traceId.slice(19), 16) < ratio * 2 ** 52
  }
}

const NOTHING = { set() {}, rename() {}, end() {}, onEnd() {} }

function recording(
  begun: Omit<FinishedSpan, 'endMs' | 'failure'>,
  take: (span: FinishedSpan) => void,
): Pick<Span, 'set' | 'rename' | 'end' | 'onEnd'> {
  let { name } = begun
  const attributes = { ...begun.attributes }
  const callbacks: (() => void)[] = []
  let isOver = false
  return {
    set: (more) => void Object.assign(attributes, more),
    rename(better) {
      name = better
    },
    end(failure = null, endMs = epochMs()) {
      if (isOver) return
      isOver = true
      for (const callback of callbacks) callback()
      take({ ...begun, name, attributes, endMs, failure })
    },
    onEnd(callback) {
      if (!isOver) callbacks.push(callback)
    },
  }
}

let anchorMs = Date.now() - performance.now()

/** Returns milliseconds since 1970 with fractions. Follows the system clock when it is changed. */
export function epochMs(): number {
  const now = performance.now()
  if (Math.abs(Date.now() - now - anchorMs) > 50) anchorMs = Date.now() - now
  return anchorMs + now
}

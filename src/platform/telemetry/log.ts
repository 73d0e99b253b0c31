/** The log: JSON lines on stdout, without secrets. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { currentSpan } from './tracer.ts'

export type Log = Logger

/** Fields that never reach a log, at the first two levels of an object. */
const SECRET_FIELDS = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'token',
  'access_token',
  'refresh_token',
  'api_key',
  'key',
  'license_key',
  'secret',
  'x-api-key',
  'x-goog-api-key',
]

/** `traced`: adds the trace id to each line. */
export function createLog(
  level: string,
  destination?: DestinationStream,
  { traced = false } = {},
): Log {
  const paths = SECRET_FIELDS.flatMap((field) => [
    `["${field}"]`,
    `*["${field}"]`,
    `*.*["${field}"]`,
  ])
  const options = {
    level,
    base: null,
    redact: { paths, censor: '[secret]' },
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(traced ? { mixin: readTraceFields } : {}),
  }
  return destination ? pino(options, destination) : pino(options)
}

function readTraceFields(): object {
  const span = currentSpan()
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }
}

const MINUTE_MS = 60_000

/**
 * Limits the log lines of a repeated failure, such as an outage: writes the first line, then at
 * most one per minute with the number of omitted lines (`unsaid`).
 */
export function seldom(
  write: (details: object, message: string) => void,
): (details: object, message: string) => void {
  let lastMs = Number.NEGATIVE_INFINITY
  let unsaid = 0
  return (details, message) => {
    const now = performance.now()
    if (now - lastMs < MINUTE_MS) {
      unsaid++
      return
    }
    write(unsaid === 0 ? details : { ...details, unsaid }, message)
    lastMs = now
    unsaid = 0
  }
}

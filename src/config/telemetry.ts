/**
 * Settings of the request log and of traces. Traces use the variables of OpenTelemetry's
 * specification.
 */
import { ConfigError, type Reader, trimSlash } from './reader.ts'

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export type TracesConfig = {
  /** Where spans are sent. */
  url: string
  headers: Readonly<Record<string, string>>
  resource: Readonly<Record<string, string>>
  version: string
  sampler: (typeof SAMPLERS)[number]
  /** The share of traces that are sampled, for samplers with a ratio. */
  ratio: number
  /** True when calls to vendors send `traceparent`. */
  tellsVendors: boolean
}

export type TelemetryConfig = {
  /** `on`: logs a line for each request. `addresses`: includes the caller's address. */
  requestLog: 'off' | 'on' | 'addresses'
  /** Null: no traces. */
  traces: TracesConfig | null
}

/** `version`: the service's version. */
export function readTelemetry(read: Reader, version: string): TelemetryConfig {
  return {
    requestLog: read.oneOf('REQUEST_LOG', ['off', 'on', 'addresses'], 'off'),
    traces: readTraces(read, version),
  }
}

function readTraces(read: Reader, version: string): TracesConfig | null {
  const protocols = ['http:', 'https:']
  const base = withoutPassword(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    read.url('OTEL_EXPORTER_OTLP_ENDPOINT', protocols),
  )
  const settings = {
    headers: readPairs(read, 'OTEL_EXPORTER_OTLP_HEADERS'),
    resource: {
      'service.name': 'latchkey',
      ...readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES'),
      'service.version': version,
    },
    version,
    sampler: read.oneOf('OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on'),
    ratio: readRatio(read),
    tellsVendors: read.allows('vendor_traces'),
  }
  return base === null ? null : { url: `${trimSlash(base)}/v1/traces`, ...settings }
}

/**
 * Rejects a URL with a password, because `fetch` does not accept it and repeats it in its error.
 * @throws ConfigError
 */
function withoutPassword(name: string, url: string | null): string | null {
  const { username = '', password = '' } = (url && URL.parse(url)) || {}
  if (username === '' && password === '') return url
  throw new ConfigError(
    `${name} is wrong: no user or password can stand in it; OTEL_EXPORTER_OTLP_HEADERS=authorization=… has room for them`,
  )
}

/**
 * Reads `name=value,name=value` with percent-encoded values. @throws ConfigError without the
 * values, which may be secrets
 */
function readPairs(read: Reader, name: string): Record<string, string> {
  return Object.fromEntries(
    read.words(name).map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1)
        throw new ConfigError(`${name} is wrong: expected name=value, with commas between`)
      try {
        return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]
      } catch {
        throw new ConfigError(
          `${name} is wrong: the value of ${pair.slice(0, at)} is not percent-encoded`,
        )
      }
    }),
  )
}

function readRatio(read: Reader): number {
  const text = read.matching(
    'OTEL_TRACES_SAMPLER_ARG',
    /^(0(\.\d+)?|1(\.0+)?)$/,
    'a share from 0 to 1',
    '1',
  )
  return Number(text)
}

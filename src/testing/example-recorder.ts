/**
 * Records a request and its reply as the example of its operation, found by the address in the
 * API's descriptions. Values that differ from run to run (ids, times, secrets, ports) are replaced
 * by stable ones, the same value by the same one everywhere.
 */

import type { Examples } from '#app/examples.ts'
import type { Example } from '#platform/http/openapi.ts'
import { call, type Reply, type RequestOptions, type TestApp } from './app.ts'

type Schema = { type?: string | string[] }
type Parameter = { name: string; in: string; schema: Schema }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  responses: Record<string, { headers?: object }>
}
export type Server = keyof Examples
type Route = { method: string; pattern: RegExp; names: string[]; operation: Operation }

export type Recorder = Awaited<ReturnType<typeof createRecorder>>

export async function createRecorder(app: TestApp) {
  const urls = { api: app.url, storefront: app.storefrontUrl }
  const routes = {
    api: listRoutes((await app.get('/openapi.json')).body),
    storefront: listRoutes((await app.store('GET', '/openapi.json')).body),
  }
  const examples: Examples = { api: {}, storefront: {} }
  const stable = stabilizer(app)

  return {
    examples,
    /** Stores the first reply of each media type. @throws Error for an error reply */
    async call(
      server: Server,
      method: string,
      path: string,
      options: RequestOptions = {},
    ): Promise<Reply> {
      // Gives lists that show the newest first a stable order.
      app.clock.advance(1_000)
      const reply = await call(urls[server], method, path, options)
      const what = `${method} ${path}: ${reply.status} ${reply.text.slice(0, 500)}`
      if (reply.status >= 400) throw new Error(what)
      const { pathname, searchParams } = new URL(path, urls[server])
      const route = routes[server].find(
        (one) => one.method === method && one.pattern.test(pathname),
      )
      if (!route) throw new Error(`not described: ${what}`)
      const { operationId } = route.operation
      const known = examples[server][operationId]
      const recorded = stable(
        operationId,
        buildExample(route, { pathname, searchParams, options, reply }),
      ) as Example
      // The first reply of a media type stays, in first place.
      examples[server][operationId] =
        known && recorded.reply
          ? { ...known, reply: { ...known.reply, ...recorded.reply, ...known.reply } }
          : (known ?? recorded)
      return reply
    },
  }
}

type Exchange = {
  pathname: string
  searchParams: URLSearchParams
  options: RequestOptions
  reply: Reply
}

function buildExample(
  { pattern, names, operation }: Route,
  { pathname, searchParams, options, reply }: Exchange,
): Example {
  const values = pattern.exec(pathname)?.slice(1) ?? []
  const sent = new Map(names.map((name, index) => [name, decodeURIComponent(values[index] ?? '')]))
  for (const [name, value] of searchParams) sent.set(name, value)
  const parameters = (operation.parameters ?? []).flatMap(({ name, in: place, schema }) => {
    const value = place === 'header' ? options.headers?.[name] : sent.get(name)
    return value === undefined ? [] : [[name, typed(value, schema)]]
  })
  const headers = Object.keys(operation.responses[reply.status]?.headers ?? {}).flatMap((name) => {
    const value = reply.headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  const type = reply.headers.get('content-type')?.split(';')[0] ?? ''
  const body = readBody(options.body)
  return {
    ...(parameters.length > 0 ? { parameters: Object.fromEntries(parameters) } : {}),
    ...(body === undefined ? {} : { body }),
    status: reply.status,
    ...(headers.length > 0 ? { headers: Object.fromEntries(headers) } : {}),
    ...(reply.body !== null ? { reply: { [type]: reply.body } } : {}),
    ...(type === 'text/event-stream' ? { reply: { [type]: shortened(reply.text) } } : {}),
    ...(type === 'text/csv' ? { reply: { [type]: reply.text } } : {}),
    ...(type === 'text/plain' ? { reply: { [type]: withoutFigures(reply.text) } } : {}),
  }
}

/** The first events of a stream, and the last. */
function shortened(text: string): string {
  const events = text.split(/(?<=\n\n)/)
  return (events.length > 6 ? [...events.slice(0, 3), ...events.slice(-3)] : events).join('')
}

/** Of metrics: what the first of them are. Their figures differ from run to run. */
function withoutFigures(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.startsWith('# '))
    .slice(0, 4)
    .join('\n')
}

function readBody(body: unknown): unknown {
  if (typeof body === 'string') return JSON.parse(body)
  if (!(body instanceof FormData)) return body
  return Object.fromEntries(
    [...body].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]),
  )
}

function typed(value: string, { type }: Schema): unknown {
  if (type === 'integer' || type === 'number') return Number(value)
  return type === 'boolean' ? value === 'true' : value
}

/** An address without parameters before one with: `/a/b` is not `/a/{id}`. */
function listRoutes({ paths }: { paths: Record<string, Record<string, Operation>> }): Route[] {
  return Object.entries(paths)
    .flatMap(([path, operations]) => {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/]+)')}$`)
      return Object.entries(operations).map(([method, operation]) => ({
        method: method.toUpperCase(),
        pattern,
        names,
        operation,
      }))
    })
    .sort((a, b) => a.names.length - b.names.length)
}

const BASE = Date.UTC(2026, 10, 22, 9)
const DAY_MS = 86_400_000
const ITEMS_MAX = 3
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Replacements for fields with any value. */
const BY_NAME: Record<string, unknown> = {
  code: '123456',
  port: 587,
  // Events of the sandboxed processor enqueue jobs at any time.
  queued: 9,
  secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  otpauth_url:
    'otpauth://totp/Latchkey:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Latchkey',
  qr_code: 'data:image/svg+xml;base64,PHN2Zy8+',
  recovery_codes: ['k3p9x-7mwq2', 'b8r4t-z6nhd', 'v2c7j-y5fgs'],
  'stripe-signature':
    't=1795338000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  etag: '"c2FtcGxlLWV0YWc"',
  clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
  attestationObject: 'o2NmbXRkbm9uZQ',
  authenticatorData: 'SZYN5YgOjGh0NBcP',
  signature: 'MEUCIQDN2rX',
  protected: 'eyJhbGciOiJFZERTQSIsImtpZCI6ImwxLU1uSzd4UTJhIn0',
  payload: 'eyJwcm9kdWN0IjoicHJvIn0',
  userHandle: 'MDE5MGE2YTg',
  // Of an archive, which depends on the machine's zlib.
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  size_bytes: 13_409,
  // Of weeks and months, whose ends come nearer each day.
  period_start: '2026-11-01T00:00:00.000Z',
  period_end: '2026-12-01T00:00:00.000Z',
  renews_at: '2026-12-01T00:00:00.000Z',
  releases_renew_at: '2026-12-01T00:00:00.000Z',
  // The walk moves the service's clock, not this one.
  real_time: '2026-11-22T09:00:00.000Z',
  // Of the machine and its settings.
  engine: 'sqlite',
  node_version: '26.10.0',
  free_bytes: 52_428_800_000,
  components: [
    { area: 'mail', name: 'Mail', state: 'wrong', detail: 'smtp.example.com does not answer' },
    { area: 'database', name: 'Database', state: 'ok', detail: '/data/latchkey.db' },
  ],
  checks: { database: true, writable: true, redis: null, clock_skew_ms: 3 },
  configured: {
    database: 'sqlite',
    redis: 'not configured',
    billing: 'sandbox',
    mail: 'sandbox',
    embedder: 'local',
  },
  next_cursor: '0mwt1cz8o000fJ55x1Zm2.X2mYnr02Y_bMPxuM',
}
/** Replacements for durations, and for the chain of an entry. */
const DURATIONS: Record<string, number> = {
  latency_ms: 840,
  first_token_ms: 310,
  p50: 620,
  p95: 2_400,
  chain: 28,
}

/** The length of a list in pages of two: it grows with every call that is recorded before. */
const LENGTH = { total: 42, pages: 21 }

/**
 * Patterns of varying parts of a text, and the letters of their replacements; `known` by so many of
 * its first letters, as long as `like`.
 */
const IN_TEXT: { pattern: RegExp; letters: string; known?: number; like?: string }[] = [
  { pattern: /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, letters: '0123456789abcdef' },
  // Of an entry of the audit log: when it was written, and which it is of that moment.
  { pattern: /(?<![0-9a-f])0[0-9a-f]{29}(?![0-9a-f])/g, letters: '0123456789abcdef' },
  {
    pattern: /(?<=\beyJ)[\w-]+\.[\w-]+\.[\w-]+/g,
    letters: BASE64URL,
    like: 'hbGciOiJFZERTQSJ9.sub_and_exp.signature',
  },
  { pattern: /(?<=\b(?:chatcmpl-|msg_|resp_))[0-9a-f]{24,36}/g, letters: '0123456789abcdef' },
  // Of a call: when it began, which it is of its process, and the process.
  {
    pattern: /(?<![\w-])0[0-9a-z]{8}0[0-9a-z]{3}[\w-]{8}(?![\w-])/g,
    letters: '0123456789abcdefghij',
    like: '0'.repeat(21),
  },
  // The id of a key that signs licenses.
  { pattern: /(?<=^l\d+-)[\w-]{8}$/g, letters: BASE64URL },
  { pattern: /(?<=\blk_)[0-9A-Za-z]{9,}/g, letters: BASE64URL, known: 9 },
  {
    pattern: /(?<=\bLK-)[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z•]{4}){6}/g,
    letters: '0123456789ABCDEFGHJK',
    known: 4,
  },
  { pattern: /(?<=\blatchkey-[a-z]+-)[0-9A-Z]{8}(?=\.zip)/g, letters: '0123456789ABCDEFGHJK' },
  {
    pattern:
      /(?<=\b(?:cs|cus|sub|pi|in|evt|bps|re|du|promo|ch)_(?:test_|sandbox_)?)[A-Za-z0-9]{14,}/g,
    letters: BASE64URL,
  },
  { pattern: /(?<![\w-])[A-Z0-9]{8}(?=-\d{4}(?!\d))/g, letters: '0123456789ABCDEFGHJK' },
  { pattern: /(?<=[?&](?:state|nonce|code_challenge|challenge|code)=)[\w-]+/g, letters: BASE64URL },
  // A call's id, whose beginning is its time, alone or in a cursor.
  { pattern: /^0[m-z][0-9a-z]{11}[\w-]{8}(?:\.[\w-]{16})?$/g, letters: BASE64URL },
  // Of random bytes, forty letters without a large and a small one do not happen.
  {
    pattern: /(?<![\w-])(?!cs_|pi_)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{40,}(?![\w-])/g,
    letters: BASE64URL,
  },
]
/** Pages and pictures in JSON, of which an example needs only the beginning. */
const DOCUMENT = /^(<!doctype html>|data:image[^,]*,).+/s
const WHOLE = { pattern: /^.+$/, letters: BASE64URL }
const SECRETS = new Set(['state', 'challenge', 'token', 'kid', 'x'])
const DATES = new Set(['day', 'from', 'to', 'key', 'starts'])

function stabilizer({ config: { http }, clock }: TestApp) {
  const started = clock.ms()
  const standIns = new Map<string, string>()
  // A stand-in is named by the operation that showed the value first, so that a new route changes
  // no other example.
  let operation = ''
  const countByOperation = new Map<string, number>()
  const nextSeed = () => {
    const count = countByOperation.get(operation) ?? 0
    countByOperation.set(operation, count + 1)
    return `${operation} ${count}`
  }

  /** Returns a replacement of the same length, with dashes and dots at the same positions. */
  function replaceValue(
    found: string,
    { pattern, letters, known = found.length, like = found }: (typeof IN_TEXT)[0],
  ): string {
    const key = `${pattern.source} ${found.slice(0, known)}`
    const isGrouped = letters !== BASE64URL
    const seed = standIns.get(key) ?? nextSeed()
    standIns.set(key, seed)
    const random = createLetters(seed, letters)
    return like.replace(isGrouped ? /[0-9A-Za-z]/g : /[^.]/g, random)
  }

  function moment(found: string): string {
    const days = Math.round((Date.parse(found) - started) / DAY_MS)
    // Of the sample product and the test card, whose dates are fixed.
    if (days < -300 || days > 1_000) return found
    const at = new Date(BASE)
    // A week before the end of a month, which has 28 to 31 days.
    if (days > 20 && days < 25) at.setUTCDate(at.getUTCDate() + 23)
    else if (days < 27) at.setUTCDate(at.getUTCDate() + days)
    else at.setUTCMonth(at.getUTCMonth() + Math.round(days / 30.44))
    return at.toISOString().slice(0, found.length)
  }

  function text(found: string, name: string): string {
    // The state of a job is a word, that of a sign-in is drawn.
    if (SECRETS.has(name) && !/^[a-z]{1,12}$/.test(found)) return replaceValue(found, WHOLE)
    if (DATES.has(name) && /^\d{4}-\d\d-\d\d$/.test(found)) return moment(found)
    let result = found
      .replace(
        new RegExp(`(?:localhost|127\\.0\\.0\\.1)(:|%3A)${http.port}\\b`, 'g'),
        'localhost$18000',
      )
      .replace(
        new RegExp(`(?:localhost|127\\.0\\.0\\.1)(:|%3A)${http.storefrontPort}\\b`, 'g'),
        'localhost$18001',
      )
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, moment)
      .replace(/^\d{4}-\d\d-\d\d(?=,)/gm, moment)
      .replace(/(?<="(?:created|created_at|completed_at)":)\d{10}\b/g, String(BASE / 1_000))
    for (const kind of IN_TEXT)
      result = result.replace(kind.pattern, (one) => replaceValue(one, kind))
    return result
  }

  function stable(value: unknown, name = ''): unknown {
    const hasStandIn = Object.hasOwn(BY_NAME, name) && typeof value === typeof BY_NAME[name]
    // The code of a result is a word, that of a second factor is drawn.
    const isWord = name === 'code' && /^[a-z]+(_[a-z]+)*$/.test(String(value))
    if (hasStandIn && value !== null && !isWord) return BY_NAME[name]
    if (typeof value === 'string') return text(value.replace(DOCUMENT, '$1…'), name)
    if (typeof value === 'number') {
      if (Object.hasOwn(DURATIONS, name)) return DURATIONS[name]
      return Math.abs(value * 1_000 - started) < DAY_MS ? BASE / 1_000 : rounded(value)
    }
    // Of keys that sign, the next one is published a day before it is used.
    if (Array.isArray(value))
      return value
        .slice(0, value[0]?.kid === undefined ? ITEMS_MAX : 1)
        .map((item) => stable(item, name))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries({ ...value, ...('pages' in value ? LENGTH : {}) })
    return Object.fromEntries(entries.map(([key, part]) => [key, stable(part, key)]))
  }

  return (operationId: string, example: Example): unknown => {
    operation = operationId
    return stable(example)
  }
}

/** An engine may add up in another order. */
const rounded = (value: number) => (Number.isInteger(value) ? value : Number(value.toPrecision(4)))

/** The same letters for the same seed, endlessly. */
function createLetters(seed: string, letters: string): () => string {
  // FNV-1a.
  let hash = 2_166_136_261
  for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 16_777_619)
  let state = 1 + ((hash >>> 0) % 2_147_483_646)
  return () => {
    // Park and Miller's generator: any that is fixed would do.
    state = (state * 48_271) % 2_147_483_647
    return letters[state % letters.length] ?? ''
  }
}

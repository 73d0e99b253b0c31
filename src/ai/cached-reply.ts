// Cached replies (X-Latchkey-Cache): a repeated request gets the earlier reply, free of charge.
// Each hit checks the permissions and is a call in the ledger without tokens and cost. The trap:
// every part of a request that changes its reply must be part of the key.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Model, Route } from '#models/catalogue.ts'
import { parseExactly } from '#platform/exact-json.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { openStream } from '#platform/http/sse.ts'
import { asObject } from '#platform/json.ts'
import { invalid } from '#platform/problems.ts'
import { type CallOrigin, timeoutParameter } from './call-origin.ts'
import { CallRecord, NOTHING } from './call-record.ts'
import type { CompletionStream } from './chat-call.ts'
import type { Gateway } from './gateway.ts'
import { VERSION_HEADERS } from './native-request.ts'
import type { CachedReply, ReplyCache } from './reply-cache.ts'
import { findRoutes } from './routing.ts'

type Json = Record<string, unknown>

export type CacheableCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'models' | 'budget'>
  /** The route as the ledger writes it. */
  route: string
  first: Route
  signal: AbortSignal
  origin?: CallOrigin | undefined
}

export type CacheableReply = {
  isStream: boolean
  kind?: Model['kind']
  /** The routes that may answer, for calls without a fallback. */
  routes?: readonly Route[]
}

export const CACHE_HEADER = 'x-latchkey-cache'
const SECONDS_MAX = 86_400

/** Request headers of all routes that call a model, for the API description. */
export const callParameters = [
  timeoutParameter,
  {
    name: 'X-Latchkey-Cache',
    in: 'header' as const,
    description:
      'Maximum age in seconds of a cached answer. An answer from the cache is free; otherwise the new answer is cached for this time. The reply has the same header with `hit` (and an `Age`) or `miss`.',
    schema: { type: 'integer', minimum: 1, maximum: SECONDS_MAX },
  },
]

/** The slot of one request in the reply cache. */
export type CacheSlot = {
  /** Sends the cached reply; returns null without one. */
  replay(): Promise<unknown>
  /** Never rejects. */
  keepBody(body: unknown): Promise<void>
  createRecorder(): StreamRecorder
}

/** Collects the events of a stream. Await `keep` before sending the last of them. */
export type StreamRecorder = {
  add(text: string): void
  keep(last: string, answer: Pick<CompletionStream, 'model' | 'headers'>): Promise<void>
}

/** Returns null for a request without the cache header. @throws Problem 400, 403, 422 */
export function openCacheSlot(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  call: CacheableCall,
  how: CacheableReply,
): CacheSlot | null {
  const header = request.headers[CACHE_HEADER]
  if (header === undefined) return null
  const seconds = parseSeconds(header)
  const { replies } = gateway
  const { userId } = call.caller
  const key = computeKey(replies, userId, collectKeyParts(gateway, request, call, how))
  const readVendor = (value: unknown) =>
    typeof value === 'string' ? value : (how.routes?.[0] ?? call.first).vendor
  return {
    async replay() {
      const cached = await replies.find(userId, key, seconds)
      if (cached !== null) return sendCached(gateway, reply, call, how, cached)
      reply.header(CACHE_HEADER, 'miss')
      return null
    },
    async keepBody(body) {
      const { model } = body as { model?: unknown }
      await replies.keep(userId, key, seconds, {
        text: JSON.stringify(zeroCost(body as Json)),
        vendor: readVendor(reply.getHeader('x-latchkey-vendor')),
        model: typeof model === 'string' ? model : call.first.model,
      })
    },
    createRecorder: () =>
      createRecorder(replies.limits.reply, (text, { model, headers }) =>
        replies.keep(userId, key, seconds, {
          text,
          model,
          vendor: readVendor(headers['x-latchkey-vendor']),
        }),
      ),
  }
}

/** @throws Problem 422, or 400 in OpenAI's and Anthropic's APIs */
function parseSeconds(wanted: string | string[]): number {
  const seconds = typeof wanted === 'string' && /^\d{1,5}$/.test(wanted) ? Number(wanted) : 0
  if (seconds >= 1 && seconds <= SECONDS_MAX) return seconds
  throw invalid(
    ['header', 'X-Latchkey-Cache'],
    `Should be a number of seconds from 1 to ${SECONDS_MAX}`,
  )
}

/** @throws Problem 422, or 400 as for `parseSeconds` */
function computeKey(replies: ReplyCache, userId: string, keyParts: unknown): string {
  try {
    return replies.computeKey(userId, keyParts)
  } catch (error) {
    if (error instanceof RangeError) throw invalid(['body'], 'Is nested too deeply for the cache')
    throw error
  }
}

/** Returns everything that determines the reply. @throws Problem 400, 403 */
function collectKeyParts(
  { config }: Gateway,
  { headers, body }: FastifyRequest,
  { caller, route, first }: CacheableCall,
  { routes = findRoutes(config, caller, first) }: CacheableReply,
) {
  return [
    route,
    routes.map(({ vendor, model }) => [vendor, model]),
    VERSION_HEADERS.map((name) => headers[name] ?? null),
    body,
  ]
}

async function sendCached(
  gateway: Gateway,
  reply: FastifyReply,
  { caller, route, signal, origin }: CacheableCall,
  { isStream, kind = 'chat' }: CacheableReply,
  { text, vendor, model, ageSeconds }: CachedReply,
): Promise<unknown> {
  const record = await CallRecord.open(gateway, {
    caller,
    route,
    kind,
    first: { vendor, model },
    signal,
    origin,
    promptTokens: 0,
    completionTokens: 0,
    isReserved: false,
  })
  record.attemptLog.steps.push('cache')
  await record.settle('ok', { model, usage: NOTHING, isEstimated: false })
  reply.headers({
    [CACHE_HEADER]: 'hit',
    age: String(ageSeconds),
    'x-latchkey-vendor': vendor,
    'x-latchkey-attempts': '0',
  })
  if (!isStream) return parseExactly(text)
  const events = openStream(reply)
  void events.write(text)
  events.end()
  return reply
}

/** Discards a stream that grows longer than `lengthMax`. */
function createRecorder(
  lengthMax: number,
  store: (text: string, answer: Parameters<StreamRecorder['keep']>[1]) => Promise<void>,
): StreamRecorder {
  let parts: string[] | null = []
  let length = 0
  const add = (text: string) => {
    length += text.length
    if (length > lengthMax) parts = null
    else parts?.push(text)
  }
  return {
    add,
    async keep(last, answer) {
      add(last)
      if (parts !== null) await store(zeroEventCosts(parts.join('')), answer)
    },
  }
}

/** A cached reply costs nothing. */
function zeroCost(body: Json): Json {
  const usage = asObject(body.usage)
  return usage === null || usage.cost_usd === undefined
    ? body
    : { ...body, usage: { ...usage, cost_usd: 0 } }
}

const DATA = 'data: '

/** Sets the cost in the usage event to zero; all other events stay unchanged, byte for byte. */
function zeroEventCosts(text: string): string {
  if (!text.includes('"cost_usd"')) return text
  return text
    .split('\n')
    .map((line) => {
      if (!line.startsWith(DATA) || !line.includes('"cost_usd"')) return line
      const event = asObject(parseExactly(line.slice(DATA.length)))
      if (event === null) return line
      const response = asObject(event.response)
      const free = response === null ? zeroCost(event) : { ...event, response: zeroCost(response) }
      return `${DATA}${JSON.stringify(free)}`
    })
    .join('\n')
}

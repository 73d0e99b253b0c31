// Replies by X-Latchkey-Cache: a request that has been answered within so many seconds gets the same reply again, for nothing.
// What the caller may ask is asked anew before each, and each is a call in the ledger, of no tokens and no cost.
// The trap: what is kept is what was sent, so whatever of a request changes its reply must be part of the key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Model, Route } from '#models/catalogue.ts'
import { parseExactly } from '#platform/exact-json.ts'
import type { Caller } from '#platform/http/access-control.ts'
import { openStream } from '#platform/http/sse.ts'
import { invalid } from '#platform/problems.ts'
import { type CallOrigin, timeoutParameter } from './call-origin.ts'
import { NOTHING, openCall } from './call-record.ts'
import type { Gateway } from './gateway.ts'
import { VERSION_HEADERS } from './native-request.ts'
import type { CachedReply, ReplyCache } from './reply-cache.ts'
import { fallbackChain } from './routing.ts'
import type { ReplyKeeper } from './stream-encoder.ts'
import { objectOf } from './vendors/json.ts'

type Json = Record<string, unknown>

export type CacheableCall = {
  caller: Pick<Caller, 'userId' | 'keyId' | 'tier' | 'slices' | 'models' | 'budget'>
  /** As the ledger names it. */
  route: string
  first: Route
  signal: AbortSignal
  origin?: CallOrigin | undefined
}

export type CacheableReply = {
  isStream: boolean
  kind?: Model['kind']
  /** Who may answer, where that is no matter of fallbacks. */
  routes?: readonly Route[]
}

export const CACHE_HEADER = 'x-latchkey-cache'
const SECONDS_MAX = 86_400

/** Headers of a request that asks a model, in the API's description. */
export const callParameters = [
  timeoutParameter,
  {
    name: 'X-Latchkey-Cache',
    in: 'header' as const,
    description:
      'Answer from the cache where the same request was answered within so many seconds, at no cost; else keep the answer for as long. The reply says `hit`, with `Age`, or `miss`.',
    schema: { type: 'integer', minimum: 1, maximum: SECONDS_MAX },
  },
]

/** Sends what is kept, or else `answer`, which keeps what it streams by the keeper it gets. @throws Problem 400, 403, 422; as `answer` */
export function cachedReply<T>(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  call: CacheableCall,
  how: CacheableReply,
  answer: (keeper: ReplyKeeper | null) => Promise<T>,
): Promise<T | FastifyReply> {
  const wanted = request.headers[CACHE_HEADER]
  return wanted === undefined
    ? answer(null)
    : throughCache(gateway, request, reply, call, how, answer, secondsOf(wanted))
}

async function throughCache<T>(
  gateway: Gateway,
  request: FastifyRequest,
  reply: FastifyReply,
  call: CacheableCall,
  how: CacheableReply,
  answer: (keeper: ReplyKeeper | null) => Promise<T>,
  seconds: number,
): Promise<T | FastifyReply> {
  const { replies } = gateway
  const { userId } = call.caller
  const key = keyOf(replies, userId, decisive(gateway, request, call, how))
  const kept = await replies.find(userId, key, seconds)
  if (kept !== null) return replay(gateway, reply, call, how, kept) as Promise<T | FastifyReply>

  reply.header(CACHE_HEADER, 'miss')
  const vendorOf = (said: unknown) =>
    typeof said === 'string' ? said : (how.routes?.[0] ?? call.first).vendor
  if (how.isStream)
    return answer(
      keeperOf(gateway, (text, { model, headers }) =>
        replies.keep(userId, key, seconds, {
          text,
          model,
          vendor: vendorOf(headers['x-latchkey-vendor']),
        }),
      ),
    )

  const body = await answer(null)
  const { model } = body as { model?: unknown }
  const text = JSON.stringify(costless(body as Json))
  const vendor = vendorOf(reply.getHeader('x-latchkey-vendor'))
  await replies.keep(userId, key, seconds, {
    text,
    vendor,
    model: typeof model === 'string' ? model : call.first.model,
  })
  return body
}

/** @throws Problem 422; as the route's API has it 400 */
function secondsOf(wanted: string | string[]): number {
  const seconds = typeof wanted === 'string' && /^\d{1,5}$/.test(wanted) ? Number(wanted) : 0
  if (seconds >= 1 && seconds <= SECONDS_MAX) return seconds
  throw invalid(['header', 'X-Latchkey-Cache'], `Is a number of seconds from 1 to ${SECONDS_MAX}`)
}

/** @throws Problem 422; as `secondsOf` */
function keyOf(replies: ReplyCache, userId: string, decided: unknown): string {
  try {
    return replies.keyOf(userId, decided)
  } catch (error) {
    if (error instanceof RangeError) throw invalid(['body'], 'Is nested too deeply for the cache')
    throw error
  }
}

/** All that decides what a request is answered. @throws Problem 400, 403 where its caller may not ask */
function decisive(
  { config }: Gateway,
  { headers, body }: FastifyRequest,
  { caller, route, first }: CacheableCall,
  { routes = fallbackChain(config, caller, first) }: CacheableReply,
) {
  return [
    route,
    routes.map(({ vendor, model }) => [vendor, model]),
    VERSION_HEADERS.map((name) => headers[name] ?? null),
    body,
  ]
}

async function replay(
  gateway: Gateway,
  reply: FastifyReply,
  { caller, route, signal, origin }: CacheableCall,
  { isStream, kind = 'chat' }: CacheableReply,
  { text, vendor, model, ageSeconds }: CachedReply,
): Promise<unknown> {
  const record = await openCall(gateway, {
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

/** Collects a stream; what is too long is let go as it comes. */
function keeperOf(
  { replies }: Gateway,
  keep: (text: string, answer: Parameters<ReplyKeeper['whole']>[1]) => Promise<void>,
): ReplyKeeper {
  let parts: string[] | null = []
  let length = 0
  const add = (text: string) => {
    length += text.length
    if (length > replies.limits.reply) parts = null
    else parts?.push(text)
  }
  return {
    add,
    async whole(last, answer) {
      add(last)
      if (parts !== null) await keep(costlessEvents(parts.join('')), answer)
    },
  }
}

/** The next caller pays nothing. */
function costless(body: Json): Json {
  const usage = objectOf(body.usage)
  return usage === null || usage.cost_usd === undefined
    ? body
    : { ...body, usage: { ...usage, cost_usd: 0 } }
}

const DATA = 'data: '

/** The same in whichever of a stream's events tells the cost; all others stay as they are, byte for byte. */
function costlessEvents(text: string): string {
  if (!text.includes('"cost_usd"')) return text
  return text
    .split('\n')
    .map((line) => {
      if (!line.startsWith(DATA) || !line.includes('"cost_usd"')) return line
      const event = objectOf(parseExactly(line.slice(DATA.length)))
      if (event === null) return line
      const response = objectOf(event.response)
      const free = response === null ? costless(event) : { ...event, response: costless(response) }
      return `${DATA}${JSON.stringify(free)}`
    })
    .join('\n')
}

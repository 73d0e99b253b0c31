// Guards every route: who calls, how often, and whether they may. Each route announces its terms in `config`.
// One thing to know: the order is identify, count, decide: a flood of bad tokens is counted by its address.
import '@fastify/cookie'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type Catalogue, type Entitlement, grantsOf, namesOfPlansWith } from '../../catalogue/catalogue.ts'
import type { Config, Rate } from '../../config.ts'
import type { Problem } from '../problem.ts'
import { platformProblem, unauthenticated } from '../problems.ts'
import { type Hit, type RateLimiter, rateHeaders, rateProblem } from '../rate-limiter.ts'
import { addressKey } from './address.ts'
import { isApiRequest } from './path.ts'

/** Who asks. `keyId` is set for an API key, `sessionId` for a JWT or the storefront's cookie. */
export type Caller = {
  userId: string
  email: string
  sessionId: string | null
  keyId: string | null
  tier: string
  isActive: boolean
  isVerified: boolean
  isSuperuser: boolean
  /** What an API key is confined to; null: everything that keys may do. */
  scopes: readonly string[] | null
  /** Models that a key may ask for, by names and patterns; null: what the plan has. */
  models?: readonly string[] | null
  /** A key's own limit, which counts beside the bucket's. */
  rate?: { requests: number; seconds: number } | null
}

export type Access = 'anyone' | 'user' | 'user-or-key' | 'superuser' | 'session'
export type Bucket = 'general' | 'ai' | 'rag' | 'signup' | 'none'

/** At once where memory tells it: each promise costs a small request a turn of the queue. */
export type MaybePromise<T> = T | Promise<T>

/** Tells who holds a credential; null when it is not valid. */
export type Authenticators = {
  /** A JWT access token, or an API key where `keys` allows it. `fresh`: as the database has it now, not as remembered. */
  bearer(token: string, options: { keys: boolean; fresh?: boolean }): MaybePromise<Caller | null>
  /** The storefront's cookie. */
  session(token: string): Promise<Caller | null>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** What the caller's plan has to grant; where an API key calls, it has to grant API keys as well. */
    needs?: Entitlement
    /** The bucket that counts the call; general when left out. */
    limit?: Bucket
    /** The scope that a confined API key needs. */
    scope?: string
    /** What the reply may stream, by the event's name, each with a description; `message` where an event has none. */
    events?: Record<string, object>
    /** Whether the route is under /api or /v1, told by its pattern; unset where a route takes every address. */
    isApi?: boolean | undefined
  }
  interface FastifyRequest {
    caller: Caller | null
  }
}

export const SESSION_COOKIE = 'store_session'

/** @returns an onRequest hook. */
export function createAccessControl({
  config,
  limiter,
  authenticators,
}: {
  config: Config
  limiter: RateLimiter
  authenticators: Authenticators
}) {
  return function gate(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    let passage: MaybePromise<void>
    try {
      passage = pass(request, reply)
    } catch (error) {
      done(error as Error)
      return
    }
    if (passage === undefined) done()
    else passage.then(() => done(), done)
  }

  function pass(request: FastifyRequest, reply: FastifyReply): MaybePromise<void> {
    // Fastify gathers `routeOptions` anew at each look; an address that is malformed has none.
    const terms = request.routeOptions.config ?? {}
    let caller: MaybePromise<Caller | null>
    try {
      caller = identify(request, terms.access ?? 'anyone', authenticators)
    } catch (error) {
      return refuse(request, reply, terms, error)
    }
    return caller instanceof Promise
      ? caller.then(
          (found) => admit(request, reply, terms, found),
          (error) => refuse(request, reply, terms, error),
        )
      : admit(request, reply, terms, caller)
  }

  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    terms: RoutePolicy,
    caller: Caller | null,
  ): MaybePromise<void> {
    request.caller = caller
    const counted = count(request, reply, terms)
    if (counted !== undefined) return counted.then(() => judge(request, terms))
    return judge(request, terms)
  }

  /**
   * What is remembered of a caller is up to half a second old, and another node may just have sold what is asked for: a
   * refusal is read again before it is spoken. Refusals are few; what is allowed costs nothing more.
   */
  function judge(request: FastifyRequest, terms: RoutePolicy): MaybePromise<void> {
    try {
      decide(config.catalogue, request.caller, terms)
    } catch (refusal) {
      const token = request.caller && terms.access !== 'session' ? bearerToken(request.headers.authorization) : null
      if (token === null) throw refusal
      return judgeAnew(request, terms, token)
    }
  }

  async function judgeAnew(request: FastifyRequest, terms: RoutePolicy, token: string): Promise<void> {
    request.caller = await authenticators.bearer(token, { keys: terms.access === 'user-or-key', fresh: true })
    decide(config.catalogue, request.caller, terms)
  }

  /** Who cannot be identified, because the database is away, is counted by the address. */
  async function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    terms: RoutePolicy,
    error: unknown,
  ): Promise<never> {
    await count(request, reply, terms)
    throw error
  }

  function count(request: FastifyRequest, reply: FastifyReply, terms: RoutePolicy): MaybePromise<void> {
    const bucket = terms.limit ?? (isApiRequest(request, terms) ? 'general' : 'none')
    const { caller } = request
    // A key's own limit holds whatever the others are set to.
    if (caller?.rate && caller.keyId !== null) return countKeyToo(request, reply, bucket, caller.keyId, caller.rate)
    const hit = hitBucket(request, bucket)
    if (hit instanceof Promise) return hit.then((one) => announce(reply, one))
    if (hit !== null) announce(reply, hit)
  }

  /** All keys of a user share the user's count: else a thousand keys were a thousand limits. */
  function hitBucket(request: FastifyRequest, bucket: Bucket): MaybePromise<Hit> | null {
    const { caller } = request
    // Without a limit of their own registrations are requests like others.
    const named = bucket === 'signup' && config.limits.signup === null ? 'general' : bucket
    const rate = named === 'none' ? null : config.limits[named]
    return rate && limiter.hit(named, caller ? caller.userId : addressKey(request.ip), rate)
  }

  /** The key's limit goes first: what it refuses takes nothing from the user's other keys. The nearer of the two is told. */
  async function countKeyToo(
    request: FastifyRequest,
    reply: FastifyReply,
    bucket: Bucket,
    keyId: string,
    own: NonNullable<Rate>,
  ): Promise<void> {
    const ofKey = await limiter.hit('key', keyId, own)
    announce(reply, ofKey)
    const ofUser = await hitBucket(request, bucket)
    if (ofUser && (!ofUser.allowed || ofUser.remaining < ofKey.remaining)) announce(reply, ofUser)
  }
}

type RoutePolicy = FastifyContextConfig

/** The caller of a route whose `access` is not `anyone`. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.routeOptions.url} asks for its caller without announcing access`)
  return request.caller
}

function identify(
  request: FastifyRequest,
  access: Access,
  authenticators: Authenticators,
): MaybePromise<Caller | null> {
  if (access === 'anyone') return null
  if (access === 'session') {
    const token = request.cookies?.[SESSION_COOKIE]
    return token ? authenticators.session(token) : null
  }
  const token = bearerToken(request.headers.authorization)
  return token ? authenticators.bearer(token, { keys: access === 'user-or-key' }) : null
}

function decide(catalogue: Catalogue, caller: Caller | null, { access = 'anyone', needs, scope }: RoutePolicy): void {
  if (access === 'anyone') return
  if (!caller) throw access === 'session' ? platformProblem('not_signed_in') : unauthenticated()
  if (!caller.isActive) throw platformProblem('inactive_account')
  if (access === 'superuser' && !caller.isSuperuser) throw platformProblem('not_superuser')
  if (needs) {
    const granted = grantsOf(catalogue, caller.tier)
    if (!granted.includes(needs)) throw notGranted(catalogue, needs, 'This feature')
    // A key that an earlier plan has left would be a way around the present one.
    if (caller.keyId !== null && !granted.includes('api_keys'))
      throw notGranted(catalogue, 'api_keys', 'Calling with an API key')
  }
  if (scope && caller.scopes && !caller.scopes.includes(scope)) {
    throw platformProblem('scope_missing', { scope })
  }
}

/** In the catalogue's words: `This feature requires a Pro or Enterprise subscription`. */
function notGranted(catalogue: Catalogue, entitlement: Entitlement, what: string): Problem {
  const names = namesOfPlansWith(catalogue, entitlement, 'or')
  const article = /^[aeiou]/i.test(names ?? '') ? 'an' : 'a'
  const requirement = names === null ? 'is part of no plan' : `requires ${article} ${names} subscription`
  return platformProblem('paid_tier_needed', { what, requirement })
}

function announce(reply: FastifyReply, hit: Hit): void {
  if (!hit.allowed) throw rateProblem(hit)
  reply.headers(rateHeaders(hit))
}

/** RFC 6750: one space, the scheme in any case. Whether the rest is a token, who checks it must say. */
function bearerToken(header: string | undefined): string | null {
  if (!header || header.length > 4_096 || header.charCodeAt(6) !== 0x20) return null
  const scheme = header.slice(0, 6)
  return scheme === 'Bearer' || scheme.toLowerCase() === 'bearer' ? header.slice(7) : null
}

// Guards every route: who calls, how often, and whether they may. Each route announces its terms in `config`.
// One thing to know: the order is identify, count, decide: a flood of bad tokens is counted by its address.
import '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../../config.ts'
import { type Hit, type Limiter, rateHeaders, rateProblem } from '../limiter.ts'
import { Problem } from '../problem.ts'
import { addressKey } from './address.ts'

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
  /** A key's own limit, which counts beside the bucket's. */
  rate?: { requests: number; seconds: number } | null
}

export type Access = 'anyone' | 'user' | 'user-or-key' | 'superuser' | 'session'
export type Bucket = 'general' | 'ai' | 'rag' | 'none'

/** Tells who holds a credential; null when it is not valid. */
export type Authenticators = {
  /** A JWT access token, or an API key where `keys` allows it. */
  bearer(token: string, options: { keys: boolean }): Promise<Caller | null>
  /** The storefront's cookie. */
  session(token: string): Promise<Caller | null>
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Only for the tiers pro and enterprise. */
    paid?: boolean
    /** The bucket that counts the call; general when left out. */
    limit?: Bucket
    /** The scope that a confined API key needs. */
    scope?: string
  }
  interface FastifyRequest {
    caller: Caller | null
  }
}

export const SESSION_COOKIE = 'store_session'

/** @returns an onRequest hook. */
export function createGate({
  config,
  limiter,
  authenticators,
}: {
  config: Config
  limiter: Limiter
  authenticators: Authenticators
}) {
  return async function gate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const terms = request.routeOptions.config
    const access = terms.access ?? 'anyone'

    request.caller = await identify(request, access, authenticators)
    await count(request, reply, terms.limit ?? defaultBucket(request))
    decide(request, access)
  }

  async function count(request: FastifyRequest, reply: FastifyReply, bucket: Bucket): Promise<void> {
    const rate = bucket === 'none' ? null : config.limits[bucket]
    if (rate === null || bucket === 'none') return
    const { caller } = request
    const key = caller ? (caller.keyId ?? caller.userId) : addressKey(request.ip)
    announce(reply, await limiter.hit(bucket, key, rate))
    if (caller?.keyId && caller.rate) announce(reply, await limiter.hit('key', caller.keyId, caller.rate))
  }
}

/** The caller of a route whose `access` is not `anyone`. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.routeOptions.url} asks for its caller without announcing access`)
  return request.caller
}

/** @throws the 401 of the contract. */
export function unauthenticated(): Problem {
  return new Problem('unauthenticated', 401, 'Could not validate credentials', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  })
}

async function identify(
  request: FastifyRequest,
  access: Access,
  authenticators: Authenticators,
): Promise<Caller | null> {
  if (access === 'anyone') return null
  if (access === 'session') {
    const token = request.cookies?.[SESSION_COOKIE]
    return token ? authenticators.session(token) : null
  }
  const token = bearerToken(request.headers.authorization)
  return token ? authenticators.bearer(token, { keys: access === 'user-or-key' }) : null
}

function decide(request: FastifyRequest, access: Access): void {
  if (access === 'anyone') return
  const { caller } = request
  const { paid, scope } = request.routeOptions.config
  if (!caller) throw access === 'session' ? new Problem('unauthenticated', 401, 'Not authenticated') : unauthenticated()
  if (!caller.isActive) throw new Problem('inactive_account', 403, 'Inactive account')
  if (access === 'superuser' && !caller.isSuperuser) throw new Problem('not_superuser', 403, 'Not enough permissions')
  if (paid && caller.tier !== 'pro' && caller.tier !== 'enterprise') {
    throw new Problem('paid_tier_needed', 403, 'This feature requires a Pro or Enterprise subscription')
  }
  if (scope && caller.scopes && !caller.scopes.includes(scope)) {
    throw new Problem('scope_missing', 403, `This API key is not allowed to use '${scope}'`)
  }
}

function announce(reply: FastifyReply, hit: Hit): void {
  if (!hit.allowed) throw rateProblem(hit)
  reply.headers(rateHeaders(hit))
}

function defaultBucket(request: FastifyRequest): Bucket {
  return request.url.startsWith('/api') || request.url.startsWith('/v1') ? 'general' : 'none'
}

/** RFC 6750: one space, the scheme in any case. */
function bearerToken(header: string | undefined): string | null {
  const match = header && header.length <= 4_096 ? /^bearer ([\w\-.~+/]+=*)$/i.exec(header) : null
  return match?.[1] ?? null
}

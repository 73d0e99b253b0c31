/**
 * Access control: an onRequest hook that identifies the caller, counts the request and authorizes
 * it, in this order, so that bad tokens are counted by their address. Each route declares its
 * policy in its `config`.
 */
import '@fastify/cookie'
import type {
  FastifyContextConfig,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from 'fastify'
import type { AllowanceSlice } from '#catalogue/catalogue.ts'
import type { Rate } from '#config/config.ts'
import type { Problem } from '../problem.ts'
import { platformProblem, unauthenticated } from '../problems.ts'
import { type Hit, type RateLimiter, rateHeaders, rateProblem } from '../rate-limiter.ts'
import { addressKey, isInNetworks, plainAddress } from './address.ts'
import { isApiRequest } from './path.ts'

/**
 * The caller of a request. `keyId` is set for an API key, `sessionId` for a JWT or a session's
 * cookie.
 */
export type Caller = {
  userId: string
  email: string
  sessionId: string | null
  keyId: string | null
  tier: string
  /**
   * The part of the plan's allowance that payments bought. Null when no payment covers the plan;
   * its allowance then counts by calendar month.
   */
  slices: readonly AllowanceSlice[] | null
  isActive: boolean
  isVerified: boolean
  isSuperuser: boolean
  /**
   * The superuser who views this account read-only. Such a caller has no session of the account and
   * reaches only `viewable` routes.
   */
  viewerId?: string
  /** True for a superuser without the second factor that this service requires. */
  lacksTwoFactor?: boolean
  /** The API key's scopes; null: all scopes. */
  scopes: readonly string[] | null
  /** Models that a key may use, as names and patterns; null: all models of the plan. */
  models?: readonly string[] | null
  /** The key's limit, which applies in addition to the bucket's. */
  rate?: { requests: number; seconds: number } | null
  /** The key's budgets, which apply in addition to the plan's. */
  budget?: KeyBudget | null
  /** Networks from which a key may be used, as `10.0.0.0/8`; null: from everywhere. */
  addresses?: readonly string[] | null
}

/**
 * A key's limits: tokens per UTC month, and dollars per UTC day, ISO week or month; null: no
 * separate limit.
 */
export type KeyBudget = {
  monthlyTokens: number | null
  dollars: { limitNanos: number; period: 'day' | 'week' | 'month' } | null
}

export type Access = 'anyone' | 'user' | 'user-or-key' | 'superuser' | 'session'

/** The policy that a route declares in its `config`. */
export type RoutePolicy = FastifyContextConfig

/** Cached results are returned without a promise, because every promise delays small requests. */
export type MaybePromise<T> = T | Promise<T>

/** Returns the holder of a credential; null when it is not valid. */
export type Authenticators = {
  /**
   * Authenticates a JWT access token, or an API key where `keys` allows it. `fresh`: reads the
   * database instead of the cache.
   */
  bearer(token: string, options: { keys: boolean; fresh?: boolean }): MaybePromise<Caller | null>
  apiKey: {
    /** Returns true when the text has the form of an API key, and not of a JWT. */
    claims(token: string): boolean
    authenticate(secret: string, options: { fresh?: boolean }): MaybePromise<Caller | null>
  }
  session: {
    cookie: string
    authenticate(token: string): Promise<Caller | null>
    /** The problem for requests without a session to a route with `access: 'session'`. */
    problem(): Problem
  }
}

/** The features that the callers' plans grant. */
export type Entitlements = {
  /** @throws Problem when the caller's plan does not grant what the route needs. */
  require(caller: Caller, policy: RoutePolicy): void
  /**
   * Returns the plans that grant what the route needs, for the API's description; null when it
   * needs nothing.
   */
  describe(policy: RoutePolicy): string | null
}

/** Rates by bucket; null removes the bucket's limit. */
export type Limits = Readonly<Record<string, Rate>>

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /**
     * Pages of every origin may call the route and read its reply. It must ignore cookies.
     */
    origins?: 'any'
    /**
     * The bucket that counts the request, or `none`. Default: `general` for requests to the API.
     */
    limit?: string
    /**
     * A superuser who views the caller's account may read the route. It returns no secret, no link
     * that opens without a sign-in, and no content of documents and conversations.
     */
    viewable?: true
    /** The scope that an API key with restricted scopes needs. */
    scope?: string
    /**
     * The events that the reply may stream, by name, each with a description; `message` where an
     * event has none.
     */
    events?: Record<string, object>
    /**
     * True when the route belongs to the API, by its pattern; unset for a route that matches every
     * address.
     */
    isApi?: boolean | undefined
  }
  interface FastifyRequest {
    caller: Caller | null
  }
}

type Deps = {
  limiter: RateLimiter
  limits: Limits
  authenticators: Authenticators
  entitlements: Entitlements
  /** Which paths are the API's. */
  api: RegExp
}

export class AccessControl {
  readonly #limiter: RateLimiter
  readonly #limits: Limits
  readonly #authenticators: Authenticators
  readonly #entitlements: Entitlements
  readonly #api: RegExp

  constructor({ limiter, limits, authenticators, entitlements, api }: Deps) {
    this.#limiter = limiter
    this.#limits = limits
    this.#authenticators = authenticators
    this.#entitlements = entitlements
    this.#api = api
  }

  /** The onRequest hook. */
  hook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    let outcome: MaybePromise<void>
    try {
      outcome = this.#controlAccess(request, reply)
    } catch (error) {
      done(error as Error)
      return
    }
    if (outcome === undefined) done()
    else outcome.then(() => done(), done)
  }

  #controlAccess(request: FastifyRequest, reply: FastifyReply): MaybePromise<void> {
    // Fastify builds `routeOptions` on each access. A malformed address has none.
    const policy = request.routeOptions.config ?? {}
    let caller: MaybePromise<Caller | null>
    try {
      caller = identify(request, policy.access ?? 'anyone', this.#authenticators)
    } catch (error) {
      return this.#countAndThrow(request, reply, policy, error)
    }
    return caller instanceof Promise
      ? caller.then(
          (found) => this.#countAndAuthorize(request, reply, policy, found),
          (error) => this.#countAndThrow(request, reply, policy, error),
        )
      : this.#countAndAuthorize(request, reply, policy, caller)
  }

  #countAndAuthorize(
    request: FastifyRequest,
    reply: FastifyReply,
    policy: RoutePolicy,
    caller: Caller | null,
  ): MaybePromise<void> {
    // A key used from a disallowed network is counted by the address, so that a thief does not use
    // up the owner's this.#limits.
    if (caller?.addresses && !isInNetworks(caller.addresses, request.ip))
      return this.#authorizeElsewhere(request, reply, policy)
    request.caller = caller
    const counted = this.#count(request, reply, policy)
    if (counted !== undefined) return counted.then(() => this.#authorizeAsOfNow(request, policy))
    return this.#authorizeAsOfNow(request, policy)
  }

  /** Reads the key again, because its cached networks may be slightly stale. */
  async #authorizeElsewhere(
    request: FastifyRequest,
    reply: FastifyReply,
    policy: RoutePolicy,
  ): Promise<void> {
    await this.#count(request, reply, policy)
    await this.#authorizeAnew(request, policy)
  }

  /**
   * While the database is unreachable, callers cannot be identified and are counted by the address.
   */
  async #countAndThrow(
    request: FastifyRequest,
    reply: FastifyReply,
    policy: RoutePolicy,
    error: unknown,
  ): Promise<never> {
    await this.#count(request, reply, policy)
    throw error
  }

  #count(request: FastifyRequest, reply: FastifyReply, policy: RoutePolicy): MaybePromise<void> {
    const bucket = policy.limit ?? (isApiRequest(request, policy, this.#api) ? 'general' : 'none')
    const { caller } = request
    // A key's own limit always applies, in addition to the bucket's.
    if (caller?.rate && caller.keyId !== null)
      return this.#countKeyToo(request, reply, bucket, caller.keyId, caller.rate)
    const hit = this.#hitBucket(request, bucket)
    if (hit instanceof Promise) return hit.then((one) => this.#judge(request, reply, one))
    if (hit !== null) this.#judge(request, reply, hit)
  }

  /**
   * Rejects a request over the limit. For an anonymous address it also closes the connection,
   * because a rejected request costs the service more than the sender. A proxy's connection stays
   * open.
   */
  #judge({ caller, ip, raw }: FastifyRequest, reply: FastifyReply, hit: Hit): void {
    if (!hit.allowed && caller === null && ip === raw.socket.remoteAddress)
      reply.header('connection', 'close')
    requireWithinLimit(reply, hit)
  }

  /**
   * The key's limit is checked first, so that its rejections do not use up the limit of the user's
   * other keys. The reply shows the limit with fewer remaining requests.
   */
  async #countKeyToo(
    request: FastifyRequest,
    reply: FastifyReply,
    bucket: string,
    keyId: string,
    own: NonNullable<Rate>,
  ): Promise<void> {
    const ofKey = await this.#limiter.hit('key', keyId, own)
    requireWithinLimit(reply, ofKey)
    const ofUser = await this.#hitBucket(request, bucket)
    if (ofUser && (!ofUser.allowed || ofUser.remaining < ofKey.remaining))
      requireWithinLimit(reply, ofUser)
  }

  /** All keys of a user share one count. Otherwise a thousand keys would have a thousand this.#limits. */
  #hitBucket({ caller, ip }: FastifyRequest, bucket: string): MaybePromise<Hit> | null {
    const rate = bucket === 'none' ? null : this.#limits[bucket]
    if (!rate) return null
    // A view must not use up the limit of the viewed user.
    const counted = caller ? (caller.viewerId ?? caller.userId) : addressKey(ip)
    return this.#limiter.hit(bucket, counted, rate)
  }

  /**
   * A cached caller may be half a second old, and another node may have just sold the feature. So
   * the caller is read again before a rejection. Allowed requests pay nothing for this.
   */
  #authorizeAsOfNow(request: FastifyRequest, policy: RoutePolicy): MaybePromise<void> {
    try {
      this.#authorize(request, policy)
    } catch (refusal) {
      if (!request.caller || policy.access === 'session') throw refusal
      return this.#authorizeAnew(request, policy)
    }
  }

  async #authorizeAnew(request: FastifyRequest, policy: RoutePolicy): Promise<void> {
    request.caller = await identify(request, policy.access ?? 'anyone', this.#authenticators, {
      fresh: true,
    })
    this.#authorize(request, policy)
  }

  #authorize({ caller, ip, method }: FastifyRequest, policy: RoutePolicy): void {
    const { access = 'anyone', scope } = policy
    if (access === 'anyone') return
    if (!caller)
      throw access === 'session' ? this.#authenticators.session.problem() : unauthenticated()
    if (caller.viewerId !== undefined && !canView(method, policy))
      throw platformProblem('view_read_only')
    if (caller.addresses && !isInNetworks(caller.addresses, ip)) {
      throw platformProblem('address_not_allowed', { address: plainAddress(ip) })
    }
    if (!caller.isActive) throw platformProblem('inactive_account')
    if (access === 'superuser' && !caller.isSuperuser) throw platformProblem('not_superuser')
    if (access === 'superuser' && caller.lacksTwoFactor) throw platformProblem('two_factor_needed')
    this.#entitlements.require(caller, policy)
    if (scope) requireScope(caller, scope)
  }
}

/** The one rule for views of an account: no write, and no route that is not marked for them. */
function canView(method: string, { viewable }: RoutePolicy): boolean {
  return viewable === true && (method === 'GET' || method === 'HEAD')
}

/** Requires a scope. The scope `notes` includes `notes:read`. @throws Problem 403 */
export function requireScope({ scopes }: Pick<Caller, 'scopes'>, scope: string): void {
  if (!hasScope(scopes, scope)) throw platformProblem('scope_missing', { scope })
}

export function hasScope(scopes: Caller['scopes'], scope: string): boolean {
  if (scopes === null || scopes.includes(scope)) return true
  const colon = scope.indexOf(':')
  return colon !== -1 && scopes.includes(scope.slice(0, colon))
}

/** Returns the caller of a route whose `access` is not `anyone`. */
export function requireCaller(request: FastifyRequest): Caller {
  if (!request.caller)
    throw new Error(
      `${request.routeOptions.url} reads its caller but has no "access" policy: add one`,
    )
  return request.caller
}

/**
 * An API key is also accepted in `x-api-key`, which some vendors' clients use. A bearer token takes
 * precedence even when it is invalid: some clients send both headers, and the second must not
 * replace a bad token.
 */
function identify(
  { headers, cookies }: FastifyRequest,
  access: Access,
  { bearer, apiKey, session }: Authenticators,
  { fresh = false } = {},
): MaybePromise<Caller | null> {
  if (access === 'anyone') return null
  if (access === 'session') {
    const token = cookies?.[session.cookie]
    return token ? session.authenticate(token) : null
  }
  const token = bearerToken(headers.authorization)
  if (token) return bearer(token, { keys: access === 'user-or-key', fresh })
  const secret = access === 'user-or-key' ? headers['x-api-key'] : undefined
  return typeof secret === 'string' ? apiKey.authenticate(secret, { fresh }) : null
}

function requireWithinLimit(reply: FastifyReply, hit: Hit): void {
  if (!hit.allowed) throw rateProblem(hit)
  reply.headers(rateHeaders(hit))
}

/**
 * Returns the token after `Bearer` in any case and one space (RFC 6750). Does not check the token.
 */
export function bearerToken(header: string | undefined): string | null {
  if (!header || header.length > 4_096 || header.charCodeAt(6) !== 0x20) return null
  const scheme = header.slice(0, 6)
  return scheme === 'Bearer' || scheme.toLowerCase() === 'bearer' ? header.slice(7) : null
}

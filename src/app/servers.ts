/**
 * Creates the two servers with the routes of their rooms, health checks, API descriptions and the
 * user app.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { anthropicErrors } from '#ai/anthropic-messages/errors.ts'
import { isAnthropicClient } from '#ai/anthropic-messages/models.ts'
import { openAiErrors } from '#ai/openai-compat/errors.ts'
import { createEntitlements } from '#catalogue/entitlements.ts'
import { catalogueProblem } from '#catalogue/problems.ts'
import type { Config } from '#config/config.ts'
import type { Authenticators, Entitlements, Limits } from '#platform/http/access-control.ts'
import { type App, createApp, type ServiceState } from '#platform/http/app.ts'
import { BodyAdmission } from '#platform/http/bodies.ts'
import type { ConnectionLimit } from '#platform/http/connections.ts'
import { HEALTH_TAG, healthRoutes } from '#platform/http/health.ts'
import type { Reference } from '#platform/http/openapi.ts'
import { describeRoutes, referencePages } from '#platform/http/reference.ts'
import { apiErrors, type ErrorShape } from '#platform/http/replies.ts'
import { securityTxtRoute } from '#platform/http/security-txt.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import { version } from '#platform/version.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import { STOREFRONT_API } from '#storefront/api-path.ts'
import { storefrontErrorDialect, storefrontErrors } from '#storefront/errors.ts'
import type { ReleaseDeps } from '#storefront/products/releases.ts'
import { SESSION_COOKIE } from '#storefront/sessions/sessions.ts'
import type { LiveSwitches } from '#switches/live.ts'
import { switchedOffProblem } from '#switches/problems.ts'
import { configured } from './configured.ts'
import { readExamples } from './examples.ts'
import { findOwnLinks } from './own-links.ts'
import { findRedoc, userAppRoutes } from './user-app.ts'

/** Paths under the contract's limits and policies. */
const API = /^\/(api|v1)(\/|$)/
const DOCUMENTED = /^\/(api|v1|mcp)/

const SECURITY_SCHEMES = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An access token from POST /api/auth/login',
  },
  key: { type: 'http', scheme: 'bearer', description: 'An API key from POST /api/api-keys' },
  key_header: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'The same key, as Anthropic’s clients send it',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description: 'The session from POST /api/session',
  },
} as const

type Needs = {
  rooms: readonly Room[]
  authenticators: Authenticators
  state: ServiceState
  sandbox: Sandbox | null
  userApp: boolean
  products: ReleaseDeps['products']
  switches: LiveSwitches
  connections: ConnectionLimit
}

/** `health`: the server of a process that only runs jobs; it answers health checks. */
export async function createServers(
  platform: Platform,
  needs: Needs,
): Promise<{ api: App | null; storefront: App | null; health: App | null }> {
  const { config } = platform
  const { authenticators, state, sandbox, rooms } = needs
  const entitlements = createLiveEntitlements(config, needs.switches)
  const shared = {
    authenticators,
    entitlements,
    state,
    documented: DOCUMENTED,
    bodies: new BodyAdmission(platform),
    connections: needs.connections,
    limits: Object.assign({}, ...rooms.map(({ limits }) => limits)) as Limits,
  }
  const ofApi = {
    ...shared,
    url: config.urls.base,
    api: API,
    appOrigin: originElsewhere(config.urls),
    errorsOf: errorsOfApi,
  }
  const ofStorefront = {
    ...shared,
    url: config.urls.storefront,
    api: STOREFRONT_API,
    appOrigin: null,
    cookies: true,
    errorsOf: () => storefrontErrors,
  }

  const api = config.serve.has('api') ? await createApp(platform, ofApi) : null
  const storefront = config.serve.has('storefront') ? await createApp(platform, ofStorefront) : null
  const health = api || storefront ? null : await createApp(platform, ofApi)

  // Registered first, because later routes inherit the hook.
  if (sandbox?.watch) for (const app of [api, storefront]) app?.addHook('onRequest', sandbox.watch)
  if (api && sandbox) await api.register(sandbox.routes, { prefix: '/sandbox' })
  if (config.debug) {
    const about = (server: 'api' | 'storefront') => ({
      securitySchemes: SECURITY_SCHEMES,
      tags: [
        ...rooms
          .filter((room) => (room.server ?? 'api') === server)
          .flatMap(({ tags }) => tags ?? []),
        server === 'api'
          ? HEALTH_TAG
          : { ...HEALTH_TAG, errors: { ...storefrontErrorDialect, name: 'Health' } },
      ],
      examples: () => readExamples()[server],
      entitlements,
    })
    if (api) await describeApi(api, platform, about('api'))
    if (storefront) await describeStorefront(storefront, platform, about('storefront'))
  }
  for (const app of [api, storefront, health]) {
    if (app) healthRoutes(app, { platform, authenticators, state, configured: configured(config) })
  }
  if (api) securityTxtRoute(api, platform, config.urls.base)
  if (storefront) securityTxtRoute(storefront, platform, config.urls.storefront)
  const servers = { api, storefront }
  for (const { server = 'api', routes } of rooms) {
    const app = servers[server]
    if (app) await routes?.(app)
  }
  // Registered last, because it answers every address without another route.
  if (api && needs.userApp) {
    const { log } = platform
    const findLinks = () => findOwnLinks({ config, log, products: needs.products })
    await userAppRoutes(api, { log, brand: config.brand, findLinks })
  }
  return { ...servers, health }
}

/**
 * Adds the operator's switches to the plans' entitlements, because no plan grants a feature that is
 * switched off.
 */
export function createLiveEntitlements(
  config: Pick<Config, 'catalogue' | 'requireVerifiedEmail'>,
  switches: LiveSwitches,
): Entitlements {
  const { require, describe } = createEntitlements(config.catalogue, config)
  return {
    describe,
    require(caller, policy) {
      switches.requireCaller(caller, policy)
      require(caller, policy)
    },
  }
}

function errorsOfApi(path: string, headers: IncomingHttpHeaders): ErrorShape {
  if (path.startsWith('/v1/messages')) return anthropicErrors
  if (path.startsWith('/v1/models') && isAnthropicClient({ headers })) return anthropicErrors
  return path.startsWith('/v1') ? openAiErrors : apiErrors
}

/** Returns the user app's origin; null when it equals the API's, because that needs no CORS. */
function originElsewhere({ base, frontend }: Config['urls']): string | null {
  const { origin } = new URL(frontend)
  return origin === new URL(base).origin ? null : origin
}

type About = Omit<Reference, 'info' | 'url' | 'problems'>

/** Adds the API reference for developers. Call it before the described routes are registered. */
async function describeApi(
  app: App,
  { config }: Pick<Platform, 'config'>,
  about: About,
): Promise<void> {
  const { urls } = config
  const description = `Accounts, billing, AI gateway, retrieval, API keys, administration. The storefront describes its own: ${urls.storefront}/openapi.json`
  const info = () => ({ title: config.brand.name, version, description })
  await describeRoutes(app, {
    ...about,
    info,
    url: urls.base,
    problems: { ...catalogueProblem.catalogue, ...switchedOffProblem.catalogue },
  })
  await referencePages(app, info, findRedoc)
}

async function describeStorefront(
  app: App,
  { config }: Pick<Platform, 'config'>,
  about: About,
): Promise<void> {
  const { urls } = config
  const info = () => ({
    title: `${config.brand.name} storefront`,
    version,
    description: 'Checkout, purchases, downloads, contact.',
  })
  await describeRoutes(app, { ...about, info, url: urls.storefront, problems: {} })
}

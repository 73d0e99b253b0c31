/** The two servers: their rooms' routes, and what each answers beside them. */
import cors from '@fastify/cors'
import type { Authenticators } from '#platform/http/access-control.ts'
import { type App, createApp } from '#platform/http/app.ts'
import { admitBodies } from '#platform/http/bodies.ts'
import { healthRoutes, type ServiceState } from '#platform/http/health.ts'
import { referenceRoutes } from '#platform/http/reference.ts'
import type { Platform } from '#platform/platform.ts'
import type { Room } from '#platform/room.ts'
import type { Sandbox } from '#sandbox/sandbox.ts'
import { userAppRoutes } from './user-app.ts'
import { version } from './version.ts'

const EXPOSED_HEADERS = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'X-Total-Count',
  'X-Latchkey-Vendor',
  'X-Latchkey-Attempts',
]

type Needs = {
  rooms: readonly Room[]
  authenticators: Authenticators
  state: ServiceState
  sandbox: Sandbox | null
  userApp: boolean
}

/** `health`: where neither is served; who only works is looked at all the same. */
export async function createServers(
  platform: Platform,
  needs: Needs,
): Promise<{ api: App | null; storefront: App | null; health: App | null }> {
  const { config } = platform
  const { authenticators, state, sandbox, rooms } = needs
  const shared = { authenticators, state, bodies: admitBodies(platform) }

  const api = config.serve.has('api')
    ? await createApp(platform, {
        ...shared,
        url: config.urls.base,
        shapeOf: (url) => (url.startsWith('/v1') ? 'openai' : 'detail'),
      })
    : null
  const storefront = config.serve.has('storefront')
    ? await createApp(platform, { ...shared, url: config.urls.storefront, shapeOf: () => 'error', cookies: true })
    : null
  const health =
    api || storefront ? null : await createApp(platform, { ...shared, url: config.urls.base, shapeOf: () => 'detail' })

  if (api && sandbox) await api.register(sandbox.routes, { prefix: '/sandbox' })
  if (api) await describe(api, platform, rooms)
  for (const app of [api, storefront, health]) {
    if (app && sandbox?.watch) app.addHook('onRequest', sandbox.watch)
    if (app) healthRoutes(app, { platform, authenticators, state })
  }
  const servers = { api, storefront }
  for (const { server = 'api', routes } of rooms) {
    const app = servers[server]
    if (app) await routes?.(app)
  }
  // Last, since it answers every address that is nobody else's.
  if (api && needs.userApp) await userAppRoutes(api, platform.log)
  return { ...servers, health }
}

/** For browsers on the user app's origin, and for developers. Before the routes that it is about. */
async function describe(app: App, { config }: Platform, rooms: readonly Room[]): Promise<void> {
  // On one origin with the user app there is nothing to allow.
  const origin = new URL(config.urls.frontend).origin
  if (origin !== new URL(config.urls.base).origin) {
    await app.register(cors, {
      origin,
      methods: ['GET', 'POST', 'PATCH', 'DELETE'],
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 600,
    })
  }
  if (!config.debug) return
  const tags = rooms.flatMap((room) => room.tags ?? [])
  await referenceRoutes(app, { url: config.urls.base, version, catalogue: config.catalogue, tags })
}

// The table of contents: what is mounted on the two servers, room by room.
import cors from '@fastify/cors'
import type { Billing } from '#billing/billing.ts'
import type { Identity } from '#identity/identity.ts'
import type { App } from '#platform/http/app.ts'
import { healthRoutes, type ServiceState } from '#platform/http/health.ts'
import { referenceRoutes } from '#platform/http/reference.ts'
import type { Platform } from '#platform/platform.ts'
import { userAppRoutes } from './user-app.ts'
import { version } from './version.ts'

export type Rooms = {
  platform: Platform
  identity: Identity
  state: ServiceState
}

export async function mountApi(app: App, rooms: Rooms & { billing: Billing; userApp: boolean }): Promise<void> {
  const { platform, identity, billing } = rooms
  const { config } = platform
  await app.register(cors, {
    origin: [...new Set([new URL(config.urls.frontend).origin, new URL(config.urls.base).origin])],
    methods: ['GET', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'X-Total-Count',
      'X-Latchkey-Vendor',
      'X-Latchkey-Attempts',
    ],
    maxAge: 600,
  })
  if (config.debug) await referenceRoutes(app, { url: config.urls.base, version })
  healthRoutes(app, rooms)
  identity.routes(app)
  billing.routes(app)

  // Last, since it answers every address that is nobody else's.
  if (rooms.userApp) await userAppRoutes(app, platform.log)
}

export async function mountStorefront(app: App, rooms: Rooms): Promise<void> {
  healthRoutes(app, rooms)
}

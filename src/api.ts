// The table of contents: what is mounted on the two servers, room by room.
import cors from '@fastify/cors'
import { adminProblem } from '#admin/problems.ts'
import { adminRoutes } from '#admin/routes.ts'
import type { Ai } from '#ai/ai.ts'
import { aiProblem } from '#ai/problems.ts'
import type { ApiKeys } from '#api-keys/api-keys.ts'
import { apiKeyProblem } from '#api-keys/problems.ts'
import type { Billing } from '#billing/billing.ts'
import { billingProblem } from '#billing/problems.ts'
import type { Identity } from '#identity/identity.ts'
import { identityProblem } from '#identity/problems.ts'
import type { Authenticators } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { healthRoutes, type ServiceState } from '#platform/http/health.ts'
import type { Tag } from '#platform/http/openapi.ts'
import { referenceRoutes } from '#platform/http/reference.ts'
import type { Platform } from '#platform/platform.ts'
import { ragProblem } from '#rag/problems.ts'
import type { Rag } from '#rag/rag.ts'
import type { Storefront } from '#storefront/storefront.ts'
import { usageProblem } from '#usage/problems.ts'
import type { Usage } from '#usage/usage.ts'
import { userAppRoutes } from './user-app.ts'
import { version } from './version.ts'

export type Rooms = {
  platform: Platform
  authenticators: Authenticators
  identity: Identity
  state: ServiceState
}

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

const gatewayProblems = { ...usageProblem.catalogue, ...aiProblem.catalogue }

/** In the order that readers see. */
const TAGS: readonly Tag[] = [
  { name: 'auth', description: 'Registration, sign-in, tokens', problems: identityProblem.catalogue },
  { name: 'users', description: 'The own account', problems: identityProblem.catalogue },
  { name: 'billing', description: 'Plans and subscriptions', problems: billingProblem.catalogue },
  { name: 'api-keys', description: 'Keys for programs', problems: apiKeyProblem.catalogue },
  { name: 'ai', description: 'Chat and completions, all vendors alike', problems: gatewayProblems },
  { name: 'openai-compatible', description: "For OpenAI's own clients", problems: gatewayProblems },
  {
    name: 'rag',
    description: 'Documents: store, search, ask',
    problems: { ...gatewayProblems, ...ragProblem.catalogue },
  },
  { name: 'mcp', description: 'The Model Context Protocol', problems: ragProblem.catalogue },
  { name: 'usage', description: 'What was used, and its cost', problems: usageProblem.catalogue },
  {
    name: 'admin',
    description: 'For superusers',
    problems: { ...identityProblem.catalogue, ...adminProblem.catalogue },
  },
]

export async function mountApi(
  app: App,
  rooms: Rooms & { billing: Billing; apiKeys: ApiKeys; usage: Usage; ai: Ai; rag: Rag; userApp: boolean },
): Promise<void> {
  const { platform, identity, billing, apiKeys, usage, ai, rag } = rooms
  const { config } = platform
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
  if (config.debug)
    await referenceRoutes(app, { url: config.urls.base, version, catalogue: config.catalogue, tags: TAGS })
  healthRoutes(app, rooms)
  identity.routes(app)
  billing.routes(app)
  apiKeys.routes(app)
  ai.routes(app)
  await rag.routes(app)
  usage.routes(app)
  adminRoutes(app, rooms)

  // Last, since it answers every address that is nobody else's.
  if (rooms.userApp) await userAppRoutes(app, platform.log)
}

export function mountStorefront(app: App, rooms: Rooms & { shop: Storefront }): void {
  healthRoutes(app, rooms)
  rooms.shop.routes(app)
}

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
import type { App } from '#platform/http/app.ts'
import type { Authenticators } from '#platform/http/gate.ts'
import { healthRoutes, type ServiceState } from '#platform/http/health.ts'
import type { Tag } from '#platform/http/openapi.ts'
import { describeRoutes, referencePages } from '#platform/http/reference.ts'
import type { ErrorShape } from '#platform/http/replies.ts'
import type { Platform } from '#platform/platform.ts'
import { ragProblem } from '#rag/problems.ts'
import type { Rag } from '#rag/rag.ts'
import { storefrontProblem } from '#storefront/problems.ts'
import type { Storefront } from '#storefront/storefront.ts'
import { usageProblem } from '#usage/problems.ts'
import type { Usage } from '#usage/usage.ts'
import { readExamples } from './examples.ts'
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

const storeProblems = { ...identityProblem.catalogue, ...billingProblem.catalogue, ...storefrontProblem.catalogue }

const STOREFRONT_TAGS: readonly Tag[] = [
  { name: 'session', description: 'Sign-in by cookie' },
  { name: 'checkout', description: 'Buying a product' },
  { name: 'purchases', description: 'What was bought, and its license keys' },
  { name: 'downloads', description: 'The encrypted archives' },
  { name: 'contact', description: 'Messages to the team' },
].map((tag) => ({ ...tag, problems: storeProblems }))

/** How errors look at a path of the API. */
export const apiErrorShape = (path: string): ErrorShape => (path.startsWith('/v1') ? 'openai' : 'detail')

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
  if (config.debug) {
    const description = `Accounts, billing, AI gateway, retrieval, API keys, administration. The storefront describes its own: ${config.urls.storefront}/openapi.json`
    await describeRoutes(app, {
      info: { title: 'Latchkey', version, description },
      url: config.urls.base,
      catalogue: config.catalogue,
      tags: TAGS,
      shapeOf: apiErrorShape,
      examples: readExamples().api,
    })
    await referencePages(app)
  }
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

export async function mountStorefront(app: App, rooms: Rooms & { shop: Storefront }): Promise<void> {
  const { config } = rooms.platform
  if (config.debug) {
    await describeRoutes(app, {
      info: { title: 'Latchkey storefront', version, description: 'Checkout, purchases, downloads, contact.' },
      url: config.urls.storefront,
      catalogue: config.catalogue,
      tags: STOREFRONT_TAGS,
      shapeOf: () => 'error',
      examples: readExamples().storefront,
    })
  }
  healthRoutes(app, rooms)
  rooms.shop.routes(app)
}

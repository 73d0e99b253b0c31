// Guards the composition: the one place where rooms meet. It opens the platform, wires each room to what it needs, and closes all again.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { type Ai, createAi } from '#ai/ai.ts'
import { type ApiKeys, createApiKeys } from '#api-keys/api-keys.ts'
import { apiKeyMigrations } from '#api-keys/migrations.ts'
import { type Billing, createBilling } from '#billing/billing.ts'
import { billingMigrations } from '#billing/migrations.ts'
import { createProcessor } from '#billing/processor.ts'
import { checkCredentials } from '#identity/credentials.ts'
import type { Hasher } from '#identity/hasher.ts'
import { createIdentity, type Identity } from '#identity/identity.ts'
import { identityMigrations } from '#identity/migrations.ts'
import type { SuperuserNotice } from '#identity/superuser.ts'
import { createMail } from '#mail/mail.ts'
import { type App, CONNECTIONS_MAX, createApp } from '#platform/http/app.ts'
import { admitBodies } from '#platform/http/bodies.ts'
import type { Authenticators } from '#platform/http/gate.ts'
import { healthRoutes } from '#platform/http/health.ts'
import { isLoopbackHost } from '#platform/http/loopback.ts'
import { startRetention } from '#platform/jobs/retention.ts'
import { platformMigrations } from '#platform/migrations.ts'
import { openPlatform, type Platform, type PlatformOptions } from '#platform/platform.ts'
import { ragMigrations } from '#rag/migrations.ts'
import { createRag, type Rag } from '#rag/rag.ts'
import { createSandbox } from '#sandbox/sandbox.ts'
import { storefrontMigrations } from '#storefront/migrations.ts'
import { STOREFRONT_EVENTS } from '#storefront/payment-routes.ts'
import { collectStorefront, createStorefront, eraseStorefront, storeSessions } from '#storefront/storefront.ts'
import { usageMigrations } from '#usage/migrations.ts'
import { createUsage, type Usage } from '#usage/usage.ts'
import { mountApi, mountStorefront } from './api.ts'
import type { Config } from './config.ts'

export type Service = {
  platform: Platform
  identity: Identity
  billing: Billing
  apiKeys: ApiKeys
  usage: Usage
  ai: Ai
  rag: Rag
  api: App | null
  storefront: App | null
  /** What listens: one where both servers share a port. */
  servers: readonly Server[]
  /** How to become the superuser, while there is none; known once it listens. */
  readonly superuserNotice: SuperuserNotice
  /** Opens the ports and starts the worker. @throws Error with a sentence when a port is taken. */
  listen(): Promise<void>
  /**
   * Says so for `delayMs` and serves on, so that balancers go elsewhere; then lets running jobs and replies end (up to
   * `drainMs` in all), and closes everything. Once: a second call waits for the first.
   */
  close(drainMs?: number, delayMs?: number): Promise<void>
}

export const migrations = [
  ...platformMigrations,
  ...identityMigrations,
  ...billingMigrations,
  ...storefrontMigrations,
  ...apiKeyMigrations,
  ...usageMigrations,
  ...ragMigrations,
]

export async function createService(
  config: Config,
  options: PlatformOptions & { userApp?: boolean; hasher?: Hasher } = {},
): Promise<Service> {
  const platform = await openPlatform(config, migrations, options)
  const mail = createMail(platform)

  const processor = createProcessor(config.processor)
  const billing = createBilling(platform, processor)
  const apiKeys = createApiKeys(platform)
  const usage = createUsage(platform, { keyTokens: apiKeys.monthlyTokens })
  const identity = createIdentity(platform, {
    hasher: options.hasher,
    erase: [billing.erase, eraseStorefront, apiKeys.erase, usage.erase, (tx, userId) => rag.erase(tx, userId)],
    collect: [
      billing.collect,
      collectStorefront,
      apiKeys.collect,
      usage.collect,
      (db, userId) => rag.collect(db, userId),
    ],
    revokeKeys: apiKeys.revoke,
    sessionsElsewhere: [storeSessions],
  })
  const shop = createStorefront(platform, {
    mail,
    processor,
    checkCredentials: (credentials) => checkCredentials(identity.deps, credentials),
  })
  if (processor) billing.listen(shop.events)

  const ai = createAi(platform, { ledger: usage.ledger })
  const rag = await createRag(platform, { gateway: ai.gateway })
  ai.lendEmbedder(rag.localEmbedder)

  const authenticators: Authenticators = {
    bearer(token, { keys, fresh }) {
      if (!apiKeys.claims(token)) return identity.authenticate(token, { fresh })
      return keys ? apiKeys.authenticate(token, { fresh }) : null
    },
    session: (token) => shop.authenticate(token),
  }
  const state = { draining: false }
  const bodies = admitBodies(platform)

  const api = config.serve.has('api')
    ? await createApp(platform, {
        authenticators,
        url: config.urls.base,
        bodies,
        state,
        shapeOf: (url) => (url.startsWith('/v1') ? 'openai' : 'detail'),
      })
    : null
  const sandbox = api && config.sandbox.on ? openSandbox(platform, rag.localEmbedder) : null
  if (sandbox?.watch) api?.addHook('onRequest', sandbox.watch)
  if (sandbox) await api?.register(sandbox.routes, { prefix: '/sandbox' })
  if (api)
    await mountApi(api, {
      platform,
      authenticators,
      identity,
      billing,
      apiKeys,
      usage,
      ai,
      rag,
      state,
      userApp: options.userApp ?? true,
    })

  const storefront = config.serve.has('storefront')
    ? await createApp(platform, {
        authenticators,
        url: config.urls.storefront,
        bodies,
        state,
        shapeOf: () => 'error',
        cookies: true,
      })
    : null
  if (sandbox?.watch) storefront?.addHook('onRequest', sandbox.watch)
  if (storefront) mountStorefront(storefront, { platform, authenticators, identity, state, shop })

  // Who only works is looked at all the same.
  const health =
    api || storefront
      ? null
      : await createApp(platform, { authenticators, url: config.urls.base, bodies, state, shapeOf: () => 'detail' })
  if (health) healthRoutes(health, { platform, authenticators, state })

  const listener = createListener(config, api ?? health, storefront)
  let superuserNotice: SuperuserNotice = null
  let stopRetention: (() => void) | null = null
  let closing: Promise<void> | null = null

  return {
    platform,
    identity,
    billing,
    apiKeys,
    usage,
    ai,
    rag,
    api,
    storefront,
    servers: listener.servers,
    get superuserNotice() {
      return superuserNotice
    },
    async listen() {
      if (api) superuserNotice = await identity.ensureSuperuser()
      if (api) await usage.start()
      await listener.listen()
      // A wrong clock is told at the start.
      void platform.readiness.look()
      sandbox?.start()
      if (config.serve.has('worker')) {
        billing.start()
        shop.start()
        await rag.start()
        platform.jobs.start()
        stopRetention = startRetention(platform)
      }
    },
    close: (drainMs = 30_000, delayMs = 0) => (closing ??= close(drainMs, delayMs)),
  }

  async function close(drainMs: number, delayMs: number): Promise<void> {
    state.draining = true
    if (delayMs > 0) await wait(delayMs)
    billing.close()
    shop.close()
    stopRetention?.()
    const begun = performance.now()
    // What the jobs call in the sandbox goes over these ports.
    if (sandbox) await platform.jobs.stop(drainMs)
    const leftMs = Math.max(0, drainMs - (performance.now() - begun))
    await Promise.all([platform.jobs.stop(leftMs), listener.close(leftMs)])
    await sandbox?.close()
    await rag.close()
    await ai.close()
    await usage.close()
    await apiKeys.close()
    await identity.close()
    mail.close()
    await platform.close()
  }
}

/** The outside world in a box: it calls back over the ports this service listens on, as the real one would over the network. */
function openSandbox({ config, clock, log }: Platform, embedder: Rag['localEmbedder']) {
  const { processor, http, urls } = config
  // Events go to this machine's own ports, also where the storefront runs in another process: they are taken from nowhere else.
  const isElsewhere = !config.serve.has('storefront') && isLoopbackHost(new URL(urls.storefront).host)
  const storefront = isElsewhere ? urls.storefront : `http://127.0.0.1:${http.storefrontPort}`
  return createSandbox({
    dataDir: config.dataDir,
    clock,
    log,
    open: config.sandbox.open,
    baseUrl: () => urls.base,
    catalogue: config.catalogue,
    embed: embedder.embed,
    endpoints: () =>
      (processor.sandboxed || isOwnSandbox(processor.apiBase)) &&
      processor.webhookSecret !== null &&
      processor.storefrontWebhookSecret !== null
        ? [
            {
              name: 'billing',
              url: `http://127.0.0.1:${http.port}/api/billing/webhook`,
              secret: processor.webhookSecret,
            },
            {
              name: 'storefront',
              url: `${storefront}${STOREFRONT_EVENTS}`,
              secret: processor.storefrontWebhookSecret,
            },
          ]
        : [],
  })
}

/** True when a key of one's own is tried against the sandbox's processor. */
const isOwnSandbox = (apiBase: string | null) => apiBase?.endsWith('/sandbox/stripe') ?? false

/** One listener a port; when both servers share a port, the Host header tells them apart. `api` is what answers on `PORT`. */
function createListener(config: Config, api: App | null, storefront: App | null) {
  const { host, port, storefrontPort } = config.http
  const shared = api !== null && storefront !== null && port === storefrontPort && port !== 0
  if (!shared) {
    return {
      servers: [api, storefront].flatMap((app) => app?.server ?? []),
      async listen() {
        await api?.listen({ host, port }).catch((error) => explain(error, 'PORT', port))
        await storefront
          ?.listen({ host, port: storefrontPort })
          .catch((error) => explain(error, 'STOREFRONT_PORT', storefrontPort))
      },
      async close(drainMs: number) {
        await Promise.all([api, storefront].map((app) => app && drained(app.server, drainMs, () => app.close())))
      },
    }
  }

  const storefrontHost = new URL(config.urls.storefront).host
  // The storefront's events come by whatever name the processor has: the sandbox calls this machine's own address.
  const isStorefronts = ({ headers, url }: IncomingMessage) =>
    headers.host === storefrontHost || url === STOREFRONT_EVENTS
  const { headersTimeout, requestTimeout, keepAliveTimeout } = api.server
  const server = createServer(
    { headersTimeout, requestTimeout, keepAliveTimeout },
    (request: IncomingMessage, response: ServerResponse) => {
      const app = isStorefronts(request) ? storefront : api
      app.routing(request, response)
    },
  ).on('clientError', (error, socket) => api.server.emit('clientError', error, socket))
  server.maxConnections = CONNECTIONS_MAX
  return {
    servers: [server],
    async listen() {
      await Promise.all([api.ready(), storefront.ready()])
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(port, host, resolve)
      }).catch((error) => explain(error, 'PORT', port))
    },
    async close(drainMs: number) {
      await drained(server, drainMs, () => new Promise((resolve) => server.close(resolve)))
      await Promise.all([api.close(), storefront.close()])
    },
  }
}

/**
 * Closes a server within a time. A connection whose reply began before the drain is kept alive by its client, and Node
 * would wait for it: what has fallen idle is closed as it does.
 */
async function drained(server: Server, drainMs: number, close: () => Promise<unknown>): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  server.closeIdleConnections()
  await close().finally(() => {
    clearTimeout(timer)
    clearInterval(sweep)
  })
}

function explain(error: NodeJS.ErrnoException, setting: string, port: number): never {
  if (error.code === 'EADDRINUSE')
    throw new Error(`port ${port} is taken by another program: stop it, or set ${setting} to another port`)
  if (error.code === 'EACCES')
    throw new Error(`port ${port} may not be opened by this user: set ${setting} to one above 1023`)
  throw error
}

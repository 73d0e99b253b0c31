/**
 * The composition: opens the platform, creates each room with its dependencies, and opens, starts
 * and closes all rooms.
 */
import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { createAdmin } from '#admin/admin.ts'
import { type Ai, createAi } from '#ai/ai.ts'
import { type ApiKeys, createApiKeys } from '#api-keys/api-keys.ts'
import { createLinking } from '#audit/linking.ts'
import { type Billing, createBilling } from '#billing/billing.ts'
import { openProcessor } from '#billing/processor.ts'
import { createBrand } from '#brand/room.ts'
import type { Config } from '#config/config.ts'
import { createConversations } from '#conversations/conversations.ts'
import { createLocalEmbedder } from '#embeddings/local-pool.ts'
import type { SuperuserNotice } from '#identity/admin/superuser.ts'
import { createIdentity, type Identity } from '#identity/identity.ts'
import type { Hasher } from '#identity/passwords/hasher.ts'
import { createMail } from '#mail/mail.ts'
import type { Authenticators } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { createConnectionLimit } from '#platform/http/connections.ts'
import type { Platform, PlatformOptions } from '#platform/platform.ts'
import { createRetention } from '#platform/retention.ts'
import type { Room } from '#platform/room.ts'
import { Heartbeat } from '#platform/uptime/heartbeat.ts'
import { version } from '#platform/version.ts'
import { createRag, type Rag } from '#rag/rag.ts'
import { type Host, Settings } from '#setup/saved-settings.ts'
import { createSetup } from '#setup/setup.ts'
import { createSite } from '#site/site.ts'
import { createStorefront, storeSessions } from '#storefront/storefront.ts'
import { createSwitches } from '#switches/switches.ts'
import { createUsage, type Usage } from '#usage/usage.ts'
import { createListener } from './listener.ts'
import { openWithRooms } from './open.ts'
import { agedRows } from './retention.ts'
import { openSandbox } from './sandbox-wiring.ts'
import { createLiveEntitlements, createServers } from './servers.ts'

export type Service = {
  platform: Platform
  identity: Identity
  billing: Billing
  usage: Usage
  ai: Ai
  rag: Rag
  api: App | null
  storefront: App | null
  /** The listening servers; one when both share a port. */
  servers: readonly Server[]
  /** The link for creating the superuser, while there is none; set by `listen`. */
  readonly superuserNotice: SuperuserNotice
  /** Opens the ports and starts the worker. @throws Error for the operator when a port is taken */
  listen(): Promise<void>
  /**
   * Answers 503 on /readyz for `delayMs`, so that load balancers stop sending requests. Then waits
   * up to `drainMs` for running jobs and replies, and closes everything. A second call waits for
   * the first.
   */
  close(drainMs?: number, delayMs?: number): Promise<void>
}

/** `host`: null when the process cannot start the service again. */
type ServiceOptions = PlatformOptions & {
  userApp?: boolean
  hasher?: Hasher
  host?: Host | null
}

export async function createService(
  config: Config,
  options: ServiceOptions = {},
): Promise<Service> {
  const platform = await openWithRooms(config, options)
  const rooms: Room[] = []
  const add = <R extends Room>(room: R): R => {
    rooms.push(room)
    return room
  }

  // This is the order in which rooms are mounted, opened and started, and erase and export users'
  // data. They close in reverse order.
  add(createLinking(platform))
  add(createRetention(platform, agedRows(config)))
  add(createBrand(platform))
  const mail = add(createMail(platform))
  const identity = add(
    createIdentity(platform, {
      hasher: options.hasher,
      rooms,
      revokeKeys: (...which) => apiKeys.revoke(...which),
      sessionsElsewhere: [storeSessions],
    }),
  )
  const processor = openProcessor(config.processor)
  const billing = add(createBilling(platform, processor))
  const shop = add(await createStorefront(platform, { mail, processor, billing, identity }))
  const switches = add(createSwitches(platform))
  const apiKeys: ApiKeys = add(
    createApiKeys(platform, { keyUse: (...key) => usage.keyUse(...key) }),
  )
  const usage: Usage = add(
    createUsage(platform, {
      freeAllowance: billing.freeAllowance,
      keyBudgets: apiKeys.budgets,
      notifyOwner: identity.tellOfAllowance,
    }),
  )
  const localEmbedder = add(createLocalEmbedder())
  const sandbox =
    config.sandbox.on && config.serve.has('api') ? openSandbox(platform, localEmbedder) : null
  const ai = add(
    createAi(platform, { ledger: usage.ledger, localEmbedder, switches: switches.live }),
  )
  const { require: requireGrant } = createLiveEntitlements(config, switches.live)
  const rag = add(
    await createRag(platform, {
      gateway: ai.gateway,
      version,
      requireGrant,
      callerNow: apiKeys.callerNow,
    }),
  )
  add(createConversations(platform, { rag: rag.deps, requireGrant }))
  for (const room of createSite(platform, { ...shop, gateway: ai.gateway })) add(room)
  add(
    createAdmin(
      { ...platform, productList: shop.productList, products: shop.products },
      {
        identity,
        billing,
        switches: switches.live,
        ai,
        processor,
        timeMachine: sandbox?.timeMachine.canMove ? sandbox.timeMachine : null,
      },
    ),
  )

  const settings = new Settings(platform, options.host ?? null)
  add(createSetup({ ...platform, mail, settings, switches: switches.live }))

  const authenticators: Authenticators = {
    bearer(token, { keys, fresh }) {
      if (!apiKeys.claims(token)) return identity.authenticate(token, { fresh })
      return keys ? apiKeys.authenticate(token, { fresh }) : null
    },
    apiKey: apiKeys,
    session: shop.session,
  }
  const heartbeat = new Heartbeat(platform)
  const state = { draining: false }
  const { userApp = true } = options
  const connections = createConnectionLimit(platform)
  const { api, storefront, health } = await createServers(platform, {
    connections,
    rooms,
    authenticators,
    state,
    sandbox,
    userApp,
    products: shop.products,
    switches: switches.live,
  })
  const listener = createListener(config, connections, api ?? health, storefront)
  let closing: Promise<void> | null = null

  return {
    platform,
    identity,
    billing,
    usage,
    ai,
    rag,
    api,
    storefront,
    servers: listener.servers,
    get superuserNotice() {
      return identity.superuserNotice
    },
    async listen() {
      if (api) for (const room of rooms) await room.open?.()
      await listener.listen()
      await heartbeat.start()
      // Warns at the start when the clock is wrong.
      void platform.readiness.look()
      sandbox?.start()
      if (!config.serve.has('worker')) return
      for (const room of rooms) await room.start?.()
      platform.start()
    },
    close: (drainMs = 30_000, delayMs = 0) => (closing ??= close(drainMs, delayMs)),
  }

  async function close(drainMs: number, delayMs: number): Promise<void> {
    state.draining = true
    if (delayMs > 0) await wait(delayMs)
    for (const room of rooms) room.stop?.()
    const begun = performance.now()
    const drain = (ms: number) => [platform.stop(ms), ...rooms.map((room) => room.drain?.(ms))]
    // Running jobs and answers call the sandbox over these ports.
    if (sandbox) await Promise.all(drain(drainMs))
    const leftMs = Math.max(0, drainMs - (performance.now() - begun))
    await Promise.all([...drain(leftMs), listener.close(leftMs)])
    await sandbox?.close()
    await heartbeat.stop()
    for (const room of rooms.toReversed()) await room.close?.()
    await platform.close()
  }
}

// The sandbox simulates services without a key (mail, processor, sign-in providers, models) on this
// machine. The product reaches it over HTTP through its ordinary clients; only the composition
// imports this folder.
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Catalogue } from '#catalogue/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import { isLoopbackHost } from '#platform/http/loopback.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { openDatabase } from './database.ts'
import { parseForm } from './form.ts'
import { createGuard } from './guard.ts'
import { homeRoutes } from './home.ts'
import { mailboxRoutes } from './mailbox.ts'
import type { Embed } from './model-embeddings.ts'
import { modelRoutes } from './model-vendor.ts'
import { oauthRoutes } from './oauth/oauth.ts'
import { showStyle } from './page.ts'
import { OPEN } from './route.ts'
import type { Endpoint } from './stripe/deps.ts'
import { createProcessor } from './stripe/processor.ts'
import type { Hands } from './stripe/time-travel.ts'
import { createTimeMachine } from './time-machine.ts'

export type SandboxNeeds = {
  dataDir: string
  clock: Clock
  /** Moves the clock. */
  hands: Hands
  log: Log
  /** SANDBOX=on: also accepts hosts other than loopback. */
  open: boolean
  /** The API's public address, for links in the browser. */
  baseUrl: () => string
  /** The offers of the processor. */
  catalogue: Pick<Catalogue, 'plans' | 'products'>
  /** Embeds texts, for the embedding models. */
  embed: Embed
  /** Endpoints of the processor's events; empty until the product listens. */
  endpoints: () => readonly Endpoint[]
}

export type Sandbox = {
  /**
   * A hook for every server of the process: closes the sandbox when a browser used a proxy. Null
   * when other hosts are accepted.
   */
  watch: onRequestHookHandler | null
  /** Register under the prefix `/sandbox`. */
  routes: (app: FastifyInstance) => Promise<void>
  timeMachine: ReturnType<typeof createTimeMachine>
  /** Starts deliveries; call it when the product listens. */
  start: () => void
  close: () => Promise<void>
}

export function createSandbox(needs: SandboxNeeds): Sandbox {
  const { clock, log, catalogue, endpoints } = needs
  const db = openDatabase(needs.dataDir)
  const guard = createGuard(needs)

  // A browser returns to the address it knows. With a public BASE_URL, which the guard would
  // reject, it returns to the address it called.
  const readOrigin = (request: FastifyRequest): string => {
    const base = new URL(needs.baseUrl())
    return needs.open || isLoopbackHost(base.host) ? base.origin : `http://${request.host}`
  }
  const origin = () => new URL(needs.baseUrl()).origin
  const processor = createProcessor({
    db,
    clock,
    hands: needs.hands,
    log,
    catalogue,
    endpoints,
    originOf: readOrigin,
    origin,
  })

  return {
    timeMachine: createTimeMachine(processor.deps, processor.time),
    watch: needs.open ? null : guard.watch,
    async routes(app) {
      app.addHook('onRequest', guard.admit)
      // The parser is encapsulated: only the sandbox's routes accept forms.
      if (app.hasContentTypeParser('application/x-www-form-urlencoded'))
        app.removeContentTypeParser('application/x-www-form-urlencoded')
      app.addContentTypeParser(
        'application/x-www-form-urlencoded',
        { parseAs: 'string' },
        (_request, body, done) => {
          try {
            done(null, parseForm(String(body)))
          } catch (error) {
            done(Object.assign(error as Error, { statusCode: 400 }))
          }
        },
      )
      app.get('/style.css', OPEN, (_request, reply) => showStyle(reply))
      homeRoutes(app)
      mailboxRoutes(app, { db, clock })
      modelRoutes(app, { clock, embed: needs.embed })
      await app.register(async (inner) => oauthRoutes(inner, { db, clock, originOf: readOrigin }))
      await processor.routes(app)
    },
    start: () => processor.start(),
    async close() {
      await processor.close()
      db.close()
    },
  }
}

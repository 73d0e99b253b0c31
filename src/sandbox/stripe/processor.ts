// The sandbox's processor: API, hosted pages, webhooks, and bank debits that settle automatically.
// Events are stored in the transaction of their change and delivered afterwards, so a crash loses
// none.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Catalogue } from '#catalogue/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import { type Log, seldom } from '#platform/telemetry/log.ts'
import { atomically, type SandboxDatabase } from '../database.ts'
import { processorApi } from './api.ts'
import { stockCatalogue } from './catalogue.ts'
import { challengePages } from './challenge-page.ts'
import { checkoutPages } from './checkout-page.ts'
import { settleDue } from './checkout-payment.ts'
import { expireOldSessions } from './checkout-sessions.ts'
import { dashboardPages } from './dashboard-page.ts'
import { startCourier } from './deliveries.ts'
import type { Endpoint, PageDeps, ProcessorDeps } from './deps.ts'
import { showFaultsAsPages } from './hosted-page.ts'
import { invoicePages } from './invoice-page.ts'
import { portalFlowPages } from './portal-flow-page.ts'
import { portalPages } from './portal-page.ts'
import { createTimeTravel, type Hands } from './time-travel.ts'

export type ProcessorNeeds = {
  db: SandboxDatabase
  clock: Clock
  hands: Hands
  log: Pick<Log, 'error'>
  /** The offers of the processor. */
  catalogue: Pick<Catalogue, 'plans' | 'products'>
  endpoints: () => readonly Endpoint[]
  originOf: (request: FastifyRequest) => string
  /** The same, for events without a request. */
  origin: () => string
}

const TICK_MS = 1_000
/** Longest wait for the webhooks before the payer is redirected, as at the real checkout. */
const WEBHOOK_PATIENCE_MS = 3_000
const PAGES = [checkoutPages, challengePages, portalPages, portalFlowPages, invoicePages]

export function createProcessor({
  db,
  clock,
  hands,
  log,
  catalogue,
  endpoints,
  originOf,
  origin,
}: ProcessorNeeds) {
  const say = seldom((details, message) => log.error(details, message))
  // A full disk or missing descriptors must not end the process: due work stays due.
  const onFailure = (error: unknown) => say({ err: error }, 'the sandbox’s processor tries again')
  const courier = startCourier({ db, clock, endpoints, origin, onFailure })
  const deps: ProcessorDeps = { db, clock, endpoints, origin, wake: courier.wake }
  const time = createTimeTravel(deps, courier, hands)
  stockCatalogue(deps, catalogue)
  const pageDeps: PageDeps = {
    ...deps,
    async act(work) {
      const result = atomically(db, work)
      await courier.settled(WEBHOOK_PATIENCE_MS)
      return result
    },
  }
  let ticker: NodeJS.Timeout | undefined

  return {
    deps,
    time,
    async routes(app: FastifyInstance): Promise<void> {
      await app.register(async (api) => processorApi(api, deps, originOf), { prefix: '/stripe' })
      await app.register(async (pages) => {
        showFaultsAsPages(pages)
        for (const add of PAGES) add(pages, pageDeps)
        dashboardPages(pages, pageDeps, time)
      })
    },
    /**
     * Called when the product listens: delivers the events that an earlier process left
     * undelivered.
     */
    start(): void {
      ticker = setInterval(() => {
        try {
          settleDue(deps, Date.now())
          time.tick()
          expireOldSessions(deps)
        } catch (error) {
          onFailure(error)
        }
      }, TICK_MS).unref()
      courier.wake()
    },
    async close(): Promise<void> {
      clearInterval(ticker)
      await courier.close()
    },
  }
}

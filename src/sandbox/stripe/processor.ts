// Guards the sandbox's processor: its API, its hosted pages, its webhooks and the bank debits that settle by themselves.
// One thing to know: events are stored in the transaction that causes them and delivered afterwards, so none is lost to a crash.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Catalogue } from '#catalogue/catalogue.ts'
import type { Clock } from '#platform/clock.ts'
import type { SandboxDatabase } from '../database.ts'
import { processorApi } from './api.ts'
import { stockCatalogue } from './catalogue.ts'
import { checkoutPages } from './checkout-page.ts'
import { settleDue } from './checkout-payment.ts'
import { expireOldSessions } from './checkout-sessions.ts'
import { startCourier } from './deliveries.ts'
import { deskPages } from './desk-page.ts'
import { portalPages } from './portal-page.ts'
import type { Endpoint, World } from './world.ts'

export type ProcessorNeeds = {
  db: SandboxDatabase
  clock: Clock
  /** What the processor is to sell. */
  catalogue: Pick<Catalogue, 'plans' | 'products'>
  endpoints: () => readonly Endpoint[]
  originOf: (request: FastifyRequest) => string
}

const TICK_MS = 1_000

export function createProcessor({ db, clock, catalogue, endpoints, originOf }: ProcessorNeeds) {
  const courier = startCourier({ db, clock, endpoints })
  const world: World = { db, clock, endpoints, wake: courier.wake }
  stockCatalogue(world, catalogue)
  let ticker: NodeJS.Timeout | undefined

  return {
    async routes(app: FastifyInstance): Promise<void> {
      await app.register(async (api) => processorApi(api, world, originOf), { prefix: '/stripe' })
      await app.register(async (pages) => {
        checkoutPages(pages, world, courier)
      })
      await app.register(async (pages) => {
        portalPages(pages, world, courier)
      })
      await app.register(async (pages) => {
        deskPages(pages, world, courier)
      })
    },
    /** When the product listens: takes up what an earlier process left undelivered. */
    start(): void {
      ticker = setInterval(() => {
        settleDue(world)
        expireOldSessions(world)
      }, TICK_MS).unref()
      courier.wake()
    },
    async close(): Promise<void> {
      clearInterval(ticker)
      await courier.close()
    },
  }
}

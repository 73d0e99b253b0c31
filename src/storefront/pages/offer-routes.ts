/** The home page, the prices and the operator's legal pages. */
import type { FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { findStoreCaller, SESSION_COOKIE } from '../sessions/sessions.ts'
import { homePage, readHomeText } from './home-page.ts'
import { sendNotFound, sendPage } from './layout.ts'
import { legalPage, listLegalPages } from './legal-pages.ts'
import { plainText } from './markdown.ts'
import { pricingPage } from './offer-pages.ts'
import { listOffers, readCode } from './offers.ts'
import { listSoldPlans, type PlanDeps } from './plan-cards.ts'
import type { ProductPageDeps } from './product-routes.ts'
import { describeShop } from './structured-data.ts'

const ANYONE = { config: { access: 'anyone' as const } }

export function offerRoutes(app: App, deps: ProductPageDeps & PlanDeps): void {
  const { config } = deps
  const findCaller = (request: FastifyRequest) =>
    findStoreCaller(deps, request.cookies[SESSION_COOKIE])

  app.get('/', ANYONE, async (request, reply) => {
    const caller = await findCaller(request)
    const [offers, home] = await Promise.all([
      listOffers(deps, caller?.userId ?? null),
      readHomeText(deps, config.brand.name),
    ])
    return sendPage(reply, deps, {
      title: home.title,
      body: homePage({ home, offers, code: readCode(request) }),
      caller,
      listing: { path: '/', description: plainText(home.text), data: describeShop(config) },
    })
  })

  app.get('/pricing', ANYONE, async (request, reply) => {
    const caller = await findCaller(request)
    const isCanceled = (request.query as { canceled?: unknown }).canceled === 'true'
    const [offers, plans] = await Promise.all([
      listOffers(deps, caller?.userId ?? null),
      listSoldPlans(deps),
    ])
    const names = [...plans, ...offers.map(({ product }) => product)].map(({ name }) => name)
    const terms = plans.length === 0 ? ': pay once, no subscription' : ''
    return sendPage(reply, deps, {
      title: 'Pricing',
      body: pricingPage({
        offers,
        plans,
        frontend: config.urls.frontend,
        isCanceled,
        code: readCode(request),
      }),
      caller,
      path: '/pricing',
      listing: {
        path: '/pricing',
        description: `Prices of ${new Intl.ListFormat('en').format([config.brand.name, ...names])}${terms}.`,
      },
    })
  })

  app.get('/legal/:name', ANYONE, async (request, reply) => {
    const caller = await findCaller(request)
    const { name } = request.params as { name: string }
    const found = (await listLegalPages(deps)).find(({ path }) => path === `/legal/${name}`)
    if (!found) return sendNotFound(reply, deps, caller)
    const { path, title, text } = found
    return sendPage(reply, deps, {
      title,
      body: legalPage(found),
      caller,
      path,
      listing: { path, description: plainText(text) || title },
    })
  })
}

/** The home page, the prices and the operator's legal pages. */
import type { FastifyRequest } from 'fastify'
import type { App } from '#platform/http/app.ts'
import { readMessages } from '../messages/pages.ts'
import { findStoreCaller, SESSION_COOKIE } from '../sessions/sessions.ts'
import { homePage, readHome } from './home-page.ts'
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
    const messages = readMessages(request, caller, deps.config.brand)
    const home = await readHome(deps, caller?.userId ?? null, messages)
    return sendPage(reply, deps, {
      title: home.text.title,
      body: homePage({
        ...home,
        frontend: config.urls.frontend,
        code: readCode(request),
        messages,
      }),
      caller,
      messages,
      listing: { path: '/', description: plainText(home.text.text), data: describeShop(config) },
    })
  })

  app.get('/pricing', ANYONE, async (request, reply) => {
    const caller = await findCaller(request)
    const messages = readMessages(request, caller, deps.config.brand)
    const isCanceled = (request.query as { canceled?: unknown }).canceled === 'true'
    const [offers, plans] = await Promise.all([
      listOffers(deps, caller?.userId ?? null),
      listSoldPlans(deps),
    ])
    const names = [...plans, ...offers.map(({ product }) => product)].map(({ name }) => name)
    return sendPage(reply, deps, {
      title: messages.pricing.title,
      body: pricingPage({
        offers,
        plans,
        frontend: config.urls.frontend,
        isCanceled,
        code: readCode(request),
        messages,
      }),
      caller,
      messages,
      path: '/pricing',
      listing: {
        path: '/pricing',
        description: messages.pricing.description(
          new Intl.ListFormat(messages.locale).format([config.brand.name, ...names]),
          plans.length === 0,
        ),
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
      messages: readMessages(request, caller, deps.config.brand),
      path,
      listing: { path, description: plainText(text) || title },
    })
  })
}

import { Type } from 'typebox'
import { registerEventRoute } from '#billing/event-route.ts'
import { withTimeout } from '#billing/processor.ts'
import { findProduct } from '#catalogue/catalogue.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import type { RateLimiter } from '#platform/rate-limiter.ts'
import { onPageError } from '../pages/errors.ts'
import { storefrontProblem } from '../problems.ts'
import { isForSale, type ProductDeps } from '../products/releases.ts'
import { owns } from '../purchases/store.ts'
import { findStoreCaller, SESSION_COOKIE } from '../sessions/sessions.ts'
import { checkoutAddress } from './checkout.ts'
import { type PaymentDeps, receivePaymentEvent } from './payments.ts'

export type PaymentRouteDeps = PaymentDeps & ProductDeps & { limiter: RateLimiter }

/** The path that receives the payment processor's events for the storefront. */
export const STOREFRONT_EVENTS = '/api/processor/webhook'

const checkout = ({ config }: Pick<PaymentRouteDeps, 'config'>): Described => ({
  security: [{ session: [] }, {}],
  parameters: [
    {
      name: 'tier',
      in: 'query',
      required: true,
      schema: {
        title: 'ProductTier',
        type: 'string',
        enum: config.catalogue.products.map(({ tier }) => tier),
      },
    },
  ],
  replies: {
    302: {
      description:
        'To the hosted checkout; to /login without a session; to /dashboard where the tier is owned.',
      headers: { location: { description: 'Where to go', schema: { type: 'string' } } },
    },
  },
})

export function paymentRoutes(app: App, deps: PaymentRouteDeps): void {
  app.get(
    '/api/checkout',
    {
      schema: {
        operationId: 'startCheckout',
        querystring: Type.Object({ tier: Type.Optional(Type.Unknown()) }),
        tags: ['checkout'],
        summary: 'Leads the browser to the hosted checkout',
      },
      // The handler checks the session itself, to report a wrong tier first and to redirect
      // visitors to the login.
      config: { access: 'anyone', described: checkout(deps) },
      errorHandler: onPageError(deps),
    },
    async (request, reply) => {
      const product = findProduct(deps.config.catalogue, String(request.query.tier))
      if (!product) throw storefrontProblem('tier_invalid')
      const { tier } = product

      const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
      if (!caller) return reply.redirect(`/login?redirect=/api/checkout?tier=${tier}`, 302)
      if (await owns(deps.db, caller.userId, tier)) return reply.redirect('/dashboard', 302)
      if (!(await isForSale(deps, tier))) throw storefrontProblem('not_for_sale')
      return reply.redirect(await withTimeout(checkoutAddress(deps, caller.userId, product)), 302)
    },
  )

  registerEventRoute(app, deps, {
    url: STOREFRONT_EVENTS,
    operationId: 'receivePaymentEvent',
    tag: 'checkout',
    secret: deps.config.processor.storefrontWebhookSecret,
    receive: (event) => receivePaymentEvent(deps, event),
  })
}

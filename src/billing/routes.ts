import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { OneOf } from '#platform/http/schema.ts'
import { INBOX_SOURCE, readBillingEvent } from './billing-events.ts'
import { openCheckout, openPortal, PORTAL_FLOWS } from './checkout.ts'
import type { BillingDeps } from './deps.ts'
import { registerEventRoute } from './event-route.ts'
import { HostedPage, lifeRoutes } from './life-routes.ts'
import { receiveMoneyEvent } from './money/money-events.ts'
import { type Plans, PlanView } from './plans.ts'
import { withTimeout } from './processor.ts'
import { SubscriptionView, viewSubscription } from './subscription.ts'

const route = declareRoutes('billing', { access: 'user' })

export function billingRoutes(app: App, deps: BillingDeps, plans: Plans): void {
  app.post(
    '/api/billing/create-checkout-session',
    route('createCheckoutSession', 'Open a hosted checkout for a plan', {
      description:
        'A new subscription ends the running one, and credits it unless the new plan is smaller. To change plans, use `POST /api/billing/change`.',
      querystring: Type.Object({
        price_id: Type.String({ minLength: 1 }),
        promotion_code: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description:
              'As the customer types it. Without one, the checkout page of a first subscription offers a field',
          }),
        ),
      }),
      response: { 200: HostedPage },
    }),
    async (request) => {
      const { price_id: priceId, promotion_code: promotionCode } = request.query
      const opening = openCheckout(deps, requireCaller(request).userId, { priceId, promotionCode })
      return { url: await withTimeout(opening) }
    },
  )

  app.post(
    '/api/billing/create-portal-session',
    route('createPortalSession', 'Open the hosted customer portal', {
      querystring: Type.Object({ flow: Type.Optional(OneOf(...PORTAL_FLOWS)) }),
      response: { 200: HostedPage },
    }),
    async (request) => ({
      url: await withTimeout(
        openPortal(deps, requireCaller(request).userId, request.query.flow ?? null),
      ),
    }),
  )

  app.get(
    '/api/billing/subscription',
    route(
      'getSubscription',
      'The caller’s subscription',
      { response: { 200: SubscriptionView } },
      { viewable: true },
    ),
    (request) => viewSubscription(deps, requireCaller(request).userId),
  )

  lifeRoutes(app, deps)

  app.get(
    '/api/billing/plans',
    route(
      'listPlans',
      'The plans on offer',
      { response: { 200: Type.Object({ plans: Type.Array(PlanView) }) } },
      { access: 'anyone' },
    ),
    async () => ({ plans: await plans.list() }),
  )

  registerEventRoute(app, deps, {
    url: '/api/billing/webhook',
    operationId: 'receiveBillingEvent',
    tag: 'billing',
    secret: deps.processor && deps.config.processor.webhookSecret,
    async receive(sent) {
      if (await receiveMoneyEvent(deps, sent)) return
      const event = readBillingEvent(sent)
      if (event) await deps.inbox.receive(INBOX_SOURCE, event.id, event)
    },
  })
}

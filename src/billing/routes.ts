import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { OneOf } from '#platform/http/schema.ts'
import { billingEventOf, INBOX_SOURCE } from './billing-events.ts'
import { openCheckout, openPortal, PORTAL_FLOWS } from './checkout.ts'
import type { BillingDeps } from './deps.ts'
import { eventRoute } from './event-route.ts'
import { Address, lifeRoutes } from './life-routes.ts'
import { receiveMoneyEvent } from './money/money-events.ts'
import { createPlans, PlanView } from './plans.ts'
import { withinPatience } from './processor.ts'
import { SubscriptionView, viewSubscription } from './subscription.ts'

export function billingRoutes(app: App, deps: BillingDeps): void {
  const plans = createPlans(deps)

  app.post(
    '/api/billing/create-checkout-session',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'createCheckoutSession',
        tags: ['billing'],
        summary: 'Open a hosted checkout for a plan',
        description:
          'The subscription that runs is ended by a new one, and credited unless that is to a smaller plan: `POST /api/billing/change` is the way to change.',
        querystring: Type.Object({
          price_id: Type.String({ minLength: 1 }),
          promotion_code: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 100,
              description: 'As people type it; without one, the page of a first subscription asks',
            }),
          ),
        }),
        response: { 200: Address },
      },
    },
    async (request) => {
      const { price_id: priceId, promotion_code: promotionCode } = request.query
      const opening = openCheckout(deps, requireCaller(request).userId, { priceId, promotionCode })
      return { url: await withinPatience(opening) }
    },
  )

  app.post(
    '/api/billing/create-portal-session',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'createPortalSession',
        tags: ['billing'],
        summary: 'Open the hosted customer portal',
        querystring: Type.Object({ flow: Type.Optional(OneOf(...PORTAL_FLOWS)) }),
        response: { 200: Address },
      },
    },
    async (request) => ({
      url: await withinPatience(
        openPortal(deps, requireCaller(request).userId, request.query.flow ?? null),
      ),
    }),
  )

  app.get(
    '/api/billing/subscription',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'getSubscription',
        tags: ['billing'],
        summary: 'The caller’s subscription',
        response: { 200: SubscriptionView },
      },
    },
    (request) => viewSubscription(deps, requireCaller(request).userId),
  )

  lifeRoutes(app, deps)

  app.get(
    '/api/billing/plans',
    {
      config: { access: 'anyone' },
      schema: {
        operationId: 'listPlans',
        tags: ['billing'],
        summary: 'The plans on offer',
        response: { 200: Type.Object({ plans: Type.Array(PlanView) }) },
      },
    },
    async () => ({ plans: await plans.list() }),
  )

  eventRoute(app, deps, {
    url: '/api/billing/webhook',
    operationId: 'receiveBillingEvent',
    tag: 'billing',
    secret: deps.processor && deps.config.processor.webhookSecret,
    async receive(sent) {
      if (await receiveMoneyEvent(deps, sent)) return
      const event = billingEventOf(sent)
      if (event) await deps.inbox.receive(INBOX_SOURCE, event.id, event)
    },
  })
}

import { Type } from 'typebox'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { billingEventOf, INBOX_SOURCE } from './billing-events.ts'
import { openCheckout, openPortal } from './checkout.ts'
import type { BillingDeps } from './deps.ts'
import { eventRoute } from './event-route.ts'
import { receiveMoneyEvent } from './money/money-events.ts'
import { createPlans, PlanView } from './plans.ts'
import { SubscriptionView, viewSubscription } from './subscription.ts'

const Address = Type.Object(
  { url: Type.String({ description: 'The processor’s hosted page' }) },
  { title: 'HostedPage' },
)

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
        querystring: Type.Object({ price_id: Type.String({ minLength: 1 }) }),
        response: { 200: Address },
      },
    },
    async (request) => ({ url: await openCheckout(deps, callerOf(request).userId, request.query.price_id) }),
  )

  app.post(
    '/api/billing/create-portal-session',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'createPortalSession',
        tags: ['billing'],
        summary: 'Open the hosted customer portal',
        response: { 200: Address },
      },
    },
    async (request) => ({ url: await openPortal(deps, callerOf(request).userId) }),
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
    (request) => viewSubscription(deps, callerOf(request).userId),
  )

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

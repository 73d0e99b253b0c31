/**
 * Routes that change, pause, resume and pay a subscription. None accepts a subscription's id: each
 * acts on the caller's own.
 */
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { declareRoutes } from '#platform/http/declare-routes.ts'
import { Message, OneOf } from '#platform/http/schema.ts'
import { ChangePreview, changePlan, previewChange } from './change.ts'
import { openPayment, PAYMENTS_FOR } from './checkout.ts'
import type { BillingDeps } from './deps.ts'
import { findDocument, INVOICE_DOCUMENTS, InvoiceView, listInvoices } from './invoice-list.ts'
import { setOffers, unsubscribe } from './offers.ts'
import { withTimeout } from './processor.ts'
import { pauseSubscription, resumeSubscription } from './running.ts'
import { SubscriptionView, viewSubscription } from './subscription.ts'

const route = declareRoutes('billing', { access: 'user' })

export const HostedPage = Type.Object(
  { url: Type.String({ description: 'The processor’s hosted page' }) },
  { title: 'HostedPage' },
)

export function lifeRoutes(app: App, deps: BillingDeps): void {
  app.post(
    '/api/billing/change/preview',
    route('previewPlanChange', 'Preview the cost of a plan change', {
      body: Type.Object({ price_id: Type.String({ minLength: 1 }) }, { title: 'PlanChoice' }),
      response: { 200: ChangePreview },
    }),
    (request) =>
      withTimeout(previewChange(deps, requireCaller(request).userId, request.body.price_id)),
  )

  app.post(
    '/api/billing/change',
    route('changePlan', 'Change the plan as previewed', {
      description:
        'A larger plan or a longer interval takes effect and is billed at once. A smaller plan takes effect when the paid period ends. A refused payment changes nothing.',
      body: Type.Object(
        {
          price_id: Type.String({ minLength: 1 }),
          proration_at: Type.Integer({
            description: 'From the preview; valid for 15 minutes',
          }),
        },
        { title: 'PlanChange' },
      ),
      response: { 200: SubscriptionView },
    }),
    async (request) => {
      const { userId } = requireCaller(request)
      const { price_id: priceId, proration_at: prorationAt } = request.body
      await withTimeout(changePlan(deps, userId, { priceId, prorationAt }))
      return viewSubscription(deps, userId)
    },
  )

  app.post(
    '/api/billing/pause',
    route('pauseSubscription', 'Pause the subscription when the paid period ends', {
      description:
        'The plan stays open until `pauses_at`. Then it closes, and nothing is billed until you resume it.',
      response: { 200: SubscriptionView },
    }),
    async (request) => {
      const { userId } = requireCaller(request)
      await withTimeout(pauseSubscription(deps, userId))
      return viewSubscription(deps, userId)
    },
  )

  app.post(
    '/api/billing/resume',
    route(
      'resumeSubscription',
      'Resume a paused subscription, or withdraw a pause or a cancellation',
      {
        description:
          'Withdrawing a pause or a cancellation that has not begun is free. After a pause a new period begins and is billed now. If the bank requires a confirmation (`payment_status`), the period begins once it is confirmed.',
        response: { 200: SubscriptionView },
      },
    ),
    async (request) => {
      const { userId } = requireCaller(request)
      await withTimeout(resumeSubscription(deps, userId))
      return viewSubscription(deps, userId)
    },
  )

  app.post(
    '/api/billing/create-payment-session',
    route('createPaymentSession', 'Open the page that collects a missing payment', {
      description:
        'Opens the newest open invoice; without one, the page that changes the card. `for=checkout` opens the invoice of a second checkout (`pending_checkout`).',
      querystring: Type.Object({ for: Type.Optional(OneOf(...PAYMENTS_FOR)) }),
      response: { 200: HostedPage },
    }),
    async (request) => ({
      url: await withTimeout(openPayment(deps, requireCaller(request).userId, request.query.for)),
    }),
  )

  app.get(
    '/api/billing/invoices',
    route(
      'listInvoices',
      'List the caller’s invoices, the newest first',
      {
        response: {
          200: Type.Object({ invoices: Type.Array(InvoiceView) }, { title: 'Invoices' }),
        },
      },
      { viewable: true },
    ),
    async (request) => {
      const { userId, viewerId } = requireCaller(request)
      const invoices = await listInvoices(deps, userId)
      if (viewerId === undefined) return { invoices }
      // The links open without a sign-in, so they would outlive the view.
      return { invoices: invoices.map((one) => ({ ...one, pay_url: null, pdf_url: null })) }
    },
  )

  app.get(
    '/api/billing/invoices/:id/:document',
    {
      config: { access: 'anyone' },
      schema: {
        hide: true,
        params: Type.Object({ id: Type.String(), document: OneOf(...INVOICE_DOCUMENTS) }),
        querystring: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
      },
    },
    async ({ params, query }, reply) =>
      reply.redirect(await findDocument(deps, { ...params, token: query.token }), 303),
  )

  app.patch(
    '/api/billing/offers',
    route('setOffersByMail', 'Turn offers by email on or off', {
      body: Type.Object({ by_mail: Type.Boolean() }, { title: 'OffersWish' }),
      response: { 200: SubscriptionView },
    }),
    async (request) => {
      const { userId } = requireCaller(request)
      await setOffers(deps, userId, request.body.by_mail)
      return viewSubscription(deps, userId)
    },
  )

  app.register(async (scope: App) => registerUnsubscribeRoute(scope, deps))
}

/** Mail clients send this request themselves, with a form that adds nothing (RFC 8058). */
function registerUnsubscribeRoute(app: App, deps: BillingDeps): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, _body, done) => done(null, {}),
  )
  app.post(
    '/api/billing/offers/unsubscribe',
    route(
      'unsubscribeFromOffers',
      'Unsubscribe from offers by email',
      {
        querystring: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
        response: { 200: Message },
      },
      { access: 'anyone' },
    ),
    async (request) => {
      await unsubscribe(deps, request.query.token)
      return { message: 'You are unsubscribed from offers' }
    },
  )
}

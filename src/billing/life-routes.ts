/** Addresses for what becomes of a subscription: changed, paused, resumed, paid, and written about. None takes a subscription's id: it is the caller's own. */
import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Message, OneOf } from '#platform/http/schema.ts'
import { ChangePreview, changePlan, previewChange } from './change.ts'
import { openPayment, PAYMENTS_FOR } from './checkout.ts'
import type { BillingDeps } from './deps.ts'
import { findDocument, INVOICE_DOCUMENTS, InvoiceView, listInvoices } from './invoice-list.ts'
import { unsubscribe, wantOffers } from './offers.ts'
import { withinPatience } from './processor.ts'
import { pauseSubscription, resumeSubscription } from './running.ts'
import { SubscriptionView, viewSubscription } from './subscription.ts'

export const Address = Type.Object(
  { url: Type.String({ description: 'The processor’s hosted page' }) },
  { title: 'HostedPage' },
)

export function lifeRoutes(app: App, deps: BillingDeps): void {
  app.post(
    '/api/billing/change/preview',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'previewPlanChange',
        tags: ['billing'],
        summary: 'What a change of plan would cost, now and later',
        body: Type.Object({ price_id: Type.String({ minLength: 1 }) }, { title: 'PlanChoice' }),
        response: { 200: ChangePreview },
      },
    },
    (request) =>
      withinPatience(previewChange(deps, requireCaller(request).userId, request.body.price_id)),
  )

  app.post(
    '/api/billing/change',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'changePlan',
        tags: ['billing'],
        summary: 'Change the plan, as it was previewed',
        description:
          'To a larger plan or a longer interval at once, billed at once; to a smaller one when the period that is paid is over. A refused payment changes nothing.',
        body: Type.Object(
          {
            price_id: Type.String({ minLength: 1 }),
            proration_at: Type.Integer({
              description: 'From the preview; it holds for 15 minutes',
            }),
          },
          { title: 'PlanChange' },
        ),
        response: { 200: SubscriptionView },
      },
    },
    async (request) => {
      const { userId } = requireCaller(request)
      const { price_id: priceId, proration_at: prorationAt } = request.body
      await withinPatience(changePlan(deps, userId, { priceId, prorationAt }))
      return viewSubscription(deps, userId)
    },
  )

  app.post(
    '/api/billing/pause',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'pauseSubscription',
        tags: ['billing'],
        summary: 'Pause the subscription when the paid period ends',
        description:
          'The plan stays open until then (`pauses_at`). Then it closes, and nothing is billed until it is resumed.',
        response: { 200: SubscriptionView },
      },
    },
    async (request) => {
      const { userId } = requireCaller(request)
      await withinPatience(pauseSubscription(deps, userId))
      return viewSubscription(deps, userId)
    },
  )

  app.post(
    '/api/billing/resume',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'resumeSubscription',
        tags: ['billing'],
        summary: 'Resume a paused subscription, or withdraw a pause or a cancellation',
        description:
          'Withdrawing a pause or a cancellation that has not begun costs nothing. After a pause a new period begins, and is billed now. Where the bank asks to confirm that (`payment_status`), it begins when it is confirmed.',
        response: { 200: SubscriptionView },
      },
    },
    async (request) => {
      const { userId } = requireCaller(request)
      await withinPatience(resumeSubscription(deps, userId))
      return viewSubscription(deps, userId)
    },
  )

  app.post(
    '/api/billing/create-payment-session',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'createPaymentSession',
        tags: ['billing'],
        summary: 'Open the page where a missing payment is made',
        description:
          'The newest open invoice; without one, where the card is changed. `for=checkout`: that of another checkout beside the plan that runs (`pending_checkout`).',
        querystring: Type.Object({ for: Type.Optional(OneOf(...PAYMENTS_FOR)) }),
        response: { 200: Address },
      },
    },
    async (request) => ({
      url: await withinPatience(
        openPayment(deps, requireCaller(request).userId, request.query.for),
      ),
    }),
  )

  app.get(
    '/api/billing/invoices',
    {
      config: { access: 'user' },
      schema: {
        operationId: 'listInvoices',
        tags: ['billing'],
        summary: 'The caller’s invoices, the newest first',
        response: {
          200: Type.Object({ invoices: Type.Array(InvoiceView) }, { title: 'Invoices' }),
        },
      },
    },
    async (request) => ({ invoices: await listInvoices(deps, requireCaller(request).userId) }),
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
    {
      config: { access: 'user' },
      schema: {
        operationId: 'setOffersByMail',
        tags: ['billing'],
        summary: 'Ask for offers by mail, or for none',
        body: Type.Object({ by_mail: Type.Boolean() }, { title: 'OffersWish' }),
        response: { 200: SubscriptionView },
      },
    },
    async (request) => {
      const { userId } = requireCaller(request)
      await wantOffers(deps, userId, request.body.by_mail)
      return viewSubscription(deps, userId)
    },
  )

  app.register(async (scope: App) => unsubscribeRoute(scope, deps))
}

/** Mail programs press it themselves, with a form that says nothing new (RFC 8058). */
function unsubscribeRoute(app: App, deps: BillingDeps): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, _body, done) => done(null, {}),
  )
  app.post(
    '/api/billing/offers/unsubscribe',
    {
      config: { access: 'anyone' },
      schema: {
        operationId: 'unsubscribeFromOffers',
        tags: ['billing'],
        summary: 'Get no offers by mail any more',
        querystring: Type.Object({ token: Type.String({ minLength: 1, maxLength: 200 }) }),
        response: { 200: Message },
      },
    },
    async (request) => {
      await unsubscribe(deps, request.query.token)
      return { message: 'You get no offers any more' }
    },
  )
}

import { type Static, Type } from 'typebox'
import { registerEventRoute } from '#billing/event-route.ts'
import { withTimeout } from '#billing/processor.ts'
import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import type { Described } from '#platform/http/openapi.ts'
import { readLocale } from '#platform/http/request-locale.ts'
import { Uuid } from '#platform/http/schema.ts'
import type { RateLimiter } from '#platform/rate-limiter.ts'
import { findPromotion } from '../orders/promotions.ts'
import { quoteSale } from '../orders/quotes.ts'
import { onPageError } from '../pages/errors.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed } from '../products/product-list.ts'
import { isForSale, type ProductDeps } from '../products/releases.ts'
import { ownsTier } from '../purchases/allowance.ts'
import { requestFree } from '../purchases/free.ts'
import { findOfUser } from '../purchases/store.ts'
import { findStoreCaller, SESSION_COOKIE } from '../sessions/sessions.ts'
import { requireWaiver, WAIVERS } from '../withdrawals/waiver.ts'
import { checkoutAddress } from './checkout.ts'
import { openGuestCheckout } from './guest-checkout.ts'
import { findReceiptUrl, type PaymentDeps, receivePaymentEvent } from './payments.ts'

export type PaymentRouteDeps = PaymentDeps & ProductDeps & { limiter: RateLimiter }

/** The path that receives the payment processor's events for the storefront. */
export const STOREFRONT_EVENTS = '/api/processor/webhook'

const CHECKOUT: Described = {
  security: [{ session: [] }, {}],
  parameters: [
    {
      name: 'tier',
      in: 'query',
      required: true,
      schema: { type: 'string', maxLength: 64 },
      description: 'The tier of a product on sale',
    },
  ],
  replies: {
    302: {
      description:
        'To the hosted checkout; to /login without a session; to /dashboard where the tier is owned.',
      headers: { location: { description: 'Where to go', schema: { type: 'string' } } },
    },
  },
}

const INVOICE: Described = {
  replies: {
    302: {
      description: 'To the processor’s document.',
      headers: { location: { description: 'Where it is', schema: { type: 'string' } } },
    },
  },
}

const SaleFields = {
  from: Type.Optional(
    Type.String({ format: 'uuid', description: 'The purchase to upgrade to the tier' }),
  ),
  renew: Type.Optional(
    Type.String({ format: 'uuid', description: 'The purchase whose updates to renew' }),
  ),
  code: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'A promotion code' }),
  ),
  waiver: Type.Optional(
    Type.String({
      maxLength: 50,
      description: `Sent when the buyer agreed to: “${WAIVERS.en.text}” Its version is \`${WAIVERS.en.version}\`; the German text has \`${WAIVERS.de.version}\``,
    }),
  ),
}
type SaleFields = Static<ReturnType<typeof Type.Object<typeof SaleFields>>>

const CheckoutLink = Type.Object(
  {
    url: Type.String({
      description: 'Where the buyer pays, or the page of their payment or free product',
    }),
  },
  { title: 'StoreCheckout' },
)

export function paymentRoutes(app: App, deps: PaymentRouteDeps): void {
  app.get(
    '/api/checkout',
    {
      schema: {
        operationId: 'startCheckout',
        querystring: Type.Object({ tier: Type.Optional(Type.Unknown()), ...SaleFields }),
        tags: ['checkout'],
        summary: 'Leads the browser to the hosted checkout',
      },
      // The handler checks the session itself, to report a wrong tier first and to redirect
      // visitors to the login.
      config: { access: 'anyone', described: CHECKOUT },
      errorHandler: onPageError(deps),
    },
    async (request, reply) => {
      const product = requireProduct(deps, String(request.query.tier))
      const { tier } = product
      if (product.free !== null) return reply.redirect(`/checkout?tier=${tier}`, 302)
      const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
      if (!caller) {
        const fields = Object.keys(SaleFields).some((name) => name in request.query)
        const target = fields ? encodeURIComponent(request.url) : `/api/checkout?tier=${tier}`
        return reply.redirect(`/login?redirect=${target}`, 302)
      }
      const { from, renew } = request.query
      if (from === undefined && renew === undefined && (await ownsTier(deps, caller.userId, tier)))
        return reply.redirect('/dashboard', 302)
      return reply.redirect(await openSale(deps, caller.userId, product, request.query), 302)
    },
  )

  app.post(
    '/api/checkout',
    {
      schema: {
        operationId: 'createCheckout',
        body: Type.Object({
          tier: Type.String({ minLength: 1, maxLength: 64 }),
          email: Type.Optional(
            Type.String({
              format: 'email',
              maxLength: 254,
              description: 'Of a guest, who gets the purchase by a mailed link; without a session',
            }),
          ),
          ...SaleFields,
        }),
        response: { 200: CheckoutLink },
        tags: ['checkout'],
        summary: 'Opens a checkout for a product, an upgrade or a renewal',
        description:
          'The service computes the amount. An upgrade costs the difference to what was paid and not refunded, or the price in the catalogue. Without a session, `email` buys as a guest. A free product needs no payment: the reply leads to the purchase, or to a page that asks the visitor to open the mailed link.',
      },
      config: {
        access: 'anyone',
        limit: 'general',
        described: { security: [{ session: [] }, {}] },
      },
    },
    async (request) => {
      const product = requireProduct(deps, request.body.tier)
      const caller = await findStoreCaller(deps, request.cookies[SESSION_COOKIE])
      if (product.free !== null) {
        const { email, from, renew } = request.body
        if (from !== undefined || renew !== undefined) throw storefrontProblem('not_an_upgrade')
        const locale = caller?.locale ?? readLocale(request)
        const visitor = { caller, email, address: request.ip, locale }
        return { url: deps.config.urls.storefront + (await requestFree(deps, product, visitor)) }
      }
      if (caller) return { url: await openSale(deps, caller.userId, product, request.body) }
      const { email, from, renew } = request.body
      if (email === undefined || from !== undefined || renew !== undefined)
        throw storefrontProblem('not_signed_in')
      return {
        url: await openGuestCheckout(
          deps,
          product,
          { ...request.body, email },
          { address: request.ip, locale: readLocale(request) },
        ),
      }
    },
  )

  app.get(
    '/api/purchases/:id/invoice',
    {
      schema: {
        operationId: 'getPurchaseInvoice',
        params: Type.Object({ id: Uuid }),
        tags: ['purchases'],
        summary: 'Leads to the PDF of the invoice, or to the receipt of a sale without one',
      },
      config: { access: 'session', described: INVOICE },
      errorHandler: onPageError(deps),
    },
    async (request, reply) => {
      const { userId } = requireCaller(request)
      const purchase = await findOfUser(deps.db, userId, request.params.id)
      if (!purchase) throw storefrontProblem('no_invoice')
      const url = await withTimeout(findReceiptUrl(deps, purchase))
      if (url === null) throw storefrontProblem('no_invoice')
      return reply.redirect(url, 302)
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

/** @throws Problem 400 `tier_invalid` */
function requireProduct({ productList }: Listed, tier: string): CatalogueProduct {
  const product = productList.findSold(tier)
  if (!product) throw storefrontProblem('tier_invalid')
  return product
}

/** Returns the address where the buyer pays. */
async function openSale(
  deps: PaymentRouteDeps,
  userId: string,
  product: CatalogueProduct,
  { from, renew, code, waiver }: SaleFields,
): Promise<string> {
  requireWaiver(waiver)
  const quote = await quoteSale(deps, userId, product, { from, renew })
  if (!(await isForSale(deps, product.tier))) throw storefrontProblem('not_for_sale')
  return withTimeout(
    (async () => {
      const promotion =
        code === undefined ? null : await findPromotion(deps, code, { userId, quote })
      const members = deps.productList.listMembers(product).map(({ tier }) => tier)
      const sale = { ...quote, members, promotion, waiver: waiver ?? null }
      return checkoutAddress(deps, userId, sale)
    })(),
  )
}

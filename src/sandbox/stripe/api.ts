// The processor's HTTP API as the product's client speaks it: form bodies in, the real API's objects and errors out.
// Each call is one synchronous transaction, so its object, its events and its remembered reply stand or fall together.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import { type Form, parseForm } from '../form.ts'
import { OPEN } from '../route.ts'
import { createPrice, createProduct, updatePrice } from './catalogue.ts'
import { createSession, expireSession, lineItemsOf } from './checkout-sessions.ts'
import { createCustomer, createTaxId, deleteCustomer, updateCustomer } from './customers.ts'
import { wasDelivered } from './deliveries.ts'
import { API_VERSION, type ProcessorDeps } from './deps.ts'
import {
  createCoupon,
  createPromotionCode,
  deleteCoupon,
  updateCoupon,
  updatePromotionCode,
} from './discounts.ts'
import { closeDispute } from './disputes.ts'
import type { StoredEvent } from './events.ts'
import { expanded, withPending } from './expand.ts'
import { badParameter, Fault, faultOf } from './fault.ts'
import { once } from './idempotency.ts'
import { paymentsOf, subscriptionOf, voidInvoice } from './invoices.ts'
import { type List, PAGING, paged } from './lists.ts'
import { findObjects } from './object-queries.ts'
import { all, must, mustParam, put, type StripeObject } from './objects.ts'
import { allow, group, integer, mergeMetadata, optionalText, texts } from './parameters.ts'
import { pauseSubscription, resumeSubscription } from './pauses.ts'
import { createRefund } from './payments.ts'
import { createPortalSession } from './portal-sessions.ts'
import { previewInvoice } from './previews.ts'
import { cancelSubscription, updateSubscription } from './subscription-changes.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

type Call = { form: Form; id: string; origin: string }
type Answer = StripeObject | List<{ id: string }> | object

/** Under `/sandbox/stripe`; paths as the real API's. `origin` is where the person's browser finds the hosted pages. */
export function processorApi(
  app: FastifyInstance,
  deps: ProcessorDeps,
  originOf: (request: FastifyRequest) => string,
): void {
  app.setErrorHandler((error, _request, reply) => {
    const fault = faultOf(error as Error & { statusCode?: number })
    return reply.code(fault.status).headers(apiHeaders(undefined)).send({ error: fault.body })
  })
  // A separate GET: the product answers unknown paths with pages for people.
  app.get('/*', OPEN, unrecognized)
  app.setNotFoundHandler(unrecognized)

  const { db } = deps
  const retrieve = (path: string, object: string) =>
    route('GET', `${path}/:id`, ({ id }) => must(db, object, id))

  route('POST', '/v1/customers', ({ form }) => createCustomer(deps, form))
  retrieve('/v1/customers', 'customer')
  route('POST', '/v1/customers/:id', ({ form, id }) => updateCustomer(deps, id, form))
  route('DELETE', '/v1/customers/:id', ({ id }) => deleteCustomer(deps, id))
  route('GET', '/v1/customers', ({ form }) => {
    allow(form, [...PAGING, 'email'])
    const email = optionalText(form, 'email')
    return paged(
      all<Stripe.Customer>(db, 'customer').filter(
        (one) => !one.deleted && (email === null || one.email === email),
      ),
      form,
      '/v1/customers',
    )
  })
  route('POST', '/v1/customers/:id/tax_ids', ({ form, id }) => createTaxId(deps, id, form))
  route('GET', '/v1/customers/:id/tax_ids', ({ form, id }) =>
    paged(all(db, 'tax_id', must(db, 'customer', id).id), form, `/v1/customers/${id}/tax_ids`),
  )
  route('GET', '/v1/customers/:id/payment_methods', ({ form, id }) =>
    paged(
      all(db, 'payment_method', must(db, 'customer', id).id),
      form,
      `/v1/customers/${id}/payment_methods`,
    ),
  )

  route('POST', '/v1/products', ({ form }) => createProduct(deps, form))
  retrieve('/v1/products', 'product')
  route('GET', '/v1/products', ({ form }) => {
    allow(form, [...PAGING, 'active', 'ids'])
    return paged(all<Stripe.Product>(db, 'product').filter(activeAs(form)), form, '/v1/products')
  })
  route('POST', '/v1/prices', ({ form }) => createPrice(deps, form))
  retrieve('/v1/prices', 'price')
  route('POST', '/v1/prices/:id', ({ form, id }) => updatePrice(deps, id, form))
  route('GET', '/v1/prices', ({ form }) => {
    allow(form, [...PAGING, 'active', 'product', 'type', 'currency', 'lookup_keys'])
    const fits = (price: Stripe.Price) =>
      matches(form, { product: price.product, type: price.type, currency: price.currency })
    return paged(
      all<Stripe.Price>(db, 'price').filter(activeAs(form)).filter(fits),
      form,
      '/v1/prices',
    )
  })
  route('POST', '/v1/coupons', ({ form }) => createCoupon(deps, form))
  retrieve('/v1/coupons', 'coupon')
  route('POST', '/v1/coupons/:id', ({ form, id }) => updateCoupon(deps, id, form))
  route('DELETE', '/v1/coupons/:id', ({ id }) => deleteCoupon(deps, id))
  route('GET', '/v1/coupons', ({ form }) => paged(all(db, 'coupon'), form, '/v1/coupons'))
  route('POST', '/v1/promotion_codes', ({ form }) => createPromotionCode(deps, form))
  retrieve('/v1/promotion_codes', 'promotion_code')
  route('POST', '/v1/promotion_codes/:id', ({ form, id }) => updatePromotionCode(deps, id, form))
  route('GET', '/v1/promotion_codes', ({ form }) => {
    allow(form, [...PAGING, 'active', 'code', 'coupon', 'customer'])
    const fits = (one: Stripe.PromotionCode) =>
      matches(form, { code: one.code, coupon: one.promotion.coupon })
    return paged(
      all<Stripe.PromotionCode>(db, 'promotion_code').filter(activeAs(form)).filter(fits),
      form,
      '/v1/promotion_codes',
    )
  })

  route('POST', '/v1/checkout/sessions', ({ form, origin }) => createSession(deps, form, origin))
  retrieve('/v1/checkout/sessions', 'checkout.session')
  route('POST', '/v1/checkout/sessions/:id/expire', ({ id }) => expireSession(deps, id))
  route('POST', '/v1/checkout/sessions/:id', ({ form, id }) => {
    allow(form, ['metadata'])
    const session = must<Stripe.Checkout.Session>(db, 'checkout.session', id)
    return put(db, { ...session, metadata: mergeMetadata(session.metadata, form.metadata) })
  })
  route('GET', '/v1/checkout/sessions/:id/line_items', ({ form, id }) =>
    paged(
      lineItemsOf(deps, must(db, 'checkout.session', id)),
      form,
      `/v1/checkout/sessions/${id}/line_items`,
    ),
  )
  route('GET', '/v1/checkout/sessions', ({ form }) => {
    allow(form, [
      ...PAGING,
      'customer',
      'payment_intent',
      'subscription',
      'status',
      'customer_details',
    ])
    const fits = (one: Stripe.Checkout.Session) =>
      matches(form, {
        customer: one.customer,
        payment_intent: one.payment_intent,
        subscription: one.subscription,
        status: one.status,
      })
    return paged(
      all<Stripe.Checkout.Session>(db, 'checkout.session').filter(fits),
      form,
      '/v1/checkout/sessions',
    )
  })

  retrieve('/v1/subscriptions', 'subscription')
  route('GET', '/v1/subscriptions', ({ form }) => {
    allow(form, [...PAGING, 'customer', 'status', 'price', 'collection_method'])
    const status = optionalText(form, 'status')
    const price = optionalText(form, 'price')
    const fits = (one: Stripe.Subscription) =>
      (status === 'all' ||
        (status === null
          ? one.status !== 'canceled'
          : status === 'ended'
            ? one.ended_at !== null
            : one.status === status)) &&
      (price === null || one.items.data.some((item) => item.price.id === price))
    return paged(
      all<Stripe.Subscription>(db, 'subscription', customerIn(form)).filter(fits),
      form,
      '/v1/subscriptions',
    )
  })
  route('POST', '/v1/subscriptions/:id', ({ form, id }) => updateSubscription(deps, id, form))
  route('POST', '/v1/subscriptions/:id/pause', ({ form, id }) => pauseSubscription(deps, id, form))
  route('POST', '/v1/subscriptions/:id/resume', ({ form, id }) =>
    resumeSubscription(deps, id, form),
  )
  route('DELETE', '/v1/subscriptions/:id', ({ form, id }) => cancelSubscription(deps, id, form))
  route('GET', '/v1/subscription_items', ({ form }) => {
    allow(form, [...PAGING, 'subscription'])
    return paged(
      must<Stripe.Subscription>(db, 'subscription', optionalText(form, 'subscription') ?? '').items
        .data,
      form,
      '/v1/subscription_items',
    )
  })

  route('POST', '/v1/invoices/create_preview', ({ form }) => previewInvoice(deps, form))
  retrieve('/v1/invoices', 'invoice')
  route('POST', '/v1/invoices/:id/void', ({ form, id }) => {
    allow(form, [])
    if (must<Stripe.Invoice>(db, 'invoice', id).status !== 'open')
      throw badParameter('invoice', 'You can only void an invoice that is open.')
    voidInvoice(deps, id)
    return must<Stripe.Invoice>(db, 'invoice', id)
  })
  route('GET', '/v1/invoices', ({ form }) => {
    allow(form, [...PAGING, 'customer', 'subscription', 'status', 'collection_method', 'due_date'])
    const fits = (one: Stripe.Invoice) =>
      matches(form, { status: one.status, subscription: subscriptionOf(one) })
    return paged(
      findObjects<Stripe.Invoice>(db, 'invoice', {
        ...wantedBy(form),
        owner: customerIn(form),
      }).filter(fits),
      form,
      '/v1/invoices',
    )
  })
  route('GET', '/v1/invoice_payments', ({ form }) => {
    allow(form, [...PAGING, 'invoice', 'payment', 'status'])
    const invoice = optionalText(form, 'invoice')
    const found = invoice
      ? paymentsOf(deps, invoice)
      : all<Stripe.InvoicePayment>(db, 'invoice_payment')
    return paged(
      found.filter((one) => matches(form, { status: one.status })),
      form,
      '/v1/invoice_payments',
    )
  })

  retrieve('/v1/payment_intents', 'payment_intent')
  route('GET', '/v1/payment_intents', ({ form }) => {
    allow(form, [...PAGING, 'customer'])
    return paged(all(db, 'payment_intent', customerIn(form)), form, '/v1/payment_intents')
  })
  retrieve('/v1/payment_methods', 'payment_method')
  retrieve('/v1/charges', 'charge')
  route('GET', '/v1/charges', ({ form }) => {
    allow(form, [...PAGING, 'customer', 'payment_intent'])
    const fits = (one: Stripe.Charge) => matches(form, { payment_intent: one.payment_intent })
    return paged(
      findObjects<Stripe.Charge>(db, 'charge', {
        ...wantedBy(form),
        owner: customerIn(form),
      }).filter(fits),
      form,
      '/v1/charges',
    )
  })
  route('POST', '/v1/refunds', ({ form }) => {
    allow(form, ['charge', 'payment_intent', 'amount', 'reason', 'metadata', 'instructions_email'])
    return createRefund(deps, form)
  })
  retrieve('/v1/refunds', 'refund')
  route('GET', '/v1/refunds', ({ form }) => {
    allow(form, [...PAGING, 'charge', 'payment_intent'])
    const fits = (one: Stripe.Refund) =>
      matches(form, { charge: one.charge, payment_intent: one.payment_intent })
    return paged(
      findObjects<Stripe.Refund>(db, 'refund', wantedBy(form)).filter(fits),
      form,
      '/v1/refunds',
    )
  })
  retrieve('/v1/balance_transactions', 'balance_transaction')
  route('GET', '/v1/balance_transactions', ({ form }) => {
    allow(form, [...PAGING, 'type', 'source'])
    const fits = ({ type, source }: Stripe.BalanceTransaction) => matches(form, { type, source })
    const found = findObjects<Stripe.BalanceTransaction>(db, 'balance_transaction', wantedBy(form))
    return paged(found.filter(fits), form, '/v1/balance_transactions')
  })
  retrieve('/v1/disputes', 'dispute')
  route('GET', '/v1/disputes', ({ form }) => {
    allow(form, [...PAGING, 'charge', 'payment_intent'])
    const fits = (one: Stripe.Dispute) =>
      matches(form, { charge: one.charge, payment_intent: one.payment_intent })
    return paged(
      findObjects<Stripe.Dispute>(db, 'dispute', wantedBy(form)).filter(fits),
      form,
      '/v1/disputes',
    )
  })
  route('POST', '/v1/disputes/:id/close', ({ id }) => closeDispute(deps, id, 'lost'))

  route('POST', '/v1/billing_portal/sessions', ({ form, origin }) =>
    createPortalSession(deps, form, origin),
  )

  route('GET', '/v1/webhook_endpoints', ({ form }) => {
    allow(form, PAGING)
    return paged(webhookEndpoints(deps), form, '/v1/webhook_endpoints')
  })

  route('GET', '/v1/events/:id', ({ id }) => withPending(deps, must<StoredEvent>(db, 'event', id)))
  route('GET', '/v1/events', ({ form }) => {
    allow(form, [...PAGING, 'type', 'types', 'delivery_success'])
    const types = [...texts(form.type), ...texts(form.types)]
    const delivered = optionalText(form, 'delivery_success')
    const fits = (one: StoredEvent) =>
      (types.length === 0 ||
        types.some((type) =>
          type.endsWith('*') ? one.type.startsWith(type.slice(0, -1)) : one.type === type,
        )) &&
      (delivered === null || wasDelivered(deps, one.id) === (delivered === 'true'))
    const found = paged(
      findObjects<StoredEvent>(db, 'event', wantedBy(form)).filter(fits),
      form,
      '/v1/events',
    )
    return { ...found, data: found.data.map((event) => withPending(deps, event)) }
  })

  /** A list of what an unknown customer has is refused, as the real API does. */
  function customerIn(form: Form): string | undefined {
    const id = optionalText(form, 'customer')
    return id === null ? undefined : mustParam(db, 'customer', id, 'customer').id
  }

  function route(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    answer: (call: Call) => Answer,
  ): void {
    app.route({
      ...OPEN,
      method,
      url: path,
      handler: (request, reply) => {
        authorize(request)
        const { id = '' } = request.params as { id?: string }
        const query = request.url.slice(request.url.indexOf('?') + 1 || request.url.length + 1)
        const form =
          method === 'POST' ? ((request.body as Form | undefined) ?? {}) : readForm(query)
        const key =
          method === 'POST' ? (request.headers['idempotency-key'] as string | undefined) : undefined

        const work = () => {
          const body = expanded(
            deps,
            answer({ form, id, origin: originOf(request) }),
            texts(form.expand),
          )
          return { status: 200, body: JSON.stringify(body) }
        }
        const result = atomically(db, () =>
          once(deps, key, `${method} ${request.url} ${JSON.stringify(form)}`, work),
        )
        reply.code(result.status).headers(apiHeaders(key))
        if (result.replayed) reply.header('idempotent-replayed', 'true')
        // A stored failure would only be repeated.
        if (result.status >= 500) reply.header('stripe-should-retry', 'false')
        return reply
          .type('application/json')
          .serializer((text: unknown) => String(text))
          .send(result.body)
      },
    })
  }
}

/** Returns the fields of a list's request that an index serves. */
const wantedBy = (form: Form) => ({
  createdFromS: typeof form.created === 'string' ? null : integer(group(form, 'created'), 'gte'),
  paymentIntent: optionalText(form, 'payment_intent'),
})

function unrecognized(request: FastifyRequest, reply: FastifyReply) {
  const path = request.url.replace(/^\/sandbox\/stripe/, '')
  const message = `Unrecognized request URL (${request.method}: ${path}).`
  return reply
    .code(404)
    .headers(apiHeaders(undefined))
    .send({ error: { type: 'invalid_request_error', message } })
}

export function readForm(text: string): Form {
  try {
    return parseForm(text)
  } catch (error) {
    throw badParameter('body', (error as Error).message)
  }
}

/**
 * Any secret test key is accepted; a live key is refused, so that a real key is never used in the
 * sandbox by mistake.
 */
function authorize(request: FastifyRequest): void {
  const [scheme = '', credentials = ''] = (request.headers.authorization ?? '').split(' ')
  const key =
    scheme.toLowerCase() === 'basic'
      ? Buffer.from(credentials, 'base64').toString().split(':')[0]
      : credentials
  if (!key) {
    throw new Fault(401, {
      type: 'invalid_request_error',
      message:
        'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.',
    })
  }
  if (!/^(sk|rk)_(test|sandbox)_\w+$/.test(key)) {
    throw new Fault(401, {
      type: 'invalid_request_error',
      message: `Invalid API Key provided: ${key.slice(0, 8)}****`,
    })
  }
}

function apiHeaders(key: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'request-id': `req_${randomBytes(8).toString('hex')}`,
    'stripe-version': API_VERSION,
  }
  return key === undefined ? headers : { ...headers, 'idempotency-key': key }
}

const activeAs = (form: Form) => (one: { active: boolean }) =>
  form.active === undefined || String(one.active) === form.active

function matches(form: Form, values: Record<string, unknown>): boolean {
  return Object.entries(values).every(
    ([name, value]) => form[name] === undefined || form[name] === value,
  )
}

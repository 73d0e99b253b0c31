// The processor's HTTP API for the product's client: accepts form bodies and returns objects and
// errors of the real API. Each call is one synchronous transaction, which stores the object, its
// events and its idempotent reply together.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import { type Form, parseForm } from '../form.ts'
import { OPEN } from '../route.ts'
import { createPrice, updatePrice } from './catalogue.ts'
import { createSession, expireSession, listLineItems } from './checkout-sessions.ts'
import { createCustomer, deleteCustomer, updateCustomer } from './customers.ts'
import { API_VERSION, type ProcessorDeps } from './deps.ts'
import { createCoupon, createPromotionCode, deleteCoupon } from './discounts.ts'
import { expandObject } from './expand.ts'
import { badParameter, refused, toFault } from './fault.ts'
import { replayOrRun } from './idempotency.ts'
import { readSubscriptionId, voidInvoice } from './invoices.ts'
import { PAGING, paginate } from './lists.ts'
import { findObjects, getExisting, getNamed, type Kind, type Stored } from './objects.ts'
import { allowSupported, group, integer, optionalText, texts } from './parameters.ts'
import { pauseSubscription, resumeSubscription } from './pauses.ts'
import { createRefund } from './payments.ts'
import { createPortalSession } from './portal-sessions.ts'
import { previewInvoice } from './previews.ts'
import { cancelSubscription, updateSubscription } from './subscription-changes.ts'

type Call = { form: Form; id: string; origin: string }
/** The query parameters of a list, each with a test of whether an item matches its value. */
type Filters<T> = Record<string, (item: T, value: string) => boolean>

/** Filters that compare a field with the parameter of the same name. */
const equals = <T>(...names: (keyof T & string)[]): Filters<T> =>
  Object.fromEntries(names.map((name) => [name, (item, value) => String(item[name]) === value]))

/**
 * Registers the routes below `/sandbox/stripe`, with the paths of the real API. `origin` is the
 * hosted pages' origin in the browser.
 */
export function processorApi(
  app: FastifyInstance,
  deps: ProcessorDeps,
  originOf: (request: FastifyRequest) => string,
): void {
  app.setErrorHandler((error, _request, reply) => {
    const fault = toFault(error as Error & { statusCode?: number })
    return reply.code(fault.status).headers(apiHeaders(undefined)).send({ error: fault.body })
  })
  // A separate GET route, because the product returns HTML pages for unknown paths.
  app.get('/*', OPEN, unrecognized)
  app.setNotFoundHandler(unrecognized)

  const { db } = deps
  const retrieve = (path: string, object: Kind) =>
    route('GET', `${path}/:id`, ({ id }) => getExisting(deps, object, id))
  /** An unknown customer is rejected, as in the real API. */
  const find = <K extends Kind>(object: K, form: Form, filters: Filters<Stored[K]>) => {
    allowSupported(form, [...PAGING, ...Object.keys(filters)])
    const owner = filters.customer ? optionalText(form, 'customer') : null
    if (owner !== null) getNamed(deps, 'customer', owner, 'customer')
    const active = Object.entries(filters).filter(([name]) => form[name] !== undefined)
    const fields = { ...readIndexed(form), owner: owner ?? undefined }
    return findObjects(db, object, fields).filter((item) =>
      active.every(([name, matches]) => matches(item, String(form[name]))),
    )
  }
  const list = <K extends Kind>(path: string, object: K, filters: Filters<Stored[K]>) =>
    route('GET', path, ({ form }) => paginate(find(object, form, filters), form, path))

  route('POST', '/v1/customers', ({ form }) => createCustomer(deps, form))
  retrieve('/v1/customers', 'customer')
  route('POST', '/v1/customers/:id', ({ form, id }) => updateCustomer(deps, id, form))
  route('DELETE', '/v1/customers/:id', ({ id }) => deleteCustomer(deps, id))
  route('GET', '/v1/customers', ({ form }) => {
    const existing = find('customer', form, {}).filter(({ deleted }) => !deleted)
    return paginate(existing, form, '/v1/customers')
  })

  route('POST', '/v1/prices', ({ form }) => createPrice(deps, form))
  retrieve('/v1/prices', 'price')
  route('POST', '/v1/prices/:id', ({ form, id }) => updatePrice(deps, id, form))
  route('POST', '/v1/coupons', ({ form }) => createCoupon(deps, form))
  retrieve('/v1/coupons', 'coupon')
  route('DELETE', '/v1/coupons/:id', ({ id }) => deleteCoupon(deps, id))
  route('POST', '/v1/promotion_codes', ({ form }) => createPromotionCode(deps, form))
  list('/v1/promotion_codes', 'promotion_code', {
    ...equals<Stripe.PromotionCode>('active'),
    code: (promotion: Stripe.PromotionCode, value) =>
      promotion.code.toLowerCase() === value.toLowerCase(),
  })

  const sessions = '/v1/checkout/sessions'
  route('POST', sessions, ({ form, origin }) => createSession(deps, form, origin))
  retrieve(sessions, 'checkout.session')
  route('POST', `${sessions}/:id/expire`, ({ id }) => expireSession(deps, id))
  route('GET', `${sessions}/:id/line_items`, ({ form, id }) => {
    const items = listLineItems(deps, getExisting(deps, 'checkout.session', id))
    return paginate(items, form, `${sessions}/${id}/line_items`)
  })
  list(
    sessions,
    'checkout.session',
    equals<Stripe.Checkout.Session>('customer', 'payment_intent', 'subscription', 'status'),
  )

  retrieve('/v1/subscriptions', 'subscription')
  route('GET', '/v1/subscriptions', ({ form }) => {
    const found = find('subscription', form, {
      ...equals<Stripe.Subscription>('customer'),
      status: ({ status }, value) => value === 'all' || status === value,
    })
    const shown = form.status ? found : found.filter(({ status }) => status !== 'canceled')
    return paginate(shown, form, '/v1/subscriptions')
  })
  route('POST', '/v1/subscriptions/:id', ({ form, id }) => updateSubscription(deps, id, form))
  route('POST', '/v1/subscriptions/:id/pause', ({ form, id }) => pauseSubscription(deps, id, form))
  route('POST', '/v1/subscriptions/:id/resume', ({ form, id }) =>
    resumeSubscription(deps, id, form),
  )
  route('DELETE', '/v1/subscriptions/:id', ({ form, id }) => cancelSubscription(deps, id, form))

  route('POST', '/v1/invoices/create_preview', ({ form }) => previewInvoice(deps, form))
  retrieve('/v1/invoices', 'invoice')
  route('POST', '/v1/invoices/:id/void', ({ form, id }) => {
    allowSupported(form, [])
    if (getExisting(deps, 'invoice', id).status !== 'open')
      throw badParameter('invoice', 'You can only void an invoice that is open.')
    voidInvoice(deps, id)
    return getExisting(deps, 'invoice', id)
  })
  list('/v1/invoices', 'invoice', {
    ...equals<Stripe.Invoice>('customer', 'status'),
    subscription: (invoice, value) => readSubscriptionId(invoice) === value,
  })

  retrieve('/v1/payment_intents', 'payment_intent')
  list('/v1/payment_intents', 'payment_intent', equals<Stripe.PaymentIntent>('customer'))
  retrieve('/v1/charges', 'charge')
  list('/v1/charges', 'charge', equals<Stripe.Charge>('customer', 'payment_intent'))
  route('POST', '/v1/refunds', ({ form }) => createRefund(deps, form))
  list('/v1/refunds', 'refund', equals<Stripe.Refund>('charge', 'payment_intent'))
  list('/v1/balance_transactions', 'balance_transaction', {})
  list('/v1/disputes', 'dispute', equals<Stripe.Dispute>('charge', 'payment_intent'))

  route('POST', '/v1/billing_portal/sessions', ({ form, origin }) =>
    createPortalSession(deps, form, origin),
  )
  route('GET', '/v1/webhook_endpoints', ({ form }) => {
    allowSupported(form, PAGING)
    return paginate(listEndpoints(deps), form, '/v1/webhook_endpoints')
  })
  list('/v1/events', 'event', {
    types: ({ type }, value) => value.split(',').includes(type),
  })

  function route(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    answer: (call: Call) => object,
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
          const body = expandObject(
            deps,
            answer({ form, id, origin: originOf(request) }),
            texts(form.expand),
          )
          return { status: 200, body: JSON.stringify(body) }
        }
        const result = atomically(db, () =>
          replayOrRun(deps, key, `${method} ${request.url} ${JSON.stringify(form)}`, work),
        )
        reply.code(result.status).headers(apiHeaders(key))
        if (result.replayed) reply.header('idempotent-replayed', 'true')
        // A stored failure would be repeated for every retry.
        if (result.status >= 500) reply.header('stripe-should-retry', 'false')
        return reply
          .type('application/json')
          .serializer((text: unknown) => String(text))
          .send(result.body)
      },
    })
  }
}

/** Parameters that an index answers. */
const readIndexed = (form: Form) => ({
  createdFromS: typeof form.created === 'string' ? null : integer(group(form, 'created'), 'gte'),
  paymentIntent: optionalText(form, 'payment_intent'),
})

/** The product's two endpoints, which get all events. */
const listEndpoints = ({ endpoints }: ProcessorDeps) =>
  endpoints().map(({ name, url }) => ({
    id: `we_sandbox_${name}`,
    object: 'webhook_endpoint',
    api_version: API_VERSION,
    application: null,
    created: 0,
    description: null,
    enabled_events: ['*'],
    livemode: false,
    metadata: {},
    status: 'enabled',
    url,
  }))

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
    throw refused(
      401,
      'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.',
    )
  }
  if (!/^(sk|rk)_(test|sandbox)_\w+$/.test(key)) {
    throw refused(401, `Invalid API Key provided: ${key.slice(0, 8)}****`)
  }
}

function apiHeaders(key: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    'request-id': `req_${randomBytes(8).toString('hex')}`,
    'stripe-version': API_VERSION,
  }
  return key === undefined ? headers : { ...headers, 'idempotency-key': key }
}

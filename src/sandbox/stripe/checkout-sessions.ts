/** Hosted checkout: a session is a promise of a price; paying it makes the payment or the subscription. */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import type { Form } from '../form.ts'
import { keepMethod, type TestCard } from './cards.ts'
import { discountOn, priceOfLine, productName, promotionByCode } from './catalogue.ts'
import { createCustomer, setDefaultMethod } from './customers.ts'
import { emit } from './events.ts'
import { badParameter, Fault } from './fault.ts'
import { invoiceOfIntent, markPaid, subscriptionOf, voidInvoice } from './invoices.ts'
import { all, get, must, mustParam, newId, put, sideOf } from './objects.ts'
import { allow, flag, group, groups, integer, mergeMetadata, optionalText } from './parameters.ts'
import { attemptPayment, newIntent, settleIntent } from './payments.ts'
import { setStatus, startSubscription } from './subscriptions.ts'
import { seconds, type World } from './world.ts'

/** What the session keeps to itself until it is paid. */
type Side = {
  lines: { id: string; price: Stripe.Price; quantity: number; name: string }[]
  intentMetadata: Record<string, string>
  intentDescription: string | null
  subscriptionMetadata: Record<string, string>
  coupon: string | null
}

const LIFETIME_S = 24 * 3_600

const PARAMETERS = [
  'mode',
  'line_items',
  'customer',
  'customer_email',
  'customer_creation',
  'customer_update',
  'client_reference_id',
  'metadata',
  'payment_intent_data',
  'subscription_data',
  'allow_promotion_codes',
  'discounts',
  'success_url',
  'cancel_url',
  'expires_at',
  'locale',
  'payment_method_types',
  'submit_type',
  'billing_address_collection',
  'automatic_tax',
  'tax_id_collection',
  'invoice_creation',
  'payment_method_collection',
  'consent_collection',
  'custom_text',
  'phone_number_collection',
  'currency',
  'ui_mode',
  'branding_settings',
  'integration_identifier',
  'adaptive_pricing',
  'name_collection',
  'saved_payment_method_options',
] as const

export function createSession(world: World, form: Form, origin: string): Stripe.Checkout.Session {
  allow(form, PARAMETERS)
  const mode = optionalText(form, 'mode')
  if (mode !== 'payment' && mode !== 'subscription')
    throw badParameter('mode', 'Invalid mode: the sandbox plays `payment` and `subscription`')
  const successUrl = address(form, 'success_url')
  if (!successUrl) throw badParameter('success_url', 'Missing required param: success_url.', 'parameter_missing')
  const customerId = optionalText(form, 'customer')
  const customer = customerId ? mustParam<Stripe.Customer>(world.db, 'customer', customerId, 'customer') : undefined
  if (customer && (customer.deleted as unknown))
    throw badParameter('customer', `No such customer: '${customerId}'`, 'resource_missing')

  const lines = linesOf(world, form, mode)
  const promoted = groups(form, 'discounts')[0]
  const promotionId = promoted ? optionalText(promoted, 'promotion_code') : null
  const couponId = promoted ? optionalText(promoted, 'coupon') : null
  const promotion = promotionId
    ? mustParam<Stripe.PromotionCode>(world.db, 'promotion_code', promotionId, 'discounts[0][promotion_code]')
    : undefined
  const coupon = couponId
    ? mustParam<Stripe.Coupon>(world.db, 'coupon', couponId, 'discounts[0][coupon]').id
    : (promotion?.promotion.coupon as string | undefined)
  if (coupon && form.allow_promotion_codes !== undefined) {
    throw badParameter('discounts', 'You may only specify one of these parameters: allow_promotion_codes, discounts.')
  }

  const id = newId('cs_test')
  const at = seconds(world)
  const side: Side = {
    lines,
    intentMetadata: mergeMetadata({}, group(form, 'payment_intent_data').metadata),
    intentDescription: optionalText(group(form, 'payment_intent_data'), 'description'),
    subscriptionMetadata: mergeMetadata({}, group(form, 'subscription_data').metadata),
    coupon: coupon ?? null,
  }
  const currency = lines[0]?.price.currency ?? 'usd'
  const session = {
    ...EMPTY_SESSION,
    id,
    object: 'checkout.session',
    allow_promotion_codes: form.allow_promotion_codes === undefined ? null : flag(form, 'allow_promotion_codes'),
    ...totals(world, side),
    cancel_url: address(form, 'cancel_url'),
    client_reference_id: optionalText(form, 'client_reference_id'),
    created: at,
    currency,
    customer: customer?.id ?? null,
    customer_creation:
      mode === 'payment' && !customer ? (optionalText(form, 'customer_creation') ?? 'if_required') : null,
    customer_details: customer ? details(customer.email, customer.name ?? null) : null,
    customer_email: optionalText(form, 'customer_email'),
    discounts: coupon ? [{ coupon: couponId ? coupon : null, promotion_code: promotion?.id ?? null }] : [],
    expires_at: integer(form, 'expires_at') ?? at + LIFETIME_S,
    invoice_creation:
      mode === 'payment'
        ? {
            enabled: false,
            invoice_data: {
              account_tax_ids: null,
              custom_fields: null,
              description: null,
              footer: null,
              issuer: null,
              metadata: {},
              rendering_options: null,
            },
          }
        : null,
    locale: optionalText(form, 'locale'),
    metadata: mergeMetadata({}, form.metadata),
    mode,
    payment_method_collection: mode === 'subscription' ? 'always' : 'if_required',
    success_url: successUrl,
    url: `${origin}/sandbox/pay/${id}`,
  } as unknown as Stripe.Checkout.Session
  return put(world.db, session, { owner: customer?.id ?? '', side })
}

export function expireSession(world: World, id: string): Stripe.Checkout.Session {
  const session = must<Stripe.Checkout.Session>(world.db, 'checkout.session', id)
  if (session.status !== 'open') {
    throw badParameter(
      'session',
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    )
  }
  const expired = put(world.db, { ...session, status: 'expired', url: null } as Stripe.Checkout.Session)
  emit(world, 'checkout.session.expired', expired)
  return expired
}

/** Looked for once a second, so the search reads only what is open, and takes no write lock when nothing is due. */
export function expireOldSessions(world: World): void {
  const due = world.db
    .prepare(
      `select id from stripe_objects where object = 'checkout.session'
       and json_extract(body, '$.status') = 'open' and json_extract(body, '$.expires_at') <= ?`,
    )
    .all(seconds(world))
  if (due.length === 0) return
  atomically(world.db, () => {
    for (const { id } of due) expireSession(world, String(id))
  })
}

export function applyPromotion(
  world: World,
  id: string,
  code: string,
): { session: Stripe.Checkout.Session; known: boolean } {
  const session = must<Stripe.Checkout.Session>(world.db, 'checkout.session', id)
  const promotion =
    session.allow_promotion_codes && session.status === 'open' ? promotionByCode(world, code) : undefined
  if (!promotion) return { session, known: false }
  const side = { ...sideOf<Side>(world.db, id), coupon: String(promotion.promotion.coupon) }
  const changed = { ...session, ...totals(world, side), discounts: [{ coupon: null, promotion_code: promotion.id }] }
  return { session: put(world.db, changed as Stripe.Checkout.Session, { side }), known: true }
}

export function removePromotion(world: World, id: string): void {
  const session = must<Stripe.Checkout.Session>(world.db, 'checkout.session', id)
  if (session.status !== 'open' || !session.allow_promotion_codes) return
  const side = { ...sideOf<Side>(world.db, id), coupon: null }
  put(world.db, { ...session, ...totals(world, side), discounts: [] } as Stripe.Checkout.Session, { side })
}

export type Payer = { email: string; name: string; card: TestCard }

/** @returns the completed session, or the processor's words where the card was refused (the session stays open). */
export function paySession(
  world: World,
  id: string,
  payer: Payer,
): { session: Stripe.Checkout.Session } | { refused: string } {
  const session = must<Stripe.Checkout.Session>(world.db, 'checkout.session', id)
  if (session.status !== 'open') {
    throw new Fault(400, {
      type: 'invalid_request_error',
      message: `This checkout is ${session.status === 'complete' ? 'paid already' : 'expired'}.`,
    })
  }
  const side = sideOf<Side>(world.db, id)
  const coupon = side.coupon ? get<Stripe.Coupon>(world.db, side.coupon) : undefined
  const withPayer = { ...session, customer_details: details(payer.email, payer.name) }
  if (session.mode === 'subscription') return subscribe(world, withPayer, side, payer, coupon)
  return payOnce(world, withPayer, side, payer)
}

function payOnce(world: World, session: Stripe.Checkout.Session, side: Side, payer: Payer) {
  const customer = session.customer
    ? String(session.customer)
    : session.customer_creation === 'always'
      ? createCustomer(world, { email: payer.email, name: payer.name }).id
      : null
  if (session.amount_total === 0)
    return { session: complete(world, { ...session, customer, payment_status: 'no_payment_required' }) }

  const before = session.payment_intent
    ? get<Stripe.PaymentIntent>(world.db, String(session.payment_intent))
    : undefined
  const intent =
    before && before.amount === session.amount_total
      ? before
      : newIntent(world, {
          amount: session.amount_total ?? 0,
          currency: session.currency ?? 'usd',
          customer,
          description: side.intentDescription,
          metadata: side.intentMetadata,
          receiptEmail: null,
        })
  const method = keepMethod(world, payer.card, customer, payer)
  const attempt = attemptPayment(world, intent.id, method, true)
  if (attempt.status === 'failed') {
    put(world.db, { ...session, customer_details: null, payment_intent: intent.id })
    return { refused: attempt.error.message }
  }
  const status = attempt.status === 'succeeded' ? ('paid' as const) : ('unpaid' as const)
  return { session: complete(world, { ...session, customer, payment_intent: intent.id, payment_status: status }) }
}

function subscribe(
  world: World,
  session: Stripe.Checkout.Session,
  side: Side,
  payer: Payer,
  coupon: Stripe.Coupon | undefined,
) {
  // A hosted checkout makes the subscription only with a payment: a refused card leaves the session open and nothing else.
  if (payer.card.first.at === 'never') return { refused: payer.card.first.message }
  const customer = session.customer
    ? String(session.customer)
    : createCustomer(world, { email: payer.email, name: payer.name }).id
  const method = keepMethod(world, payer.card, customer, payer)
  const { subscription, invoice, attempt } = startSubscription(world, {
    customer,
    lines: side.lines,
    metadata: side.subscriptionMetadata,
    method,
    coupon,
  })
  setDefaultMethod(world, customer, method)
  const status = session.amount_total === 0 ? 'no_payment_required' : attempt.status === 'succeeded' ? 'paid' : 'unpaid'
  return {
    session: complete(world, {
      ...session,
      customer,
      subscription: subscription.id,
      invoice: invoice.id,
      payment_status: status,
    }),
  }
}

function complete(world: World, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const completed: Stripe.Checkout.Session = { ...session, status: 'complete', url: null }
  put(world.db, completed, { owner: session.customer ? String(session.customer) : '' })
  const promotionId = session.discounts?.[0]?.promotion_code
  const promotion = typeof promotionId === 'string' ? get<Stripe.PromotionCode>(world.db, promotionId) : undefined
  if (promotion) put(world.db, { ...promotion, times_redeemed: promotion.times_redeemed + 1 })
  emit(world, 'checkout.session.completed', completed)
  return completed
}

/** A debit that was under way has settled: its session, and its subscription where there is one, follow. */
export function settle(world: World, intentId: string, succeeds: boolean): void {
  if (!settleIntent(world, intentId, succeeds)) return
  const invoice = invoiceOfIntent(world, intentId)
  if (invoice && succeeds) {
    markPaid(world, invoice.id)
    setStatus(world, subscriptionOf(invoice), 'active')
  }
  if (invoice && !succeeds) {
    voidInvoice(world, invoice.id)
    setStatus(world, subscriptionOf(invoice), 'incomplete_expired')
  }
  const session = all<Stripe.Checkout.Session>(world.db, 'checkout.session').find(
    (one) => one.payment_intent === intentId || (invoice !== undefined && one.invoice === invoice.id),
  )
  if (!session) return
  const after: Stripe.Checkout.Session = { ...session, payment_status: succeeds ? 'paid' : 'unpaid' }
  put(world.db, after)
  emit(world, succeeds ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed', after)
}

export function settleDue(world: World): void {
  const due = world.db
    .prepare('select payment_intent, outcome from stripe_settlements where due_ms <= ?')
    .all(Date.now())
  if (due.length === 0) return
  atomically(world.db, () => {
    for (const row of due) settle(world, String(row.payment_intent), row.outcome === 'succeeded')
  })
}

export function lineItemsOf(world: World, session: Stripe.Checkout.Session): Stripe.LineItem[] {
  const side = sideOf<Side>(world.db, session.id)
  const subtotal = session.amount_subtotal ?? 0
  let offLeft = session.total_details?.amount_discount ?? 0
  return side.lines.map(({ id, price, quantity, name }, index) => {
    const cents = (price.unit_amount ?? 0) * quantity
    const last = index === side.lines.length - 1
    const off = last
      ? offLeft
      : subtotal === 0
        ? 0
        : Math.floor(((session.total_details?.amount_discount ?? 0) * cents) / subtotal)
    offLeft -= off
    return {
      id,
      object: 'item',
      adjustable_quantity: null,
      amount_discount: off,
      amount_subtotal: cents,
      amount_tax: 0,
      amount_total: cents - off,
      currency: price.currency,
      description: name,
      metadata: {},
      price,
      quantity,
    }
  })
}

function linesOf(world: World, form: Form, mode: 'payment' | 'subscription'): Side['lines'] {
  const lines = groups(form, 'line_items').map((line, index) => {
    const price = priceOfLine(world, line, `line_items[${index}]`)
    const quantity = integer(line, 'quantity')
    if (quantity === undefined || quantity < 1)
      throw badParameter(`line_items[${index}][quantity]`, 'Missing required param: quantity.', 'parameter_missing')
    return { id: newId('li'), price, quantity, name: productName(world, price) }
  })
  if (lines.length === 0) throw badParameter('line_items', 'Missing required param: line_items.', 'parameter_missing')
  if (mode === 'payment' && lines.some(({ price }) => price.recurring)) {
    throw badParameter(
      'mode',
      'You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.',
    )
  }
  if (mode === 'subscription' && !lines.some(({ price }) => price.recurring)) {
    throw badParameter(
      'mode',
      'You must provide at least one recurring price in `subscription` mode when using prices.',
    )
  }
  return lines
}

function totals(world: World, side: Side) {
  const subtotal = side.lines.reduce((sum, { price, quantity }) => sum + (price.unit_amount ?? 0) * quantity, 0)
  const off = discountOn(subtotal, side.coupon ? get<Stripe.Coupon>(world.db, side.coupon) : undefined)
  return {
    amount_subtotal: subtotal,
    amount_total: subtotal - off,
    total_details: { amount_discount: off, amount_shipping: 0, amount_tax: 0 },
  }
}

function address(form: Form, name: string): string | null {
  const value = optionalText(form, name)
  if (value !== null && !/^https?:\/\//.test(value)) throw badParameter(name, `Invalid URL: ${value}`, 'url_invalid')
  return value
}

const details = (email: string | null, name: string | null): Stripe.Checkout.Session.CustomerDetails => ({
  address: { city: null, country: 'US', line1: null, line2: null, postal_code: null, state: null },
  business_name: null,
  email,
  individual_name: null,
  name,
  phone: null,
  tax_exempt: 'none',
  tax_ids: [],
})

const EMPTY_SESSION = {
  adaptive_pricing: null,
  after_expiration: null,
  allowed_payment_method_types: null,
  automatic_tax: { enabled: false, liability: null, provider: null, status: null },
  billing_address_collection: null,
  client_secret: null,
  collected_information: null,
  consent: null,
  consent_collection: null,
  currency_conversion: null,
  custom_fields: [],
  custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
  customer_account: null,
  integration_identifier: null,
  invoice: null,
  livemode: false,
  managed_payments: null,
  origin_context: null,
  payment_intent: null,
  payment_link: null,
  payment_method_configuration_details: null,
  payment_method_options: {},
  payment_method_types: ['card', 'us_bank_account'],
  payment_status: 'unpaid',
  permissions: null,
  phone_number_collection: { enabled: false },
  recovered_from: null,
  saved_payment_method_options: null,
  setup_intent: null,
  shipping_address_collection: null,
  shipping_cost: null,
  shipping_options: [],
  status: 'open',
  submit_type: null,
  subscription: null,
  ui_mode: 'hosted_page',
  wallet_options: null,
}

/** Hosted checkout: a session is a promise of a price; paying it makes the payment or the subscription. */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import type { Form } from '../form.ts'
import { priceOfLine, productName } from './catalogue.ts'
import { EMPTY_SESSION } from './checkout-session-object.ts'
import { termsIn } from './checkout-terms.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { discountOn, type Offer, offersIn, promotionByCode, whyUnusable } from './discounts.ts'
import { emit } from './events.ts'
import { badParameter } from './fault.ts'
import { get, must, mustParam, newId, put, sideOf } from './objects.ts'
import {
  flag,
  group,
  groups,
  integer,
  mergeMetadata,
  optionalText,
  played,
  texts,
} from './parameters.ts'
import { cancelIntent } from './payments.ts'
import { missingMethod } from './subscription-object.ts'
import { expireFirst } from './subscriptions.ts'
import { type TaxTerms, taxOn } from './tax.ts'

/** Internal fields of the session until it is paid. */
export type Side = {
  lines: { id: string; price: Stripe.Price; quantity: number; name: string }[]
  intentMetadata: Record<string, string>
  intentDescription: string | null
  subscriptionMetadata: Record<string, string>
  coupon: string | null
  /** 0: it is billed at once, or `trialEnd` says until when it is free. */
  trialDays: number
  trialEnd: number | null
  tax: TaxTerms | null
  missingMethod: 'cancel' | 'create_invoice' | 'pause'
  /** Customers whose bank must confirm the card of a trial. */
  payer?: { email: string; name: string; card: string; taxId: string; agrees: boolean }
}

const LIFETIME_S = 24 * 3_600

const PLAYED = [
  'mode',
  'line_items',
  'customer',
  'customer_email',
  'customer_creation',
  'client_reference_id',
  'metadata',
  'payment_intent_data',
  'payment_method_collection',
  'payment_method_types',
  'subscription_data',
  'allow_promotion_codes',
  'automatic_tax',
  'billing_address_collection',
  'consent_collection',
  'custom_text',
  'customer_update',
  'invoice_creation',
  'managed_payments',
  'tax_id_collection',
  'discounts',
  'success_url',
  'cancel_url',
  'expires_at',
  'locale',
] as const

const TRIAL_DAYS_MAX = 730
const TRIAL_LEAST_S = 2 * 24 * 3_600

export function createSession(
  deps: ProcessorDeps,
  form: Form,
  origin: string,
): Stripe.Checkout.Session {
  played(form, PLAYED)
  played(group(form, 'payment_intent_data'), ['metadata', 'description'], 'payment_intent_data')
  const data = group(form, 'subscription_data')
  played(
    data,
    ['metadata', 'trial_period_days', 'trial_end', 'trial_settings'],
    'subscription_data',
  )
  const mode = optionalText(form, 'mode')
  if (mode !== 'payment' && mode !== 'subscription')
    throw badParameter('mode', 'Invalid mode: the sandbox plays `payment` and `subscription`')
  const successUrl = address(form, 'success_url')
  if (!successUrl)
    throw badParameter('success_url', 'Missing required param: success_url.', 'parameter_missing')
  const customerId = optionalText(form, 'customer')
  const customer = customerId
    ? mustParam<Stripe.Customer>(deps.db, 'customer', customerId, 'customer')
    : undefined
  if (customer && (customer.deleted as unknown))
    throw badParameter('customer', `No such customer: '${customerId}'`, 'resource_missing')

  const lines = linesOf(deps, form, mode)
  const currency = lines[0]?.price.currency ?? 'usd'
  const offers = offersIn(deps, form, { currency, customer: customer?.id ?? null })
  if (offers.length > 1) throw badParameter('discounts', 'You can only pass one discount.')
  const coupon = offers[0]?.coupon
  if (coupon && form.allow_promotion_codes !== undefined) {
    throw badParameter(
      'discounts',
      'You may only specify one of these parameters: allow_promotion_codes, discounts.',
    )
  }

  const terms = termsIn(deps, form, { mode, customer: customer?.id ?? null, lines })
  const id = newId('cs_test')
  const at = seconds(deps)
  const side: Side = {
    lines,
    intentMetadata: mergeMetadata({}, group(form, 'payment_intent_data').metadata),
    intentDescription: optionalText(group(form, 'payment_intent_data'), 'description'),
    subscriptionMetadata: mergeMetadata({}, group(form, 'subscription_data').metadata),
    coupon: coupon?.id ?? null,
    trialDays: trialOf(form, mode),
    trialEnd: trialEndOf(deps, form),
    tax: terms.tax,
    missingMethod: missingMethod(
      optionalText(
        group(group(group(form, 'subscription_data'), 'trial_settings'), 'end_behavior'),
        'missing_payment_method',
      ) ?? 'create_invoice',
    ),
  }
  const session = {
    ...EMPTY_SESSION,
    id,
    allow_promotion_codes:
      form.allow_promotion_codes === undefined ? null : flag(form, 'allow_promotion_codes'),
    ...totals(deps, side),
    ...terms.shown,
    cancel_url: address(form, 'cancel_url'),
    client_reference_id: optionalText(form, 'client_reference_id'),
    created: at,
    currency,
    customer: customer?.id ?? null,
    customer_creation:
      mode === 'payment' && !customer
        ? (optionalText(form, 'customer_creation') ?? 'if_required')
        : null,
    customer_details: customer ? payerDetails(customer.email, customer.name ?? null) : null,
    customer_email: optionalText(form, 'customer_email'),
    discounts: offers.map(({ coupon, promotion }) => ({
      coupon: promotion ? null : coupon.id,
      promotion_code: promotion?.id ?? null,
    })),
    expires_at: integer(form, 'expires_at') ?? at + LIFETIME_S,
    locale: optionalText(form, 'locale'),
    metadata: mergeMetadata({}, form.metadata),
    mode,
    payment_method_collection: collectionOf(form, mode),
    payment_method_types: methodsIn(form),
    success_url: successUrl,
    url: `${origin}/sandbox/pay/${id}`,
  } as unknown as Stripe.Checkout.Session
  return put(deps.db, session, { owner: customer?.id ?? '', side })
}

export function expireSession(deps: ProcessorDeps, id: string): Stripe.Checkout.Session {
  const session = must<Stripe.Checkout.Session>(deps.db, 'checkout.session', id)
  if (session.status !== 'open') {
    throw badParameter(
      'session',
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    )
  }
  const invoice = session.invoice
    ? get<Stripe.Invoice>(deps.db, String(session.invoice))
    : undefined
  if (invoice?.status === 'open') expireFirst(deps, invoice)
  if (session.payment_intent) cancelIntent(deps, String(session.payment_intent))
  const expired = put(deps.db, {
    ...session,
    status: 'expired',
    url: null,
  } as Stripe.Checkout.Session)
  emit(deps, 'checkout.session.expired', expired)
  return expired
}

/** Looked for once a second, so the search reads only what is open, and takes no write lock when nothing is due. */
export function expireOldSessions(deps: ProcessorDeps): void {
  const due = deps.db
    .prepare(
      `select id from stripe_objects where object = 'checkout.session'
       and json_extract(body, '$.status') = 'open' and json_extract(body, '$.expires_at') <= ?`,
    )
    .all(seconds(deps))
  if (due.length === 0) return
  atomically(deps.db, () => {
    for (const { id } of due) expireSession(deps, String(id))
  })
}

export function applyPromotion(
  deps: ProcessorDeps,
  id: string,
  code: string,
): { session: Stripe.Checkout.Session; known: boolean } {
  const session = must<Stripe.Checkout.Session>(deps.db, 'checkout.session', id)
  const promotion =
    session.allow_promotion_codes && session.status === 'open'
      ? promotionByCode(deps, code)
      : undefined
  const coupon = promotion && get<Stripe.Coupon>(deps.db, String(promotion.promotion.coupon))
  const sold = { currency: session.currency, customer: session.customer as string | null }
  if (!coupon || whyUnusable(deps, { coupon, promotion }, sold)) return { session, known: false }
  const side = { ...sideOf<Side>(deps.db, id), coupon: String(promotion.promotion.coupon) }
  const changed = {
    ...session,
    ...totals(deps, side),
    discounts: [{ coupon: null, promotion_code: promotion.id }],
  }
  return { session: put(deps.db, changed as Stripe.Checkout.Session, { side }), known: true }
}

export function removePromotion(deps: ProcessorDeps, id: string): void {
  const session = must<Stripe.Checkout.Session>(deps.db, 'checkout.session', id)
  if (session.status !== 'open' || !session.allow_promotion_codes) return
  const side = { ...sideOf<Side>(deps.db, id), coupon: null }
  put(deps.db, { ...session, ...totals(deps, side), discounts: [] } as Stripe.Checkout.Session, {
    side,
  })
}

export const isTrial = ({ trialDays = 0, trialEnd = null }: Partial<Side>): boolean =>
  trialDays > 0 || trialEnd !== null

/** The discount that is on a checkout. */
export function offersOf(deps: ProcessorDeps, { discounts }: Stripe.Checkout.Session): Offer[] {
  return (discounts ?? []).map((one) => {
    const promotion = one.promotion_code
      ? get<Stripe.PromotionCode>(deps.db, String(one.promotion_code))
      : undefined
    const coupon = must<Stripe.Coupon>(
      deps.db,
      'coupon',
      String(promotion?.promotion.coupon ?? one.coupon),
    )
    return { coupon, promotion: promotion ?? null }
  })
}

export function lineItemsOf(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
): Stripe.LineItem[] {
  const side = sideOf<Side>(deps.db, session.id)
  return pricedLines(deps, side).map(({ line, cents, off, tax }) => ({
    id: line.id,
    object: 'item',
    adjustable_quantity: null,
    amount_discount: off,
    amount_subtotal: cents,
    amount_tax: tax.amount,
    amount_total: cents - off + (tax.behavior === 'exclusive' ? tax.amount : 0),
    currency: line.price.currency,
    description: line.name,
    metadata: {},
    price: line.price,
    quantity: line.quantity,
  }))
}

/** The discount is shared among the lines by what they cost; tax is on the rest. */
function pricedLines(deps: ProcessorDeps, side: Side) {
  const rows = side.lines.map((line) => ({
    line,
    cents: dueToday(side, line.price) * line.quantity,
  }))
  const subtotal = rows.reduce((sum, { cents }) => sum + cents, 0)
  const all = discountOn(
    subtotal,
    side.coupon ? get<Stripe.Coupon>(deps.db, side.coupon) : undefined,
  )
  let left = all
  return rows.map(({ line, cents }, index) => {
    const isLast = index === rows.length - 1
    const off = isLast ? left : subtotal === 0 ? 0 : Math.floor((all * cents) / subtotal)
    left -= off
    return { line, cents, off, tax: taxOn(cents - off, line.price, side.tax ?? null) }
  })
}

function linesOf(deps: ProcessorDeps, form: Form, mode: 'payment' | 'subscription'): Side['lines'] {
  const lines = groups(form, 'line_items').map((line, index) => {
    played(line, ['price', 'price_data', 'quantity'], `line_items[${index}]`)
    const price = priceOfLine(deps, line, `line_items[${index}]`)
    const quantity = integer(line, 'quantity')
    if (quantity === undefined || quantity < 1)
      throw badParameter(
        `line_items[${index}][quantity]`,
        'Missing required param: quantity.',
        'parameter_missing',
      )
    return { id: newId('li'), price, quantity, name: productName(deps, price) }
  })
  if (lines.length === 0)
    throw badParameter('line_items', 'Missing required param: line_items.', 'parameter_missing')
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

function totals(deps: ProcessorDeps, side: Side) {
  const rows = pricedLines(deps, side)
  const sum = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((all, row) => all + of(row), 0)
  const [subtotal, off] = [sum(({ cents }) => cents), sum((row) => row.off)]
  const added = sum(({ tax }) => (tax.behavior === 'exclusive' ? tax.amount : 0))
  return {
    amount_subtotal: subtotal,
    amount_total: subtotal - off + added,
    total_details: {
      amount_discount: off,
      amount_shipping: 0,
      amount_tax: sum(({ tax }) => tax.amount),
    },
  }
}

/** A customer with a tax id owes the tax instead. */
export function withTaxId(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
  value: string,
): Stripe.Checkout.Session {
  const before = sideOf<Side>(deps.db, session.id)
  if (!session.tax_id_collection?.enabled || value === '' || !before.tax) return session
  const side = { ...before, tax: { ...before.tax, isReverse: true } }
  const changed = { ...session, ...totals(deps, side) } as Stripe.Checkout.Session
  return put(deps.db, changed, { side })
}

/** A trial puts off what recurs. */
const dueToday = (side: Side, price: Stripe.Price): number =>
  isTrial(side) && price.recurring ? 0 : (price.unit_amount ?? 0)

function collectionOf(form: Form, mode: 'payment' | 'subscription'): 'always' | 'if_required' {
  const wanted = optionalText(form, 'payment_method_collection')
  if (wanted !== null && mode === 'payment')
    throw badParameter(
      'payment_method_collection',
      'You can only set `payment_method_collection` if there are recurring prices.',
    )
  if (wanted !== null && wanted !== 'always' && wanted !== 'if_required')
    throw badParameter('payment_method_collection', 'Must be one of always or if_required')
  return wanted ?? (mode === 'subscription' ? 'always' : 'if_required')
}

function methodsIn(form: Form): string[] {
  const all = EMPTY_SESSION.payment_method_types
  const wanted = texts(form.payment_method_types)
  const unknown = wanted.find((one) => !all.includes(one))
  if (unknown !== undefined)
    throw badParameter('payment_method_types', `The sandbox plays ${all}, not ${unknown}.`)
  return wanted.length === 0 ? all : wanted
}

function trialOf(form: Form, mode: 'payment' | 'subscription'): number {
  const name = 'trial_period_days'
  const days = integer(group(form, 'subscription_data'), name)
  if (days === undefined) return 0
  const param = `subscription_data[${name}]`
  if (mode === 'payment')
    throw badParameter(param, 'You can not pass `subscription_data` in `payment` mode.')
  if (days < 1 || days > TRIAL_DAYS_MAX)
    throw badParameter(param, `A trial takes 1 to ${TRIAL_DAYS_MAX} days.`)
  return days
}

/** `trial_end`: two days ahead at least, as the hosted checkout asks for it. */
function trialEndOf(deps: ProcessorDeps, form: Form): number | null {
  const data = group(form, 'subscription_data')
  const end = integer(data, 'trial_end')
  if (end === undefined) return null
  const param = 'subscription_data[trial_end]'
  if (data.trial_period_days !== undefined)
    throw badParameter(
      param,
      'You may only specify one of these parameters: trial_end, trial_period_days.',
    )
  if (end < seconds(deps) + TRIAL_LEAST_S)
    throw badParameter(param, 'The trial_end has to be at least 48 hours ahead.')
  return end
}

function address(form: Form, name: string): string | null {
  const value = optionalText(form, name)
  if (value !== null && !/^https?:\/\//.test(value))
    throw badParameter(name, `Invalid URL: ${value}`, 'url_invalid')
  return value
}

export const payerDetails = (
  email: string | null,
  name: string | null,
  taxId = '',
): Stripe.Checkout.Session.CustomerDetails => ({
  address: { city: null, country: 'US', line1: null, line2: null, postal_code: null, state: null },
  business_name: null,
  email,
  individual_name: null,
  name,
  phone: null,
  tax_exempt: taxId === '' ? 'none' : 'reverse',
  tax_ids: taxId === '' ? [] : [{ type: 'eu_vat', value: taxId }],
})

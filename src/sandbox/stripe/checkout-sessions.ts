/**
 * Hosted checkout: a session fixes the price. Paying it creates the payment or the subscription.
 */
import type { Stripe } from 'stripe'
import { atomically } from '../database.ts'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { productName, readLinePrice } from './catalogue.ts'
import { readTerms } from './checkout-terms.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import {
  computeDiscount,
  explainUnusable,
  findPromotion,
  type Offer,
  readOffers,
} from './discounts.ts'
import { emit } from './events.ts'
import { badParameter, badReference, missingParameter } from './fault.ts'
import { get, getExisting, getNamed, getSide, newId, put } from './objects.ts'
import {
  allowSupported,
  flag,
  group,
  groups,
  integer,
  mergeMetadata,
  optionalText,
  texts,
} from './parameters.ts'
import { cancelIntent } from './payments.ts'
import { expireIncomplete } from './subscriptions.ts'
import { computeTax, type TaxTerms } from './tax.ts'

/** Internal fields of the session until it is paid. */
export type Side = {
  lines: { id: string; price: Stripe.Price; quantity: number; name: string }[]
  intentMetadata: Record<string, string>
  subscriptionMetadata: Record<string, string>
  coupon: string | null
  /** 0: the first period is billed at once. */
  trialDays: number
  tax: TaxTerms | null
  /** Customers whose bank must confirm the card of a trial. */
  payer?: { email: string; name: string; card: string; taxId: string; agrees: boolean }
}

const LIFETIME_S = 24 * 3_600

const PARAMETERS = [
  'mode',
  'line_items',
  'customer',
  'customer_email',
  'client_reference_id',
  'metadata',
  'payment_intent_data',
  'payment_method_types',
  'subscription_data',
  'allow_promotion_codes',
  'automatic_tax',
  'consent_collection',
  'custom_text',
  'customer_update',
  'invoice_creation',
  'managed_payments',
  'tax_id_collection',
  'discounts',
  'success_url',
  'cancel_url',
  'locale',
] as const

const TRIAL_DAYS_MAX = 730

const EMPTY_SESSION = {
  ...blank('checkout.session'),
  custom_fields: [],
  payment_method_options: {},
  payment_method_types: ['card', 'us_bank_account'],
  payment_status: 'unpaid',
  phone_number_collection: { enabled: false },
  shipping_options: [],
  status: 'open',
  ui_mode: 'hosted_page',
}

export function createSession(
  deps: ProcessorDeps,
  form: Form,
  origin: string,
): Stripe.Checkout.Session {
  allowSupported(form, PARAMETERS)
  allowSupported(group(form, 'payment_intent_data'), ['metadata'], 'payment_intent_data')
  const data = group(form, 'subscription_data')
  allowSupported(data, ['metadata', 'trial_period_days', 'trial_settings'], 'subscription_data')
  const mode = optionalText(form, 'mode')
  if (mode !== 'payment' && mode !== 'subscription')
    throw badParameter('mode', 'Invalid mode: the sandbox plays `payment` and `subscription`')
  const successUrl = address(form, 'success_url')
  if (!successUrl) throw missingParameter('success_url')
  const customerId = optionalText(form, 'customer')
  const customer = customerId ? getNamed(deps, 'customer', customerId, 'customer') : undefined
  if (customer && (customer.deleted as unknown))
    throw badReference('customer', customer.id, 'customer')

  const lines = readLines(deps, form, mode)
  const currency = lines[0]?.price.currency ?? 'usd'
  const offers = readOffers(deps, form, { currency })
  if (offers.length > 1) throw badParameter('discounts', 'You can only pass one discount.')
  const coupon = offers[0]?.coupon
  if (coupon && form.allow_promotion_codes !== undefined) {
    throw badParameter(
      'discounts',
      'You may only specify one of these parameters: allow_promotion_codes, discounts.',
    )
  }

  const terms = readTerms(deps, form, { mode, customer: customer?.id ?? null, lines })
  const id = newId('cs_test')
  const at = seconds(deps)
  const side: Side = {
    lines,
    intentMetadata: mergeMetadata({}, group(form, 'payment_intent_data').metadata),
    subscriptionMetadata: mergeMetadata({}, data.metadata),
    coupon: coupon?.id ?? null,
    trialDays: readTrialDays(form, mode),
    tax: terms.tax,
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
    customer_creation: mode === 'payment' && !customer ? 'if_required' : null,
    customer_details: customer ? payerDetails(customer.email, customer.name ?? null) : null,
    customer_email: optionalText(form, 'customer_email'),
    discounts: offers.map(({ coupon, promotion }) => ({
      coupon: promotion ? null : coupon.id,
      promotion_code: promotion?.id ?? null,
    })),
    expires_at: at + LIFETIME_S,
    locale: optionalText(form, 'locale'),
    metadata: mergeMetadata({}, form.metadata),
    mode,
    payment_method_collection: mode === 'subscription' ? 'always' : 'if_required',
    payment_method_types: readPaymentMethodTypes(form),
    success_url: successUrl,
    url: `${origin}/sandbox/pay/${id}`,
  } as unknown as Stripe.Checkout.Session
  return put(deps, session, { owner: customer?.id ?? '', side })
}

export function expireSession(deps: ProcessorDeps, id: string): Stripe.Checkout.Session {
  const session = getExisting(deps, 'checkout.session', id)
  if (session.status !== 'open') {
    throw badParameter(
      'session',
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    )
  }
  const invoice = session.invoice ? get<Stripe.Invoice>(deps, String(session.invoice)) : undefined
  if (invoice?.status === 'open') expireIncomplete(deps, invoice)
  if (session.payment_intent) cancelIntent(deps, String(session.payment_intent))
  const expired = put(deps, { ...session, status: 'expired', url: null } as Stripe.Checkout.Session)
  emit(deps, 'checkout.session.expired', expired)
  return expired
}

/**
 * Runs once a second, so the search reads only open sessions and acquires no write lock when none
 * is due.
 */
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

/** Returns false for a code that does not apply to the checkout. */
export function applyPromotion(deps: ProcessorDeps, id: string, code: string): boolean {
  const session = getExisting(deps, 'checkout.session', id)
  const promotion =
    session.allow_promotion_codes && session.status === 'open'
      ? findPromotion(deps, code)
      : undefined
  const coupon = promotion && get<Stripe.Coupon>(deps, String(promotion.promotion.coupon))
  if (!coupon || explainUnusable({ coupon, promotion }, session)) return false
  const side = { ...getSide<Side>(deps, id), coupon: coupon.id }
  const discounts = [{ coupon: null, promotion_code: promotion.id }]
  put(deps, { ...session, ...totals(deps, side), discounts } as Stripe.Checkout.Session, { side })
  return true
}

export function removePromotion(deps: ProcessorDeps, id: string): void {
  const session = getExisting(deps, 'checkout.session', id)
  if (session.status !== 'open' || !session.allow_promotion_codes) return
  const side = { ...getSide<Side>(deps, id), coupon: null }
  put(deps, { ...session, ...totals(deps, side), discounts: [] } as Stripe.Checkout.Session, {
    side,
  })
}

export const isTrial = ({ trialDays }: Pick<Side, 'trialDays'>): boolean => trialDays > 0

/** Returns the discount of a checkout. */
export function listOffers(deps: ProcessorDeps, { discounts }: Stripe.Checkout.Session): Offer[] {
  return (discounts ?? []).map((one) => {
    const promotion = one.promotion_code
      ? get<Stripe.PromotionCode>(deps, String(one.promotion_code))
      : undefined
    const coupon = getExisting(deps, 'coupon', String(promotion?.promotion.coupon ?? one.coupon))
    return { coupon, promotion: promotion ?? null }
  })
}

export function listLineItems(
  deps: ProcessorDeps,
  session: Stripe.Checkout.Session,
): Stripe.LineItem[] {
  const side = getSide<Side>(deps, session.id)
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

/** Divides the discount among the lines in proportion to their amounts. Tax applies to the rest. */
function pricedLines(deps: ProcessorDeps, side: Side) {
  const rows = side.lines.map((line) => ({
    line,
    cents: dueToday(side, line.price) * line.quantity,
  }))
  const subtotal = rows.reduce((sum, { cents }) => sum + cents, 0)
  const all = computeDiscount(
    subtotal,
    side.coupon ? get<Stripe.Coupon>(deps, side.coupon) : undefined,
  )
  let left = all
  return rows.map(({ line, cents }, index) => {
    const isLast = index === rows.length - 1
    const off = isLast ? left : subtotal === 0 ? 0 : Math.floor((all * cents) / subtotal)
    left -= off
    return { line, cents, off, tax: computeTax(cents - off, line.price, side.tax ?? null) }
  })
}

function readLines(
  deps: ProcessorDeps,
  form: Form,
  mode: 'payment' | 'subscription',
): Side['lines'] {
  const lines = groups(form, 'line_items').map((line, index) => {
    allowSupported(line, ['price', 'price_data', 'quantity'], `line_items[${index}]`)
    const price = readLinePrice(deps, line, `line_items[${index}]`)
    const quantity = integer(line, 'quantity')
    if (quantity === undefined || quantity < 1)
      throw missingParameter(`line_items[${index}][quantity]`)
    return { id: newId('li'), price, quantity, name: productName(deps, price) }
  })
  if (lines.length === 0) throw missingParameter('line_items')
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
  const before = getSide<Side>(deps, session.id)
  if (!session.tax_id_collection?.enabled || value === '' || !before.tax) return session
  const side = { ...before, tax: { ...before.tax, isReverse: true } }
  const changed = { ...session, ...totals(deps, side) } as Stripe.Checkout.Session
  return put(deps, changed, { side })
}

/** A trial postpones recurring lines. */
const dueToday = (side: Side, price: Stripe.Price): number =>
  isTrial(side) && price.recurring ? 0 : (price.unit_amount ?? 0)

function readPaymentMethodTypes(form: Form): string[] {
  const all = EMPTY_SESSION.payment_method_types
  const requested = texts(form.payment_method_types)
  const unknown = requested.find((one) => !all.includes(one))
  if (unknown !== undefined)
    throw badParameter('payment_method_types', `The sandbox plays ${all}, not ${unknown}.`)
  return requested.length === 0 ? all : requested
}

function readTrialDays(form: Form, mode: 'payment' | 'subscription'): number {
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

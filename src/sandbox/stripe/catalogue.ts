/** What is for sale: the subscription prices the product is configured with, one-time prices of the storefront, and two promotion codes. */
import type { Stripe } from 'stripe'
import { type Catalogue, FREE, INTERVALS } from '#catalogue/catalogue.ts'
import { inMinorUnits } from '#platform/money.ts'
import { atomically } from '../database.ts'
import type { Form } from '../form.ts'
import { type ProcessorDeps, seconds } from './deps.ts'
import { badParameter } from './fault.ts'
import { findOne, get, mustParam, newId, put } from './objects.ts'
import { group, integer, mergeMetadata, optionalText, text } from './parameters.ts'

/** US cents a month: what a plan costs is the processor's to say, so the sandbox makes it up, each plan dearer than the one before. */
const playCents = (place: number) => 2_900 + 7_000 * place
const YEAR_IN_MONTHS = 10

/** Puts in place what is missing; ids are stable, so that a restart changes nothing. */
export function stockCatalogue(deps: ProcessorDeps, { plans, products }: Pick<Catalogue, 'plans' | 'products'>): void {
  atomically(deps.db, () => {
    const paid = plans.filter(({ tier }) => tier !== FREE)
    for (const [place, { tier, name, prices }] of paid.entries()) {
      for (const interval of INTERVALS) {
        const id = prices[interval]
        if (id === undefined || get(deps.db, id)) continue
        const product = keepProduct(deps, `prod_sandbox_${tier}`, `Latchkey ${name}`, { tier })
        const cents = playCents(place) * (interval === 'year' ? YEAR_IN_MONTHS : 1)
        keepPrice(deps, { id, product, cents, interval, metadata: { tier } })
      }
    }
    for (const { tier, name, price, currency } of products) {
      const id = `price_sandbox_store_${tier}`
      if (get(deps.db, id)) continue
      const product = keepProduct(deps, `prod_sandbox_store_${tier}`, `Starter kit, ${name}`, { tier })
      keepPrice(deps, {
        id,
        product,
        cents: inMinorUnits(price, currency),
        currency,
        interval: null,
        metadata: { tier },
      })
    }
    stockPromotion(deps, 'WELCOME10', '10 % off', { percent_off: 10 })
    stockPromotion(deps, 'FREE100', '100 % off', { percent_off: 100 })
    stockPromotion(deps, 'MINUS20', '$20 off', { amount_off: 2_000 })
  })
}

function keepProduct(
  deps: ProcessorDeps,
  id: string,
  name: string,
  metadata: Record<string, string>,
  details: Partial<Pick<Stripe.Product, 'description' | 'images' | 'tax_code'>> = {},
): string {
  if (get(deps.db, id)) return id
  const at = seconds(deps)
  const product: Stripe.Product = {
    id,
    object: 'product',
    active: true,
    created: at,
    default_price: null,
    description: null,
    images: [],
    livemode: false,
    marketing_features: [],
    metadata,
    name,
    package_dimensions: null,
    shippable: null,
    statement_descriptor: null,
    tax_code: null,
    tax_details: null,
    type: 'service',
    unit_label: null,
    updated: at,
    url: null,
    ...details,
  }
  return put(deps.db, product).id
}

type NewPrice = {
  id: string
  product: string
  cents: number
  currency?: string
  interval: 'day' | 'week' | 'month' | 'year' | null
  intervalCount?: number
  active?: boolean
  metadata?: Record<string, string>
}

function keepPrice(deps: ProcessorDeps, price: NewPrice): Stripe.Price {
  const { id, product, cents, interval } = price
  const kept: Stripe.Price = {
    id,
    object: 'price',
    active: price.active ?? true,
    billing_scheme: 'per_unit',
    created: seconds(deps),
    currency: price.currency ?? 'usd',
    custom_unit_amount: null,
    livemode: false,
    lookup_key: null,
    metadata: price.metadata ?? {},
    nickname: null,
    product,
    recurring: interval && {
      interval,
      interval_count: price.intervalCount ?? 1,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: interval ? 'recurring' : 'one_time',
    unit_amount: cents,
    unit_amount_decimal: decimal(cents),
  }
  return put(deps.db, kept)
}

/** On the wire decimals are strings; the SDK makes its own type of them. */
export const decimal = (cents: number): Stripe.Decimal => String(cents) as unknown as Stripe.Decimal

/** `price`, or `price_data` with a product or `product_data`: a price made on the spot, which cannot be sold again. */
export function priceOfLine(deps: ProcessorDeps, line: Form, at: string): Stripe.Price {
  const id = optionalText(line, 'price')
  if (id) {
    const price = mustParam<Stripe.Price>(deps.db, 'price', id, `${at}[price]`)
    if (!price.active)
      throw badParameter(`${at}[price]`, `The price specified is inactive. This field only accepts active prices.`)
    return price
  }
  const data = group(line, 'price_data')
  const cents = integer(data, 'unit_amount')
  if (cents === undefined || cents < 0)
    throw badParameter(`${at}[price_data][unit_amount]`, 'Invalid non-negative integer')
  const recurring = group(data, 'recurring')
  const interval = optionalText(recurring, 'interval')
  if (interval && !['day', 'week', 'month', 'year'].includes(interval))
    throw badParameter(`${at}[price_data][recurring][interval]`, `Invalid interval: ${interval}`)

  const named = optionalText(data, 'product')
  const productData = group(data, 'product_data')
  const product = named
    ? mustParam<Stripe.Product>(deps.db, 'product', named, `${at}[price_data][product]`).id
    : keepProduct(deps, newId('prod'), text(productData, 'name'), mergeMetadata({}, productData.metadata), {
        description: optionalText(productData, 'description'),
        images: [productData.images ?? []].flat().filter((address) => typeof address === 'string'),
        tax_code: optionalText(productData, 'tax_code'),
      })
  return keepPrice(deps, {
    id: newId('price'),
    product,
    cents,
    currency: text(data, 'currency').toLowerCase(),
    interval: interval as NewPrice['interval'],
    intervalCount: integer(recurring, 'interval_count') ?? 1,
    active: false,
  })
}

export function productName(deps: Pick<ProcessorDeps, 'db'>, price: Stripe.Price): string {
  return get<Stripe.Product>(deps.db, String(price.product))?.name ?? price.id
}

function stockPromotion(
  deps: ProcessorDeps,
  code: string,
  name: string,
  off: { percent_off?: number; amount_off?: number },
): void {
  if (get(deps.db, `promo_sandbox_${code}`)) return
  const coupon: Stripe.Coupon = {
    id: `coupon_sandbox_${code}`,
    object: 'coupon',
    amount_off: off.amount_off ?? null,
    created: seconds(deps),
    currency: off.amount_off ? 'usd' : null,
    duration: 'once',
    duration_in_months: null,
    livemode: false,
    max_redemptions: null,
    metadata: {},
    name,
    percent_off: off.percent_off ?? null,
    redeem_by: null,
    times_redeemed: 0,
    valid: true,
  }
  put(deps.db, coupon)
  const promotion: Stripe.PromotionCode = {
    id: `promo_sandbox_${code}`,
    object: 'promotion_code',
    active: true,
    code,
    created: seconds(deps),
    customer: null,
    customer_account: null,
    expires_at: null,
    livemode: false,
    max_redemptions: null,
    metadata: {},
    promotion: { coupon: coupon.id, type: 'coupon' },
    restrictions: { first_time_transaction: false, minimum_amount: null, minimum_amount_currency: null },
    times_redeemed: 0,
  }
  put(deps.db, promotion)
}

export function promotionByCode(deps: Pick<ProcessorDeps, 'db'>, code: string): Stripe.PromotionCode | undefined {
  return findOne<Stripe.PromotionCode>(
    deps.db,
    'promotion_code',
    (one) => one.active && one.code.toLowerCase() === code.trim().toLowerCase(),
  )
}

/** Cents taken off a sum, never more than the sum. */
export function discountOn(cents: number, coupon: Stripe.Coupon | undefined): number {
  if (!coupon) return 0
  const off = coupon.percent_off !== null ? Math.round((cents * coupon.percent_off) / 100) : (coupon.amount_off ?? 0)
  return Math.min(cents, off)
}

/**
 * The offers: the subscription prices of the product's configuration, one-time prices of the
 * storefront, and some promotion codes.
 */
import type { Stripe } from 'stripe'
import { type Catalogue, FREE, INTERVALS } from '#catalogue/catalogue.ts'
import { inMinorUnits } from '#platform/money.ts'
import { atomically } from '../database.ts'
import type { Form } from '../form.ts'
import { blank } from './blank-fields.ts'
import { type Db, type ProcessorDeps, seconds } from './deps.ts'
import { stockPromotion } from './discounts.ts'
import { badParameter } from './fault.ts'
import { get, getExisting, getNamed, newId, put } from './objects.ts'
import { allowSupported, group, integer, mergeMetadata, optionalText, text } from './parameters.ts'

/**
 * US cents per month. Only the processor knows the prices of plans, so the sandbox invents them, in
 * ascending order.
 */
const sandboxCents = (place: number) => 2_900 + 7_000 * place
const YEAR_IN_MONTHS = 10

/** Creates missing objects with stable ids, so that a restart changes nothing. */
export function stockCatalogue(
  deps: ProcessorDeps,
  { plans, products }: Pick<Catalogue, 'plans' | 'products'>,
): void {
  atomically(deps.db, () => {
    const paid = plans.filter(({ tier }) => tier !== FREE)
    for (const [place, { tier, name, prices }] of paid.entries()) {
      for (const interval of INTERVALS) {
        const id = prices[interval]
        if (id === undefined || get(deps, id)) continue
        const product = createProduct(deps, `prod_sandbox_${tier}`, `${name} plan`, { tier })
        const cents = sandboxCents(place) * (interval === 'year' ? YEAR_IN_MONTHS : 1)
        storePrice(deps, { id, product, cents, interval, metadata: { tier } })
      }
    }
    for (const { tier, name, price, currency } of products) {
      const id = `price_sandbox_store_${tier}`
      if (get(deps, id)) continue
      const product = createProduct(deps, `prod_sandbox_store_${tier}`, `Starter kit, ${name}`, {
        tier,
      })
      storePrice(deps, {
        id,
        product,
        cents: inMinorUnits(price, currency),
        currency,
        interval: null,
        metadata: { tier },
      })
    }
    stockPromotion(deps, 'WELCOME10', { name: '10 % off', percent_off: 10 })
    stockPromotion(deps, 'FREE100', { name: '100 % off', percent_off: 100 })
    stockPromotion(deps, 'MINUS20', { name: '$20 off', amount_off: 2_000, currency: 'usd' })
    stockPromotion(deps, 'HALF3', {
      name: '50 % off for three months',
      percent_off: 50,
      duration: 'repeating',
      duration_in_months: 3,
    })
  })
}

function createProduct(
  deps: ProcessorDeps,
  id: string,
  name: string,
  metadata: Record<string, string>,
  details: Partial<Pick<Stripe.Product, 'description' | 'images' | 'tax_code'>> = {},
): string {
  if (get(deps, id)) return id
  const at = seconds(deps)
  return put<Stripe.Product>(deps, {
    id,
    ...blank('product'),
    active: true,
    created: at,
    images: [],
    marketing_features: [],
    metadata,
    name,
    type: 'service',
    updated: at,
    ...details,
  }).id
}

type NewPrice = {
  id: string
  product: string
  cents: number
  currency?: string
  interval: 'day' | 'week' | 'month' | 'year' | null
  intervalCount?: number
  active?: boolean
  readTaxBehavior?: Stripe.Price['tax_behavior']
  metadata?: Record<string, string>
}

function storePrice(deps: ProcessorDeps, price: NewPrice): Stripe.Price {
  const { id, product, cents, interval } = price
  return put<Stripe.Price>(deps, {
    id,
    ...blank('price'),
    active: price.active ?? true,
    billing_scheme: 'per_unit',
    created: seconds(deps),
    currency: price.currency ?? 'usd',
    metadata: price.metadata ?? {},
    product,
    recurring: interval && {
      interval,
      interval_count: price.intervalCount ?? 1,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: price.readTaxBehavior ?? 'unspecified',
    type: interval ? 'recurring' : 'one_time',
    unit_amount: cents,
    unit_amount_decimal: decimal(cents),
  })
}

/** Decimals are strings in the API; the SDK converts them to its own type. */
export const decimal = (cents: number): Stripe.Decimal => String(cents) as unknown as Stripe.Decimal

export function createPrice(deps: ProcessorDeps, form: Form): Stripe.Price {
  allowSupported(form, [
    'currency',
    'metadata',
    'nickname',
    'product',
    'product_data',
    'recurring',
    'tax_behavior',
    'unit_amount',
  ])
  return put(deps, {
    ...readPriceData(deps, form, (name) => name, true),
    metadata: mergeMetadata({}, form.metadata),
    nickname: optionalText(form, 'nickname'),
  })
}

export function updatePrice(deps: ProcessorDeps, id: string, form: Form): Stripe.Price {
  allowSupported(form, ['tax_behavior'])
  const before = getExisting(deps, 'price', id)
  return put(deps, { ...before, tax_behavior: taxBehavior(form, 'tax_behavior') })
}

const readProductDetails = (form: Form) => ({
  description: optionalText(form, 'description'),
  images: [form.images ?? []].flat().filter((address) => typeof address === 'string'),
  tax_code: optionalText(form, 'tax_code'),
})

/**
 * Reads `price`, or `price_data` with a product or `product_data`, which creates a price for one
 * sale.
 */
export function readLinePrice(deps: ProcessorDeps, line: Form, at: string): Stripe.Price {
  const id = optionalText(line, 'price')
  if (id) {
    const price = getNamed(deps, 'price', id, `${at}[price]`)
    if (!price.active)
      throw badParameter(
        `${at}[price]`,
        `The price specified is inactive. This field only accepts active prices.`,
      )
    return price
  }
  return readPriceData(deps, group(line, 'price_data'), (name) => `${at}[price_data]${name}`, false)
}

function readPriceData(
  deps: ProcessorDeps,
  data: Form,
  at: (name: string) => string,
  active: boolean,
): Stripe.Price {
  const cents = integer(data, 'unit_amount')
  if (cents === undefined || cents < 0)
    throw badParameter(at('[unit_amount]'), 'Invalid non-negative integer')
  const recurring = group(data, 'recurring')
  allowSupported(recurring, ['interval', 'interval_count'], at('[recurring]'))
  const interval = optionalText(recurring, 'interval')
  if (interval && !['day', 'week', 'month', 'year'].includes(interval))
    throw badParameter(at('[recurring][interval]'), `Invalid interval: ${interval}`)

  const named = optionalText(data, 'product')
  const productData = group(data, 'product_data')
  const product = named
    ? getNamed(deps, 'product', named, at('[product]')).id
    : createProduct(
        deps,
        newId('prod'),
        text(productData, 'name'),
        mergeMetadata({}, productData.metadata),
        readProductDetails(productData),
      )
  return storePrice(deps, {
    id: newId('price'),
    product,
    cents,
    currency: text(data, 'currency').toLowerCase(),
    interval: interval as NewPrice['interval'],
    intervalCount: integer(recurring, 'interval_count') ?? 1,
    readTaxBehavior: taxBehavior(data, at('[tax_behavior]')),
    active,
  })
}

function taxBehavior(data: Form, param: string): Stripe.Price['tax_behavior'] {
  const word = optionalText(data, 'tax_behavior') ?? 'unspecified'
  if (!['exclusive', 'inclusive', 'unspecified'].includes(word))
    throw badParameter(
      param,
      'Invalid tax_behavior: must be one of exclusive, inclusive, or unspecified',
    )
  return word as Stripe.Price['tax_behavior']
}

export function productName(deps: Db, price: Stripe.Price): string {
  return get<Stripe.Product>(deps, String(price.product))?.name ?? price.id
}

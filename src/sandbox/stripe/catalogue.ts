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
import {
  allowSupported,
  group,
  integer,
  mergeMetadata,
  optionalText,
  text,
  texts,
} from './parameters.ts'

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
      const title = `Starter kit, ${name}`
      const product = createProduct(deps, `prod_sandbox_store_${tier}`, title, { tier })
      const cents = inMinorUnits(price, currency)
      storePrice(deps, { id, product, cents, currency, metadata: { tier } })
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

type NewPrice = Partial<Stripe.Price> & {
  id: string
  product: string
  cents: number
  interval?: 'month' | 'year'
}

function storePrice(deps: ProcessorDeps, { cents, interval, ...given }: NewPrice): Stripe.Price {
  return put<Stripe.Price>(deps, {
    ...blank('price'),
    active: true,
    billing_scheme: 'per_unit',
    created: seconds(deps),
    currency: 'usd',
    metadata: {},
    recurring: interval
      ? {
          interval,
          interval_count: 1,
          meter: null,
          trial_period_days: null,
          usage_type: 'licensed',
        }
      : null,
    tax_behavior: 'unspecified',
    type: interval ? 'recurring' : 'one_time',
    unit_amount: cents,
    unit_amount_decimal: decimal(cents),
    ...given,
  })
}

/** Decimals are strings in the API; the SDK converts them to its own type. */
export const decimal = (cents: number): Stripe.Decimal => String(cents) as unknown as Stripe.Decimal

export function createPrice(deps: ProcessorDeps, form: Form): Stripe.Price {
  allowSupported(form, [...PRICE_DATA, 'metadata', 'nickname', 'recurring'])
  const recurring = group(form, 'recurring')
  allowSupported(recurring, ['interval'], 'recurring')
  const interval = text(recurring, 'interval')
  if (interval !== 'month' && interval !== 'year')
    throw badParameter('recurring[interval]', 'The sandbox supports only `month` and `year`.')
  return storePrice(deps, {
    ...readPriceData(deps, form),
    interval,
    metadata: mergeMetadata({}, form.metadata),
    nickname: optionalText(form, 'nickname'),
  })
}

export function updatePrice(deps: ProcessorDeps, id: string, form: Form): Stripe.Price {
  allowSupported(form, ['tax_behavior'])
  const before = getExisting(deps, 'price', id)
  return put(deps, { ...before, tax_behavior: readTaxBehavior(form) })
}

/** Reads `price`, or `price_data`, which creates a price for one sale. */
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
  const data = group(line, 'price_data')
  allowSupported(data, PRICE_DATA, `${at}[price_data]`)
  return storePrice(deps, { ...readPriceData(deps, data), active: false })
}

const PRICE_DATA = ['currency', 'product', 'product_data', 'tax_behavior', 'unit_amount']

/** Reads the fields of a price. Its product exists, or `product_data` creates it. */
function readPriceData(deps: ProcessorDeps, data: Form): NewPrice {
  const cents = integer(data, 'unit_amount') ?? -1
  if (cents < 0) throw badParameter('unit_amount', 'Invalid non-negative integer')
  const known = optionalText(data, 'product')
  return {
    id: newId('price'),
    product: known
      ? getNamed(deps, 'product', known, 'product').id
      : readProduct(deps, group(data, 'product_data')),
    cents,
    currency: text(data, 'currency').toLowerCase(),
    tax_behavior: readTaxBehavior(data),
  }
}

const readProduct = (deps: ProcessorDeps, data: Form) =>
  createProduct(deps, newId('prod'), text(data, 'name'), mergeMetadata({}, data.metadata), {
    description: optionalText(data, 'description'),
    images: texts(data.images),
    tax_code: optionalText(data, 'tax_code'),
  })

function readTaxBehavior(form: Form): Stripe.Price['tax_behavior'] {
  const word = optionalText(form, 'tax_behavior') ?? 'unspecified'
  if (word !== 'exclusive' && word !== 'inclusive' && word !== 'unspecified')
    throw badParameter('tax_behavior', 'Must be one of exclusive, inclusive, or unspecified')
  return word
}

export function productName(deps: Db, price: Stripe.Price): string {
  return get<Stripe.Product>(deps, String(price.product))?.name ?? price.id
}

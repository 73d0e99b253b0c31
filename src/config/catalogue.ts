/**
 * Settings of the plans and products (CATALOGUE), their prices and budgets, and the payment
 * processor.
 */
import { readFileSync } from 'node:fs'
import { BUILT_IN, FREE_PLAN } from '../catalogue/built-in.ts'
import {
  addImpliedGrants,
  BY_INTERVAL,
  type Catalogue,
  type CataloguePlan,
  FREE,
  INTERVALS,
  type Interval,
  priceField,
  priceSetting,
  settingPart,
  type Tier,
} from '../catalogue/catalogue.ts'
import { CatalogueError } from '../catalogue/fields.ts'
import { type CatalogueFile, type FilePlan, parseCatalogue } from '../catalogue/read.ts'
import { ConfigError, type Env, type Reader } from './reader.ts'

export type ProcessorConfig = {
  secretKey: string | null
  webhookSecret: string | null
  storefrontWebhookSecret: string | null
  /** Null: the processor's own address. */
  apiBase: string | null
  sandboxed: boolean
  /**
   * `by` computes the taxes; `behavior` says whether the catalogue's product prices include tax.
   */
  tax: { by: 'off' | 'stripe' | 'managed'; behavior: 'exclusive' | 'inclusive' }
  /**
   * A coupon of the processor that is offered to customers who are about to cancel; null for none.
   */
  retentionCoupon: string | null
  /** Price id → tier and interval, of the catalogue's plans and in their order. */
  prices: ReadonlyMap<string, { tier: Tier; interval: Interval }>
}

export function readProcessor(
  read: Reader,
  sandboxOn: boolean,
  sandboxUrl: string,
): Omit<ProcessorConfig, 'prices'> {
  const secretKey = read.optional('STRIPE_SECRET_KEY') ?? read.optional('PROCESSOR_SECRET_KEY')
  const [webhookSecret = null, storefrontWebhookSecret = webhookSecret] =
    ['STRIPE_WEBHOOK_SECRET', 'PROCESSOR_WEBHOOK_SECRET']
      .map((name) => read.words(name))
      .find((secrets) => secrets.length > 0) ?? []
  const sandboxed = sandboxOn && secretKey === null

  return {
    secretKey: secretKey ?? (sandboxed ? 'sk_sandbox_latchkey' : null),
    // The sandbox's secrets are derived from the root secret (open.ts). A constant here would be
    // public.
    webhookSecret,
    storefrontWebhookSecret:
      read.optional('STRIPE_STOREFRONT_WEBHOOK_SECRET') ?? storefrontWebhookSecret,
    apiBase: sandboxed ? `${sandboxUrl}/stripe` : read.url('STRIPE_API_BASE', ['http:', 'https:']),
    sandboxed,
    tax: readTax(read),
    retentionCoupon: read.optional('RETENTION_COUPON'),
  }
}

const TAX_CHOICES = ['off', 'stripe', 'stripe-inclusive', 'managed', 'managed-inclusive'] as const

function readTax(read: Reader): ProcessorConfig['tax'] {
  const [by, suffix] = read.oneOf('TAX', TAX_CHOICES, 'off').split('-')
  return {
    by: by as ProcessorConfig['tax']['by'],
    behavior: suffix === 'inclusive' ? 'inclusive' : 'exclusive',
  }
}

/** Reads the catalogue's file, or returns the built-in catalogue. */
export function readCatalogue(read: Reader, isPlayed: boolean): Catalogue {
  const path = read.optional('CATALOGUE')
  const file = path === null ? {} : readCatalogueFile(path)
  const { plans, products }: CatalogueFile = { ...BUILT_IN, ...file }
  const all = plans.some(({ tier }) => tier === FREE) ? plans : [FREE_PLAN, ...plans]
  const complete = all.map((plan) => ({
    ...plan,
    prices: readPrices(read, plan, isPlayed),
    grants: addImpliedGrants(plan.grants),
  }))
  return {
    plansPath: file.plans ? path : null,
    productsPath: file.products ? path : null,
    plans: complete,
    products,
  }
}

function readCatalogueFile(path: string): Partial<CatalogueFile> {
  try {
    return parseCatalogue(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof CatalogueError)
      throw new ConfigError(`CATALOGUE (${path}): ${error.message}`)
    throw new ConfigError(`CATALOGUE cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Returns a plan's prices from the catalogue or from settings. The sandbox invents missing ones.
 */
function readPrices(
  read: Reader,
  { tier, prices }: FilePlan,
  isPlayed: boolean,
): CataloguePlan['prices'] {
  if (tier === FREE) return {}
  const found: Partial<Record<Interval, string>> = {}
  for (const interval of INTERVALS) {
    const setting = priceSetting(tier, interval)
    const set = read.optional(setting)
    if (set !== null && prices !== null) {
      throw new ConfigError(
        `${setting} is set, and CATALOGUE names the prices of '${tier}': one of them has to go`,
      )
    }
    const price = set ?? (isPlayed ? `price_sandbox_${tier}_${BY_INTERVAL[interval]}` : null)
    if (price !== null) found[interval] = price
  }
  return prices ?? found
}

export function indexPrices(catalogue: Catalogue): ProcessorConfig['prices'] {
  const prices = new Map<string, { tier: Tier; interval: Interval }>()
  for (const { tier, prices: ids } of catalogue.plans) {
    for (const interval of INTERVALS) {
      const id = ids[interval]
      if (id === undefined) continue
      const existing = prices.get(id)
      if (existing) {
        const [field, first] = [{ tier, interval }, existing].map((price) =>
          priceField(catalogue, price),
        )
        throw new ConfigError(`${field} repeats the price id '${id}' of ${first}`)
      }
      prices.set(id, { tier, interval })
    }
  }
  return prices
}

export function readBudgets(read: Reader, { plans }: Catalogue): ReadonlyMap<Tier, number> {
  return new Map(
    plans.flatMap(({ tier }) => {
      const tokens = read.count(`BUDGET_${settingPart(tier)}_TOKENS`)
      return tokens === null ? [] : [[tier, tokens] as const]
    }),
  )
}

/** Rejects settings of unknown plans, which would otherwise have no effect. */
export function refuseStrayPlans(env: Env, { plans }: Catalogue): void {
  const all = plans.map(({ tier }) => settingPart(tier))
  const sold = all.filter((part) => part !== settingPart(FREE))
  for (const [setting, value] of Object.entries(env)) {
    const [, ofPrice, ofBudget] =
      /^(?:PRICE_(.+)_(?:MONTHLY|YEARLY)|BUDGET_(.+)_TOKENS)$/.exec(setting) ?? []
    const known = ofPrice === undefined ? all : sold
    const part = ofPrice ?? ofBudget
    if (part === undefined || !value?.trim() || known.includes(part)) continue
    throw new ConfigError(
      `${setting} names no plan of the catalogue: expected ${known.join(' or ')} in place of ${part}`,
    )
  }
}

/**
 * The catalogue: plans with their grants, and products. Built once at the start (read.ts,
 * built-in.ts) as part of the settings. A tier is a plain string: users keep a tier that the
 * catalogue has dropped, and it grants nothing.
 */

/**
 * The features that this service's routes require in `needs`. A catalogue may name more for other
 * programs.
 */
export const ENTITLEMENTS = ['ai', 'rag', 'api_keys'] as const
export type Entitlement = (typeof ENTITLEMENTS)[number]

/** Names a plan or a product: `pro`. */
export type Tier = string
/** The tier of users without a subscription. Its plan always exists. */
export const FREE: Tier = 'free'

export const INTERVALS = ['month', 'year'] as const
export type Interval = (typeof INTERVALS)[number]
export const BY_INTERVAL = { month: 'monthly', year: 'yearly' } as const

export type CataloguePlan = {
  tier: Tier
  name: string
  /** The processor's price ids; an interval without one is not for sale. */
  prices: Readonly<Partial<Record<Interval, string>>>
  /** Entitlements of this service, and others that the file names. */
  grants: readonly string[]
  /** The maximum cost of a user's model calls in a paid month, in US dollars; null: no limit. */
  allowanceUsd: number | null
  /** The same for a whole trial. */
  trialAllowanceUsd: number | null
  limits: PlanLimits
  /** Trial days before the first payment of a new subscriber; 0: none. */
  trialDays: number
  features: readonly string[]
}

/** Limits on stored data and on one call; null: no limit of this kind. */
export type PlanLimits = {
  documentsMax: number | null
  /** Of the documents' texts together. */
  charactersMax: number | null
  chunksMax: number | null
  /** Of the files that documents were read from, as they were uploaded. */
  fileBytesMax: number | null
  /** Of one answer, what the model thinks included. */
  outputTokensMax: number | null
  /** Answers to one question (`n`). */
  choicesMax: number | null
}

/**
 * A month of a plan that a payment bought, or a trial: what a user may spend from its start until
 * the next slice starts.
 */
export type AllowanceSlice = {
  /** Instants, as JSON has them. The start names the slice, and never changes. */
  start: string
  end: string
  /**
   * Shares of the plans' allowances: `{pro: 0.5, enterprise: 0.5}` after an upgrade half way. Empty
   * where the payment was taken back.
   */
  shares: Readonly<Record<Tier, number>>
  isTrial?: true
  /** The slice was larger before, so earlier use may exceed it. */
  isReduced?: true
}

export const NO_PLAN_LIMITS: PlanLimits = {
  documentsMax: null,
  charactersMax: null,
  chunksMax: null,
  fileBytesMax: null,
  outputTokensMax: null,
  choicesMax: null,
}

export type CatalogueProduct = {
  tier: Tier
  name: string
  /** In units of the currency: 199 is $199. */
  price: number
  /** ISO 4217, in lower case. */
  currency: string
  /** Markdown. */
  description: string
  /** The plan that it includes, as `Everything in Basic`. */
  includes: string | null
  /** Addresses. */
  images: readonly string[]
  features: readonly string[]
  /** The processor's, as `txcd_10202000`. */
  taxCode: string | null
}

/** Of two plans the later one is the higher. */
export type Catalogue = {
  /** The catalogue's file; null: the built-in catalogue. */
  plansPath: string | null
  plans: readonly CataloguePlan[]
  products: readonly CatalogueProduct[]
}

export function findGrants({ plans }: Catalogue, tier: Tier): readonly string[] {
  return plans.find((plan) => plan.tier === tier)?.grants ?? []
}

/** Returns the limits of a plan; a dropped plan grants nothing, so it needs none. */
export function findLimits({ plans }: Pick<Catalogue, 'plans'>, tier: Tier): PlanLimits {
  return plans.find((plan) => plan.tier === tier)?.limits ?? NO_PLAN_LIMITS
}

/**
 * Returns the names of the plans that grant it, such as `Pro or Enterprise`; null when none does.
 */
export function findPlanNames(
  { plans }: Catalogue,
  entitlement: Entitlement,
  word: 'and' | 'or',
): string | null {
  const names = plans.filter(({ grants }) => grants.includes(entitlement)).map(({ name }) => name)
  // British, or a list of three would have a comma before its `or`.
  const list = new Intl.ListFormat('en-GB', { type: word === 'or' ? 'disjunction' : 'conjunction' })
  return names.length === 0 ? null : list.format(names)
}

export function findProduct({ products }: Catalogue, tier: Tier): CatalogueProduct | undefined {
  return products.find((product) => product.tier === tier)
}

/** Returns the product's name, or its tier when it is no longer sold. */
export function productName(catalogue: Catalogue, tier: Tier): string {
  return findProduct(catalogue, tier)?.name ?? tier
}

/** `PRO_PLUS` of `pro-plus`: how settings name a plan. */
export const settingPart = (tier: Tier): string => tier.toUpperCase().replaceAll('-', '_')

/** Where a plan's price is set that the catalogue does not name: `PRICE_PRO_MONTHLY`. */
export const priceSetting = (tier: Tier, interval: Interval): string =>
  `PRICE_${settingPart(tier)}_${BY_INTERVAL[interval].toUpperCase()}`

/** Where an operator looks for a price that is wrong. */
export const priceField = (
  { plansPath }: Catalogue,
  { tier, interval }: { tier: Tier; interval: Interval },
): string =>
  plansPath === null ? priceSetting(tier, interval) : `CATALOGUE: prices.${interval} of '${tier}'`

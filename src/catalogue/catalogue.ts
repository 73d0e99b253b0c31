/**
 * The catalogue: plans with their grants, and products. Built once at the start (read.ts,
 * built-in.ts) as part of the settings. A tier is a plain string: users keep a tier that the
 * catalogue has dropped, and it grants nothing.
 */

/**
 * The features that this service's routes require in `needs`. A catalogue may name more for other
 * programs.
 */
export const ENTITLEMENTS = ['ai', 'rag', 'api_keys', 'home', 'library'] as const
export type Entitlement = (typeof ENTITLEMENTS)[number]

/**
 * Entitlements that another one includes: `home` is the app's conversations without the API of
 * `ai`, and `library` the app's documents without the API of `rag`.
 */
const IMPLIED: ReadonlyMap<string, Entitlement> = new Map([
  ['ai', 'home'],
  ['rag', 'library'],
])

/** Adds the implied entitlements to those that a plan names. */
export function addImpliedGrants(grants: readonly string[]): readonly string[] {
  return [...new Set([...grants, ...grants.flatMap((grant) => IMPLIED.get(grant) ?? [])])]
}

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
  /** Entitlements of this service with the implied ones, and others that the file names. */
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
  /** Maximum characters of all documents' texts together. */
  charactersMax: number | null
  chunksMax: number | null
  /** Maximum bytes of all uploaded files together. */
  fileBytesMax: number | null
  /** Maximum output tokens of one answer, including the model's reasoning. */
  outputTokensMax: number | null
  /** Maximum answers to one request (`n`). */
  choicesMax: number | null
}

/**
 * A month of a plan that a payment bought, or a trial: what a user may spend from its start until
 * the next slice starts.
 */
export type AllowanceSlice = {
  /** ISO 8601 times. The start identifies the slice and never changes. */
  start: string
  end: string
  /**
   * Shares of the plans' allowances: `{pro: 0.5, enterprise: 0.5}` after an upgrade in the middle
   * of the month. Empty when the payment was refunded.
   */
  shares: Readonly<Record<Tier, number>>
  isTrial?: true
  /** The slice was larger before, so earlier use may exceed it. */
  isReduced?: true
  /** A later purchase replaced the slice, so calls cannot use it any more. */
  isReplaced?: true
}

/** Returns whether calls may use the slice. Other slices only count earlier use. */
export const isUsableSlice = ({ shares, isReplaced }: AllowanceSlice): boolean =>
  isReplaced !== true && Object.keys(shares).length > 0

export const NO_PLAN_LIMITS: PlanLimits = {
  documentsMax: null,
  charactersMax: null,
  chunksMax: null,
  fileBytesMax: null,
  outputTokensMax: null,
  choicesMax: null,
}

/** `difference`: the price less what was paid for the other tier; a number: units of the currency. */
export type UpgradePrice = 'difference' | number

/** Who gets a free product: who confirms an address by email, or who has a verified account. */
export const FREE_KINDS = ['email', 'account'] as const
export type FreeKind = (typeof FREE_KINDS)[number]

export type CatalogueProduct = {
  tier: Tier
  name: string
  /** Part of the product's URLs: small letters, digits and `-`. */
  slug: string
  /** In whole units of the currency: 199 is $199. */
  price: number
  /** ISO 4217, in lower case. */
  currency: string
  /** Not null: the product is given away without the payment processor, once to each mailbox. */
  free: FreeKind | null
  /** The slugs of the products that a bundle's buyer gets; empty: the product is no bundle. */
  bundle: readonly string[]
  /** Markdown. */
  description: string
  /** The included plan, such as `Everything in Basic`. */
  includes: string | null
  /** URLs of images on the product's card and on the payment page. */
  images: readonly string[]
  features: readonly string[]
  /** Larger pictures on the product's page. */
  gallery: readonly { url: string; alt: string }[]
  /** Answers are Markdown. */
  faq: readonly { question: string; answer: string }[]
  /** Rows of the table that compares the products: `true` is a tick, a text is shown. */
  comparison: Readonly<Record<string, string | boolean>>
  /** The license's terms as Markdown; empty: none are shown. */
  terms: string
  /** Markdown about changes before the first release, below the notes of the releases. */
  changelog: string
  /** The payment processor's tax code, such as `txcd_10202000`. */
  taxCode: string | null
  /** Months of updates after a purchase; null: they never end. */
  updatesMonths: number | null
  /** The price of another period of updates, in units of the currency; null: not for sale. */
  renewalPrice: number | null
  /** The tiers that can be upgraded to this one, each for the difference or for a fixed amount. */
  upgradeFrom: Readonly<Record<Tier, UpgradePrice>>
  /** Machines that one license may be active on at once; null: no limit. */
  activationsMax: number | null
  /** Machines that a license may release in a UTC month. */
  activationReleasesPerMonth: number
}

/** Plans are in ascending order: a later plan is the higher one. */
export type Catalogue = {
  /** The file with the plans; null: the built-in plans. */
  plansPath: string | null
  /** The file with the products, which superusers cannot edit; null: no file has products. */
  productsPath: string | null
  plans: readonly CataloguePlan[]
  /** Of the file, or the built-in ones. Readers use the storefront's `ProductList` instead. */
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
  // `en-GB` has no comma before the `or` of a list of three.
  const list = new Intl.ListFormat('en-GB', { type: word === 'or' ? 'disjunction' : 'conjunction' })
  return names.length === 0 ? null : list.format(names)
}

export const PRODUCT_DEFAULTS = {
  free: null,
  bundle: [],
  gallery: [],
  faq: [],
  comparison: {},
  terms: '',
  changelog: '',
  updatesMonths: 12,
  renewalPrice: null,
  upgradeFrom: {},
  activationsMax: 3,
  activationReleasesPerMonth: 3,
} as const

/** Returns the name of a plan in settings: `PRO_PLUS` for `pro-plus`. */
export const settingPart = (tier: Tier): string => tier.toUpperCase().replaceAll('-', '_')

/**
 * Returns the setting of a price that the catalogue does not contain, such as `PRICE_PRO_MONTHLY`.
 */
export const priceSetting = (tier: Tier, interval: Interval): string =>
  `PRICE_${settingPart(tier)}_${BY_INTERVAL[interval].toUpperCase()}`

/** Returns the setting or field that contains a price, for error messages. */
export const priceField = (
  { plansPath }: Catalogue,
  { tier, interval }: { tier: Tier; interval: Interval },
): string =>
  plansPath === null ? priceSetting(tier, interval) : `CATALOGUE: prices.${interval} of '${tier}'`

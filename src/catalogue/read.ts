/**
 * Reads a catalogue's JSON; docs/catalogue.md describes its form. An error stops the start and
 * names the field. Unknown fields are errors, too: a misspelled field would otherwise silently
 * change nothing.
 */
import { decimalsMax, isCurrency } from '#platform/money.ts'
import {
  type CataloguePlan,
  type CatalogueProduct,
  ENTITLEMENTS,
  FREE,
  INTERVALS,
  type PlanLimits,
  PRODUCT_DEFAULTS,
  settingPart,
  type UpgradePrice,
} from './catalogue.ts'

/** `prices`: null when they come from settings. */
export type FilePlan = Omit<CataloguePlan, 'prices'> & { prices: CataloguePlan['prices'] | null }

/** Omitted fields have their built-in values. */
export type CatalogueFile = { plans: readonly FilePlan[]; products: readonly CatalogueProduct[] }

/** The message begins with the field: `plans[0].prices.month is …`. */
export class CatalogueError extends Error {}

const PLAN_FIELDS =
  'tier name prices grants allowance_usd trial_days trial_allowance_usd limits features'.split(' ')
const PRODUCT_FIELDS = (
  'tier name slug price currency description includes images features tax_code ' +
  'updates_months renewal_price upgrade_from activations_max activation_releases_per_month'
).split(' ')

/** @throws CatalogueError */
export function parseCatalogue(text: string): Partial<CatalogueFile> {
  const {
    plans,
    products,
    entitlements = [],
  } = readFields(parsed(text), '', ['plans', 'products', 'entitlements'])
  const words = [...ENTITLEMENTS, ...readList(entitlements, 'entitlements', readEntitlement)]
  return {
    ...(plans === undefined
      ? {}
      : {
          plans: unlike(
            readList(plans, 'plans', (plan, at) => readPlan(plan, at, words)),
            'plans',
          ),
        }),
    ...(products === undefined
      ? {}
      : {
          products: withOwnSlugs(unlike(readList(products, 'products', readProduct), 'products')),
        }),
  }
}

function readPlan(value: unknown, at: string, words: readonly string[]): FilePlan {
  const fields = readFields(value, at, PLAN_FIELDS)
  const tier = readTier(fields.tier, `${at}.tier`)
  const isPriced = fields.prices !== undefined && fields.prices !== null
  const prices = isPriced ? readPrices(fields.prices, `${at}.prices`) : null
  if (tier === FREE && prices !== null && Object.keys(prices).length > 0) {
    throw new CatalogueError(
      `${at}.prices is wrong: '${FREE}' is the plan of who has no subscription, and costs nothing`,
    )
  }
  const allowanceUsd = readAllowance(fields.allowance_usd ?? null, `${at}.allowance_usd`)
  const tenth = allowanceUsd === null ? null : allowanceUsd / TRIALS_IN_AN_ALLOWANCE
  return {
    tier,
    name: readText(fields.name, `${at}.name`),
    prices,
    grants: readList(fields.grants, `${at}.grants`, (grant, place) =>
      readGrant(grant, place, words),
    ),
    allowanceUsd,
    trialAllowanceUsd: readAllowance(
      fields.trial_allowance_usd ?? tenth,
      `${at}.trial_allowance_usd`,
    ),
    limits: readLimits(fields.limits ?? {}, `${at}.limits`),
    trialDays: readTrialDays(fields.trial_days ?? 0, tier, `${at}.trial_days`),
    features: readList(fields.features ?? [], `${at}.features`, readText),
  }
}

function readAllowance(value: unknown, at: string): number | null {
  const isAmount = typeof value === 'number' && value >= 0 && value <= ALLOWANCE_USD_MAX
  return value === null || isAmount
    ? value
    : wrong(value, at, `US dollars, from 0 to ${ALLOWANCE_USD_MAX}`)
}

function readTrialDays(value: unknown, tier: string, at: string): number {
  const isDays =
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TRIAL_DAYS_MAX
  if (!isDays) return wrong(value, at, `whole days, from 0 to ${TRIAL_DAYS_MAX}`)
  if (tier !== FREE || value === 0) return value
  throw new CatalogueError(`${at} is wrong: '${FREE}' costs nothing, so there is nothing to try`)
}

/** Without `trial_allowance_usd` a trial has a tenth of the plan's allowance. */
const TRIALS_IN_AN_ALLOWANCE = 10

/** The payment processor's limit. */
const TRIAL_DAYS_MAX = 730

/** Budgets are counted in billionths of a dollar, which stay exact up to this amount. */
const ALLOWANCE_USD_MAX = 1_000_000

const LIMIT_FIELDS: Readonly<Record<string, keyof PlanLimits>> = {
  documents_max: 'documentsMax',
  characters_max: 'charactersMax',
  chunks_max: 'chunksMax',
  file_bytes_max: 'fileBytesMax',
  output_tokens_max: 'outputTokensMax',
  choices_max: 'choicesMax',
}

function readLimits(value: unknown, at: string): PlanLimits {
  const fields = readFields(value, at, Object.keys(LIMIT_FIELDS))
  const named = Object.entries(LIMIT_FIELDS).map(([field, name]) => [
    name,
    readLimit(fields[field] ?? null, `${at}.${field}`),
  ])
  return Object.fromEntries(named) as PlanLimits
}

function readLimit(value: unknown, at: string): number | null {
  const isCount = Number.isSafeInteger(value) && (value as number) > 0
  return value === null || isCount
    ? (value as number | null)
    : wrong(value, at, 'a whole number above 0')
}

function readPrices(value: unknown, at: string): CataloguePlan['prices'] {
  const fields = readFields(value, at, INTERVALS)
  const named = INTERVALS.filter(
    (interval) => fields[interval] !== undefined && fields[interval] !== null,
  )
  return Object.fromEntries(
    named.map((interval) => [interval, readText(fields[interval], `${at}.${interval}`)]),
  )
}

function readGrant(value: unknown, at: string, words: readonly string[]): string {
  return words.find((word) => word === value) ?? wrong(value, at, `one of ${words.join(', ')}`)
}

function readEntitlement(value: unknown, at: string): string {
  const isWord = typeof value === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(value)
  return isWord ? value : wrong(value, at, 'small letters, digits and _')
}

function readProduct(value: unknown, at: string): CatalogueProduct {
  const fields = readFields(value, at, PRODUCT_FIELDS)
  const { includes = null, tax_code = null, renewal_price = null } = fields
  const currency = readCurrency(fields.currency, `${at}.currency`)
  const tier = readTier(fields.tier, `${at}.tier`)
  return {
    tier,
    name: readText(fields.name, `${at}.name`),
    slug: readSlug(fields.slug ?? tier.toLowerCase().replaceAll('_', '-'), `${at}.slug`),
    price: readPrice(fields.price, `${at}.price`, currency),
    currency,
    description: readString(fields.description ?? '', `${at}.description`),
    includes: includes === null ? null : readText(includes, `${at}.includes`),
    images: readList(fields.images ?? [], `${at}.images`, readImage),
    features: readList(fields.features ?? [], `${at}.features`, readText),
    taxCode: tax_code === null ? null : readText(tax_code, `${at}.tax_code`),
    ...readLicenseTerms(fields, at),
    renewalPrice:
      renewal_price === null ? null : readPrice(renewal_price, `${at}.renewal_price`, currency),
    upgradeFrom: readUpgrades(fields.upgrade_from ?? {}, `${at}.upgrade_from`, { tier, currency }),
  }
}

/** A missing field has its default; null means no limit. */
function readLicenseTerms(fields: Record<string, unknown>, at: string) {
  const read = <T>(field: string, missing: T): unknown | T =>
    fields[field] === undefined ? missing : fields[field]
  const releases = read(
    'activation_releases_per_month',
    PRODUCT_DEFAULTS.activationReleasesPerMonth,
  )
  const isCount = Number.isSafeInteger(releases) && (releases as number) >= 0
  return {
    updatesMonths: readUpdatesMonths(
      read('updates_months', PRODUCT_DEFAULTS.updatesMonths),
      `${at}.updates_months`,
    ),
    activationsMax: readLimit(
      read('activations_max', PRODUCT_DEFAULTS.activationsMax),
      `${at}.activations_max`,
    ),
    activationReleasesPerMonth: isCount
      ? (releases as number)
      : wrong(releases, `${at}.activation_releases_per_month`, 'a whole number of 0 or more'),
  }
}

/** Names of products that are no longer sold are allowed: their buyers upgrade, too. */
function readUpgrades(
  value: unknown,
  at: string,
  { tier, currency }: Pick<CatalogueProduct, 'tier' | 'currency'>,
): CatalogueProduct['upgradeFrom'] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) return wrong(value, at, 'an object')
  const prices = Object.entries(value).map(([from, price]): [string, UpgradePrice] => {
    if (readTier(from, at) === tier)
      throw new CatalogueError(`${at} is wrong: '${tier}' cannot be upgraded to itself`)
    return [from, price === 'difference' ? price : readPrice(price, `${at}.${from}`, currency)]
  })
  return Object.fromEntries(prices)
}

const UPDATES_MONTHS_MAX = 1200

function readUpdatesMonths(value: unknown, at: string): number | null {
  const months = readLimit(value, at)
  return months === null || months <= UPDATES_MONTHS_MAX
    ? months
    : wrong(value, at, `months, from 1 to ${UPDATES_MONTHS_MAX}`)
}

/** Reads a slug, which is part of URLs and of signed texts. */
function readSlug(value: unknown, at: string): string {
  const isSlug = typeof value === 'string' && /^[a-z0-9][a-z0-9-]{0,63}$/.test(value)
  return isSlug ? value : wrong(value, at, 'small letters, digits and -')
}

/** Reads a tier, which is part of URLs, folder names and settings. */
function readTier(value: unknown, at: string): string {
  const isTier = typeof value === 'string' && /^[a-z0-9][a-z0-9_-]{0,63}$/i.test(value)
  return isTier ? value : wrong(value, at, 'letters, digits, - and _')
}

function readCurrency(value: unknown, at: string): string {
  const isKnown = typeof value === 'string' && /^[a-z]{3}$/i.test(value) && isCurrency(value)
  return isKnown ? value.toLowerCase() : wrong(value, at, 'a currency, as usd or eur')
}

function readPrice(value: unknown, at: string, currency: string): number {
  const isAmount = typeof value === 'number' && Number.isFinite(value) && value >= 0
  if (!isAmount) return wrong(value, at, 'an amount of 0 or more')
  const digits = decimalsMax(currency)
  if (Number(value.toFixed(digits)) === value) return value
  return wrong(value, at, `an amount with at most ${digits} decimals, as ${currency} has them`)
}

function readImage(value: unknown, at: string): string {
  const isAddress = typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '')
  return isAddress ? value : wrong(value, at, 'an address starting with https:// or http://')
}

function readText(value: unknown, at: string): string {
  return typeof value === 'string' && value.trim() !== ''
    ? value.trim()
    : wrong(value, at, 'a text')
}

function readString(value: unknown, at: string): string {
  return typeof value === 'string' ? value : wrong(value, at, 'a text')
}

function readList<T>(value: unknown, at: string, read: (item: unknown, at: string) => T): T[] {
  return Array.isArray(value)
    ? value.map((item, index) => read(item, `${at}[${index}]`))
    : wrong(value, at, 'a list')
}

function readFields(value: unknown, at: string, known: readonly string[]): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) return wrong(value, at || 'it', 'an object')
  const unknown = Object.keys(value).find((name) => !known.includes(name))
  if (unknown === undefined) return value as Record<string, unknown>
  throw new CatalogueError(
    `${at && `${at}.`}${unknown} is no field of the form: expected ${known.join(', ')}`,
  )
}

function unlike<T extends { tier: string }>(items: T[], at: string): T[] {
  items.forEach(({ tier }, index) => {
    if (items.findIndex((other) => settingPart(other.tier) === settingPart(tier)) === index) return
    throw new CatalogueError(`${at}[${index}].tier is wrong: there is another '${tier}'`)
  })
  return items
}

function withOwnSlugs(products: CatalogueProduct[]): CatalogueProduct[] {
  products.forEach(({ slug }, index) => {
    if (products.findIndex((other) => other.slug === slug) === index) return
    throw new CatalogueError(`products[${index}].slug is wrong: there is another '${slug}'`)
  })
  return products
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new CatalogueError(`it is not JSON: ${(error as Error).message}`)
  }
}

function wrong(value: unknown, at: string, expected: string): never {
  const got =
    value === undefined ? 'is missing' : `is wrong: got ${JSON.stringify(value).slice(0, 80)}`
  throw new CatalogueError(`${at} ${got}, expected ${expected}`)
}

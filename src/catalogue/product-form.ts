/** The form of a product, in a catalogue's file and in the rows that superusers edit. */
import { decimalsMax, isCurrency } from '#platform/money.ts'
import {
  type CatalogueProduct,
  FREE_KINDS,
  PRODUCT_DEFAULTS,
  type UpgradePrice,
} from './catalogue.ts'
import {
  CatalogueError,
  readFields,
  readLimit,
  readList,
  readObject,
  readString,
  readText,
  readTier,
  wrong,
} from './fields.ts'

const PRODUCT_FIELDS = (
  'tier name slug price currency free bundle description includes images features tax_code ' +
  'gallery faq comparison terms changelog ' +
  'updates_months renewal_price upgrade_from activations_max activation_releases_per_month'
).split(' ')

/** @throws CatalogueError */
export function readProduct(value: unknown, at: string): CatalogueProduct {
  const fields = readFields(value, at, PRODUCT_FIELDS)
  const { includes = null, tax_code = null, renewal_price = null } = fields
  const currency = readCurrency(fields.currency, `${at}.currency`)
  const tier = readTier(fields.tier, `${at}.tier`)
  const bundle = readBundle(fields.bundle ?? [], `${at}.bundle`)
  // The updates of a bundle are those of its products.
  const terms = bundle.length === 0 ? fields : { updates_months: null, ...fields }
  return requireTerms(at, {
    tier,
    name: readText(fields.name, `${at}.name`),
    slug: readSlug(fields.slug ?? tier.toLowerCase().replaceAll('_', '-'), `${at}.slug`),
    price: readPrice(fields.price, `${at}.price`, currency),
    currency,
    free: readFree(fields.free ?? null, `${at}.free`),
    bundle,
    description: readString(fields.description ?? '', `${at}.description`),
    includes: includes === null ? null : readText(includes, `${at}.includes`),
    images: readList(fields.images ?? [], `${at}.images`, readImage),
    features: readList(fields.features ?? [], `${at}.features`, readText),
    ...readPage(fields, at),
    taxCode: tax_code === null ? null : readText(tax_code, `${at}.tax_code`),
    ...readLicenseTerms(terms, at),
    renewalPrice:
      renewal_price === null ? null : readPrice(renewal_price, `${at}.renewal_price`, currency),
    upgradeFrom: readUpgrades(fields.upgrade_from ?? {}, `${at}.upgrade_from`, { tier, currency }),
  })
}

function readFree(value: unknown, at: string): CatalogueProduct['free'] {
  if (value === null) return null
  return FREE_KINDS.find((kind) => kind === value) ?? wrong(value, at, FREE_KINDS.join(' or '))
}

function readBundle(value: unknown, at: string): CatalogueProduct['bundle'] {
  const slugs = readList(value, at, readSlug)
  const twice = slugs.find((slug, index) => slugs.indexOf(slug) !== index)
  if (twice !== undefined) throw new CatalogueError(`${at} is wrong: it has '${twice}' twice`)
  const isSize = slugs.length === 0 || (slugs.length >= 2 && slugs.length <= BUNDLE_MAX)
  return isSize ? slugs : wrong(value, at, `the slugs of 2 to ${BUNDLE_MAX} products`)
}

/** Nothing of a free product is sold; a bundle has no license that could be renewed or upgraded. */
function requireTerms(at: string, product: CatalogueProduct): CatalogueProduct {
  const { free, bundle, price, renewalPrice, updatesMonths, upgradeFrom } = product
  const isReplaced = renewalPrice !== null || Object.keys(upgradeFrom).length > 0
  if (free !== null && (price !== 0 || isReplaced)) {
    throw new CatalogueError(
      `${at}.free is wrong: a free product has price 0, no renewal_price and no upgrade_from`,
    )
  }
  if (bundle.length > 0 && (free !== null || isReplaced || updatesMonths !== null)) {
    throw new CatalogueError(
      `${at}.bundle is wrong: a bundle has no free, renewal_price, updates_months or upgrade_from`,
    )
  }
  return product
}

/** Reads the fields that only the product's page shows. */
function readPage(fields: Record<string, unknown>, at: string) {
  const { gallery = [], faq = [], comparison = {}, terms = '', changelog = '' } = fields
  return {
    gallery: readList(gallery, `${at}.gallery`, (item, place) => {
      const { url, alt } = readFields(item, place, ['url', 'alt'])
      return { url: readImage(url, `${place}.url`), alt: readText(alt, `${place}.alt`) }
    }),
    faq: readList(faq, `${at}.faq`, (item, place) => {
      const { question, answer } = readFields(item, place, ['question', 'answer'])
      return {
        question: readText(question, `${place}.question`),
        answer: readText(answer, `${place}.answer`),
      }
    }),
    comparison: readComparison(comparison, `${at}.comparison`),
    terms: readString(terms, `${at}.terms`),
    changelog: readString(changelog, `${at}.changelog`),
  }
}

function readComparison(value: unknown, at: string): CatalogueProduct['comparison'] {
  const rows = Object.entries(readObject(value, at)).map(([row, cell]) => [
    readText(row, at),
    typeof cell === 'boolean' ? cell : readText(cell, `${at}.${row}`),
  ])
  return Object.fromEntries(rows)
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
  const prices = Object.entries(readObject(value, at)).map(
    ([from, price]): [string, UpgradePrice] => {
      if (readTier(from, at) === tier)
        throw new CatalogueError(`${at} is wrong: '${tier}' cannot be upgraded to itself`)
      return [from, price === 'difference' ? price : readPrice(price, `${at}.${from}`, currency)]
    },
  )
  return Object.fromEntries(prices)
}

const UPDATES_MONTHS_MAX = 1200
/** Each product of a bundle is an entry in the metadata of its payment, which has at most 50. */
const BUNDLE_MAX = 20

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
  const url = typeof value === 'string' ? URL.parse(value) : null
  // Its host becomes part of the pages' content security policy.
  const isAddress = /^https?:$/.test(url?.protocol ?? '') && /^[\w.:[\]-]+$/.test(url?.host ?? '')
  return isAddress
    ? String(value)
    : wrong(value, at, 'an address starting with https:// or http://')
}

/** Checks what a product says about the others that are sold. @throws CatalogueError */
export function checkReferences(
  { bundle, upgradeFrom }: CatalogueProduct,
  at: string,
  sold: readonly CatalogueProduct[],
): void {
  for (const slug of bundle) {
    const member = sold.find((product) => product.slug === slug)
    const reason =
      member === undefined
        ? 'is not sold'
        : member.free !== null
          ? 'is free'
          : member.bundle.length > 0 && 'is a bundle'
    if (reason) throw new CatalogueError(`${at}.bundle is wrong: '${slug}' ${reason}`)
  }
  const from = sold.find(
    ({ tier, bundle }) => bundle.length > 0 && Object.hasOwn(upgradeFrom, tier),
  )
  if (from) throw new CatalogueError(`${at}.upgrade_from is wrong: '${from.tier}' is a bundle`)
}

export function checkList(products: CatalogueProduct[]): CatalogueProduct[] {
  products.forEach((product, index) => {
    checkReferences(product, `products[${index}]`, products)
  })
  return checkSlugs(products)
}

function checkSlugs(products: CatalogueProduct[]): CatalogueProduct[] {
  products.forEach(({ slug }, index) => {
    if (products.findIndex((other) => other.slug === slug) === index) return
    throw new CatalogueError(`products[${index}].slug is wrong: there is another '${slug}'`)
  })
  return products
}

/** Returns a product in the form that `readProduct` reads. */
export function formatProduct(product: CatalogueProduct) {
  const { taxCode, updatesMonths, renewalPrice, upgradeFrom, ...rest } = product
  const { activationsMax, activationReleasesPerMonth, ...fields } = rest
  return {
    ...fields,
    tax_code: taxCode,
    updates_months: updatesMonths,
    renewal_price: renewalPrice,
    upgrade_from: upgradeFrom,
    activations_max: activationsMax,
    activation_releases_per_month: activationReleasesPerMonth,
  }
}

/** A product as the fields of its form: texts, as people type them. */
import type { ChangeProductRequest, StoreProduct } from '../api/types.ts'

/** Two texts of one row: a question and its answer, an address and its description. */
export type Pair = { id: string; left: string; right: string }

/** `''`: no upgrade; `difference`; or a fixed price. */
export type UpgradeField = { tier: string; price: string }

export type ProductFields = {
  name: string
  slug: string
  price: string
  currency: string
  /** `''`: for the price. */
  free: '' | NonNullable<StoreProduct['free']>
  /** The slugs of a bundle's products. */
  bundle: string[]
  includes: string
  features: string
  description: string
  updatesMonths: string
  renewalPrice: string
  upgrades: UpgradeField[]
  machines: string
  releases: string
  gallery: Pair[]
  faq: Pair[]
  comparison: Pair[]
  terms: string
  changelog: string
  images: string
  taxCode: string
}

export const NEW_PRODUCT: ProductFields = {
  name: '',
  slug: '',
  price: '',
  currency: 'usd',
  free: '',
  bundle: [],
  includes: '',
  features: '',
  description: '',
  updatesMonths: '12',
  renewalPrice: '',
  upgrades: [],
  machines: '3',
  releases: '3',
  gallery: [],
  faq: [],
  comparison: [],
  terms: '',
  changelog: '',
  images: '',
  taxCode: '',
}

export function createPair(left = '', right = ''): Pair {
  return { id: crypto.randomUUID(), left, right }
}

export function formatFields(product: StoreProduct): ProductFields {
  return {
    name: product.name,
    slug: product.slug,
    price: String(product.price),
    currency: product.currency,
    free: product.free ?? '',
    bundle: product.bundle,
    includes: product.includes ?? '',
    features: product.features.join('\n'),
    description: product.description,
    updatesMonths: formatLimit(product.updates_months),
    renewalPrice: formatLimit(product.renewal_price),
    upgrades: Object.entries(product.upgrade_from).map(([tier, price]) => ({
      tier,
      price: String(price),
    })),
    machines: formatLimit(product.activations_max),
    releases: String(product.activation_releases_per_month),
    gallery: product.gallery.map(({ url, alt }) => createPair(url, alt)),
    faq: product.faq.map(({ question, answer }) => createPair(question, answer)),
    comparison: Object.entries(product.comparison).map(([row, cell]) =>
      createPair(row, cell === true ? 'yes' : cell === false ? 'no' : String(cell)),
    ),
    terms: product.terms,
    changelog: product.changelog,
    images: product.images.join('\n'),
    taxCode: product.tax_code ?? '',
  }
}

/** Rows of which nothing is filled in are left out. */
export function readFields(fields: ProductFields): ChangeProductRequest {
  const filled = (pairs: Pair[]) =>
    pairs
      .map(({ left, right }) => [left.trim(), right.trim()] as const)
      .filter(([left, right]) => left !== '' || right !== '')
  return {
    name: fields.name.trim(),
    ...(fields.slug.trim() !== '' && { slug: fields.slug.trim() }),
    price: Number(fields.price),
    currency: fields.currency.trim().toLowerCase(),
    free: fields.free || null,
    bundle: fields.bundle,
    includes: fields.includes.trim() || null,
    features: readLines(fields.features),
    description: fields.description,
    updates_months: readLimit(fields.updatesMonths),
    renewal_price: readLimit(fields.renewalPrice),
    upgrade_from: Object.fromEntries(
      fields.upgrades
        .filter(({ price }) => price !== '')
        .map(({ tier, price }) => [tier, price === 'difference' ? price : Number(price)]),
    ),
    activations_max: readLimit(fields.machines),
    activation_releases_per_month: Number(fields.releases),
    gallery: filled(fields.gallery).map(([url, alt]) => ({ url, alt })),
    faq: filled(fields.faq).map(([question, answer]) => ({ question, answer })),
    comparison: Object.fromEntries(
      filled(fields.comparison).map(([row, cell]) => [row, readCell(cell)]),
    ),
    terms: fields.terms,
    changelog: fields.changelog,
    images: readLines(fields.images),
    tax_code: fields.taxCode.trim() || null,
    // The licenses and updates of a bundle are those of its products.
    ...(fields.bundle.length > 0 && {
      updates_months: null,
      renewal_price: null,
      upgrade_from: {},
    }),
  }
}

/** The tier of a new product, from its name: `Starter kit` becomes `starter-kit`. */
export function suggestTier(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64)
}

export function readLines(text: string): string[] {
  return text.split('\n').flatMap((line) => line.trim() || [])
}

function readCell(cell: string): string | boolean {
  return { yes: true, no: false }[cell.toLowerCase()] ?? cell
}

const formatLimit = (limit: number | null) => (limit === null ? '' : String(limit))
const readLimit = (text: string) => (text.trim() === '' ? null : Number(text))

/**
 * Superusers edit the products. When a request ends, the change is in the audit log and in effect on
 * this node; the other nodes follow at once by the bus, or within five seconds.
 */
import type { AuditAction } from '#audit/actions.ts'
import { recordAudit } from '#audit/audit.ts'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import { CatalogueError } from '#catalogue/fields.ts'
import { requireChargeable } from '#catalogue/minimum-charge.ts'
import { checkReferences, formatProduct, readProduct } from '#catalogue/product-form.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { storefrontProblem } from '../problems.ts'
import { type Listed, PRODUCTS_CHANGED } from './product-list.ts'
import type { ProductChange, ProductForm, ProductView } from './product-schemas.ts'
import {
  listRows,
  lockList,
  type ProductRow,
  readList,
  readRow,
  retire,
  storeOrder,
  upsert,
} from './product-store.ts'
import { isForSale, type ProductDeps } from './releases.ts'

export type EditingDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'bus'> & ProductDeps

/** Lists the products on sale in display order, then the retired ones. */
export async function listProducts(deps: EditingDeps): Promise<ProductView[]> {
  const { config, db, productList } = deps
  const stored = productList.isFixed ? null : await readList(db)
  if (stored?.products) return Promise.all((await listRows(db)).map((row) => viewRow(deps, row)))
  const views = config.catalogue.products.map((product) =>
    viewProduct(deps, product, { revision: 0, retired_at: null }),
  )
  return Promise.all(views)
}

/** @throws Problem 409 `products_fixed`, `product_exists`, `product_slug_taken`; 422 */
export function createProduct(deps: EditingDeps, actorId: string, form: ProductForm) {
  const product = readForm(deps, form)
  return changeList(deps, { actorId, tier: product.tier, action: 'product.made' }, (rows) => {
    if (rows.some((row) => isTaken(row, product.tier)))
      throw storefrontProblem('product_exists', { tier: product.tier })
    return { product, position: form.position }
  })
}

/** @throws Problem 404, 409 `products_fixed`, `product_changed`, `product_slug_taken`; 422 */
export function changeProduct(
  deps: EditingDeps,
  { actorId, tier }: { actorId: string; tier: Tier },
  { revision, ...form }: ProductChange,
) {
  const product = readForm(deps, { tier, ...form })
  return changeList(deps, { actorId, tier, action: 'product.changed' }, (rows) => {
    const row = requireSold(rows, tier)
    if (revision !== undefined && revision !== row.revision)
      throw storefrontProblem('product_changed')
    return { product, position: form.position ?? row.position }
  })
}

/** Ends the sale; buyers keep their licenses, downloads and updates. @throws Problem 404 and 409 */
export async function retireProduct(
  deps: EditingDeps,
  { actorId, tier }: { actorId: string; tier: Tier },
): Promise<void> {
  await changeList(deps, { actorId, tier, action: 'product.retired' }, (rows) => {
    requireSold(rows, tier)
    return null
  })
}

/** Returns true when the form changes an amount that buyers pay, who pays which, or for what. */
export function isPriceChanged({ productList }: Listed, tier: Tier, form: ProductChange): boolean {
  const product = productList.findSold(tier)
  if (!product) return true
  const { currency, free = null, bundle = [], renewal_price = null, upgrade_from = {} } = form
  const prices = (upgrades: object) => JSON.stringify(Object.entries(upgrades).sort())
  return (
    form.price !== product.price ||
    currency.toLowerCase() !== product.currency ||
    free !== product.free ||
    bundle.join() !== product.bundle.join() ||
    renewal_price !== product.renewalPrice ||
    prices(upgrade_from) !== prices(product.upgradeFrom)
  )
}

type Change = { actorId: string; tier: Tier; action: AuditAction }
/** Null: the product is retired. */
type Decision = { product: CatalogueProduct; position: number | undefined } | null

async function changeList(
  deps: EditingDeps,
  { actorId, tier, action }: Change,
  decide: (rows: ProductRow[]) => Decision,
): Promise<ProductView> {
  const { config, db, clock, bus, productList } = deps
  requireEditable(deps)
  const changed = await transaction(db, async (tx) => {
    const now = clock.now()
    const revision = await lockList(tx, config.catalogue.products, now)
    const rows = await listRows(tx)
    const change = decide(rows)
    requireReferences(rows, tier, change?.product)
    if (change === null) await retire(tx, tier, { revision, now })
    else await store(tx, rows, change, { revision, now })
    const data = change && { price: change.product.price, currency: change.product.currency }
    await recordAudit(tx, {
      actorId,
      action,
      subject: `product:${tier}`,
      data: data ?? {},
      at: now,
    })
    const row = (await listRows(tx)).find((one) => one.tier === tier)
    if (!row) throw new Error(`the product ${tier} was not stored`)
    return row
  })
  await productList.reload()
  bus.publish(PRODUCTS_CHANGED, null)
  return viewRow(deps, changed)
}

async function store(
  tx: Db,
  rows: readonly ProductRow[],
  { product, position }: NonNullable<Decision>,
  { revision, now }: { revision: number; now: string },
): Promise<void> {
  requireFreeSlug(product, rows.map(readRow))
  const order = rows
    .filter(({ tier, retired_at }) => tier !== product.tier && retired_at === null)
    .map(({ tier }) => tier)
  order.splice(position ?? order.length, 0, product.tier)
  await upsert(tx, product, { position: order.indexOf(product.tier), revision, now })
  await storeOrder(tx, order)
}

/** A bundle stays complete: its products are changed or retired after it. @throws Problem 409, 422 */
function requireReferences(
  rows: readonly ProductRow[],
  tier: Tier,
  changed: CatalogueProduct | undefined,
): void {
  const unchanged = rows.filter((row) => row.tier !== tier && row.retired_at === null).map(readRow)
  const sold = changed ? [...unchanged, changed] : unchanged
  if (changed) namingField(() => checkReferences(changed, 'body', sold))
  for (const product of unchanged) {
    try {
      checkReferences(product, '', sold)
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error
      throw storefrontProblem('product_in_use', { tier: product.tier })
    }
  }
}

function requireEditable({ productList }: Listed): void {
  if (productList.isFixed) throw storefrontProblem('products_fixed')
}

function requireSold(rows: readonly ProductRow[], tier: Tier): ProductRow {
  const row = rows.find((one) => one.tier === tier && one.retired_at === null)
  if (!row) throw storefrontProblem('product_not_found')
  return row
}

/** Retired products keep their slugs, because the programs of their buyers call them. */
function requireFreeSlug(
  { tier, slug }: Pick<CatalogueProduct, 'tier' | 'slug'>,
  all: readonly Pick<CatalogueProduct, 'tier' | 'slug'>[],
): void {
  const owner = all.find((one) => one.slug === slug && one.tier !== tier)
  if (owner) throw storefrontProblem('product_slug_taken', { tier: owner.tier })
}

/** Folders do not distinguish case everywhere. A retired product can be sold again. */
const isTaken = ({ tier, retired_at }: ProductRow, wanted: Tier) =>
  tier.toLowerCase() === wanted.toLowerCase() && (retired_at === null || tier !== wanted)

/** @throws Problem 422 with the field */
function readForm({ config }: EditingDeps, { position, ...form }: ProductForm): CatalogueProduct {
  return namingField(() => {
    const product = requireChargeable(readProduct(form, 'body'), 'body')
    const { free, taxCode } = product
    if (config.processor.tax.by === 'managed' && taxCode === null && free === null)
      throw new CatalogueError('body.tax_code is missing: TAX=managed needs it')
    return product
  })
}

/** @throws Problem 422 for an error of the catalogue, with its field */
function namingField<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error
    const [place = '', ...words] = error.message.split(' ')
    throw invalid(place.split(/[.[\]]+/).filter(Boolean), words.join(' '))
  }
}

const viewRow = (deps: ProductDeps, row: ProductRow) => viewProduct(deps, readRow(row), row)

async function viewProduct(
  deps: ProductDeps,
  product: CatalogueProduct,
  { revision, retired_at }: Pick<ProductRow, 'revision' | 'retired_at'>,
): Promise<ProductView> {
  const is_for_sale = await isForSale(deps, product.tier)
  return { ...formatProduct(product), revision, retired_at, is_for_sale } as ProductView
}

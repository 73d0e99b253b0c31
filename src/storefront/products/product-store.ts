import type { Selectable } from 'kysely'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import { formatProduct, readProduct } from '#catalogue/product-form.ts'
import type { Instant } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { listUploaded, type UploadedRelease } from './release-store.ts'
import '../tables.ts'

export type ProductRow = Selectable<Tables['store_products']>

export type StoredList = {
  revision: number
  /** Null while the built-in products are sold. */
  products: { sold: readonly CatalogueProduct[]; retired: readonly CatalogueProduct[] } | null
  releases: readonly UploadedRelease[]
}

/** Counts the changes of products and releases; null before the first one. */
export async function readRevision(db: Db): Promise<number | null> {
  const row = await db.selectFrom('store_product_list').select('revision').executeTakeFirst()
  return row?.revision ?? null
}

/** Returns null before the first change. */
export async function readList(db: Db): Promise<StoredList | null> {
  // Read before the rows: a change between the two reads is read again, not missed.
  const list = await db.selectFrom('store_product_list').selectAll().executeTakeFirst()
  if (!list) return null
  const rows = await listRows(db)
  const read = (isRetired: boolean) =>
    rows.filter(({ retired_at }) => (retired_at !== null) === isRetired).map(readRow)
  return {
    revision: list.revision,
    products: list.is_edited ? { sold: read(false), retired: read(true) } : null,
    releases: await listUploaded(db),
  }
}

export const readRow = ({ product_json }: ProductRow): CatalogueProduct =>
  readProduct(product_json, 'product')

/** Lists all rows in display order, the retired ones last. */
export async function listRows(db: Db): Promise<ProductRow[]> {
  const rows = await db
    .selectFrom('store_products')
    .selectAll()
    .orderBy('position')
    .orderBy('tier')
    .execute()
  const isRetired = ({ retired_at }: ProductRow) => retired_at !== null
  return [...rows.filter((row) => !isRetired(row)), ...rows.filter(isRetired)]
}

/**
 * Starts a change of the list and returns its revision. Simultaneous changes wait for each other.
 * The first one copies the built-in products, so that editing one of them keeps the others.
 */
export async function lockList(
  tx: Db,
  builtIn: readonly CatalogueProduct[],
  now: Instant,
): Promise<number> {
  const { revision, is_edited } = await raiseRevision(tx)
  if (is_edited) return revision
  await tx.updateTable('store_product_list').set({ is_edited: true }).execute()
  for (const [position, product] of builtIn.entries())
    await upsert(tx, product, { position, revision: 0, now })
  return revision
}

/** Locks the list until the transaction ends, and makes every node read it again. */
export async function raiseRevision(tx: Db) {
  await tx
    .insertInto('store_product_list')
    .values({ number: 1, revision: 0, is_edited: false })
    .onConflict((conflict) => conflict.column('number').doNothing())
    .execute()
  return tx
    .updateTable('store_product_list')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .returning(['revision', 'is_edited'])
    .executeTakeFirstOrThrow()
}

/** Adds a product, or replaces the one with the same tier. A retired product is sold again. */
export async function upsert(
  tx: Db,
  product: CatalogueProduct,
  { position, revision, now }: { position: number; revision: number; now: Instant },
): Promise<void> {
  const changed = {
    position,
    product_json: formatProduct(product),
    revision,
    updated_at: now,
    retired_at: null,
  }
  await tx
    .insertInto('store_products')
    .values({ tier: product.tier, created_at: now, ...changed })
    .onConflict((conflict) => conflict.column('tier').doUpdateSet(changed))
    .execute()
}

/** Stores the order of the products on sale. */
export async function storeOrder(tx: Db, tiers: readonly Tier[]): Promise<void> {
  for (const [position, tier] of tiers.entries())
    await tx.updateTable('store_products').set({ position }).where('tier', '=', tier).execute()
}

export async function retire(
  tx: Db,
  tier: Tier,
  { revision, now }: { revision: number; now: Instant },
): Promise<void> {
  await tx
    .updateTable('store_products')
    .set({ retired_at: now, revision, updated_at: now })
    .where('tier', '=', tier)
    .execute()
}

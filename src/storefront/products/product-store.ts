import type { CatalogueProduct } from '#catalogue/catalogue.ts'
import { readProduct } from '#catalogue/product-form.ts'
import type { Db } from '#platform/db/db.ts'
import '../tables.ts'

/** Products as the rows of `store_products` have them. */
export type StoredProducts = {
  revision: number
  sold: readonly CatalogueProduct[]
  retired: readonly CatalogueProduct[]
}

/** Counts the changes of the list; null before the first one. */
export async function readRevision(db: Db): Promise<number | null> {
  const row = await db.selectFrom('store_product_list').select('revision').executeTakeFirst()
  return row?.revision ?? null
}

/** Returns null while the built-in products are sold. */
export async function readProducts(db: Db): Promise<StoredProducts | null> {
  // Read before the rows: a change between the two reads is read again, not missed.
  const revision = await readRevision(db)
  if (revision === null) return null
  const rows = await db
    .selectFrom('store_products')
    .selectAll()
    .orderBy('position')
    .orderBy('tier')
    .execute()
  const read = (isRetired: boolean) =>
    rows
      .filter(({ retired_at }) => (retired_at !== null) === isRetired)
      .map(({ product_json }) => readProduct(product_json, 'product'))
  return { revision, sold: read(false), retired: read(true) }
}

/** Checks that products can be downloaded: each tier's releases, and the newest one's files. */
import type { Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import type { ProductList } from '#storefront/products/product-list.ts'
import { openProducts } from '#storefront/products/products.ts'
import { findEntitledRelease, listReleases } from '#storefront/products/releases.ts'
import { createLines, inTime, type Line } from './line.ts'

/** Listing a bucket can be slow. */
const PRODUCTS_TIMEOUT_MS = 20_000
const LATEST = '9999-12-31T00:00:00.000Z'

export async function checkProducts(
  { products }: Pick<Config, 'products'>,
  productList: Pick<ProductList, 'sold' | 'listUploaded'>,
  now: string,
): Promise<Line[]> {
  const { location } = products
  const { sandbox, wrong } = createLines('Products')
  if (location === null) return [sandbox('PRODUCTS_DIR is not set; a sample is sold')]
  const lines = await Promise.all(
    productList.sold.map(({ tier }) =>
      inTime(checkTier(products, productList, tier, now), PRODUCTS_TIMEOUT_MS).catch(
        ({ message }: Error) => createLines(`Products ${tier}`).wrong(message),
      ),
    ),
  )
  if (lines.some(({ mark }) => mark !== 'off')) return lines
  return [wrong(`${location} contains no release of any tier: nothing is for sale`)]
}

async function checkTier(
  products: Config['products'],
  productList: Pick<ProductList, 'listUploaded'>,
  tier: Tier,
  now: string,
): Promise<Line> {
  const left: string[] = []
  const store = openProducts(products, {
    leaveOut: (path, reason) => left.push(`${path} (${reason})`),
  })
  const source = { products: store, productList }
  const { ok, off } = createLines(`Products ${tier}`)
  // Includes future releases, because a listed version without a folder is always a mistake.
  const all = await listReleases(source, tier, LATEST)
  const isListed = (await store.text(`${tier}/releases.json`)) !== null
  if (all.length === 0 && isListed)
    throw new Error('releases.json lists no version that has a folder')
  if (all.length === 0) return off('no release: not for sale')

  const newest = all.find(({ publishedAt }) => publishedAt <= now)
  if (!newest) return off(`not for sale before ${all.at(-1)?.publishedAt.slice(0, 10)}`)
  const release = await findEntitledRelease(source, tier, now, null, newest.version)
  if (!release) throw new Error(`${newest.version} has no files`)
  if (left.length > 0)
    throw new Error(
      `${left.length} files are excluded from downloads: ${left.slice(0, 3).join(', ')}`,
    )
  return ok(`${newest.version}, ${release.files.length} files`)
}

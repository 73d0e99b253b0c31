/**
 * The published releases of a product, and the release that a purchase gets. With a releases.json,
 * only the listed releases are published. Without one, every version's folder is, since the time of
 * its oldest file.
 */
import type { Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import type { FileStore, StoredFile } from './file-store.ts'
import type { Listed, ProductList } from './product-list.ts'
import { buildReleaseFolder } from './uploaded-folder.ts'

export type Release = {
  version: string
  /** ISO 8601, UTC. */
  publishedAt: string
  notes: string
  /** Of its files in the store. */
  folder: string
}

export type ReleaseFiles = Release & { files: StoredFile[] }

/** Where releases are looked for: in the store's folders, and among the uploaded ones. */
export type ReleaseSource = {
  products: FileStore
  productList: Pick<ProductList, 'listUploaded'>
}

export type ReleaseDeps = Pick<Platform, 'clock' | 'log'> & ReleaseSource
export type ProductDeps = ReleaseDeps & Listed

export const VERSION = /^[0-9A-Za-z][0-9A-Za-z._+-]{0,63}$/

/**
 * Lists the releases published at `now`, newest first. An uploaded release hides a folder of the
 * same version. Throws when releases.json cannot be read.
 */
export async function listReleases(
  { products, productList }: ReleaseSource,
  tier: Tier,
  now: string,
): Promise<Release[]> {
  const uploaded = productList.listUploaded(tier)
  const known = new Set(uploaded.map(({ version }) => version))
  const releases = uploaded.flatMap(({ id, version, status, notes, published_at }): Release[] =>
    status === 'published' && published_at !== null
      ? [{ version, publishedAt: published_at, notes, folder: buildReleaseFolder({ tier, id }) }]
      : [],
  )
  const isReplaced = products.isSample && releases.length > 0
  const fromFiles = isReplaced ? [] : await listFileReleases(products, tier, now)
  return [...releases, ...fromFiles.filter(({ version }) => !known.has(version))]
    .filter(({ publishedAt }) => publishedAt <= now)
    .sort((a, b) => compare(b.publishedAt, a.publishedAt) || compareVersions(b.version, a.version))
}

/** Lists the releases that only the store's files publish, newest first. */
async function listFileReleases(store: FileStore, tier: Tier, now: string): Promise<Release[]> {
  const listed = await store.text(`${tier}/releases.json`)
  const folders = (await store.folders(tier)).filter((name) => VERSION.test(name))
  const releases =
    listed === null ? await datedByFiles(store, tier, folders, now) : parseReleases(listed, tier)

  return releases
    .filter(({ version, publishedAt }) => folders.includes(version) && publishedAt <= now)
    .sort((a, b) => compare(b.publishedAt, a.publishedAt) || compareVersions(b.version, a.version))
}

/**
 * Like `listReleases`, for pages: logs an error and returns an empty list, so that a faulty product
 * does not break the page.
 */
export async function showReleases(
  { products, productList, clock, log }: ReleaseDeps,
  tier: Tier,
): Promise<Release[]> {
  return listReleases({ products, productList }, tier, clock.now()).catch((error) => {
    log.error({ err: error, tier }, 'the releases of a product cannot be read')
    return []
  })
}

/** Returns true when a buyer of the tier could pay and download it now; a bundle, all its products. */
export async function isForSale(deps: ProductDeps, tier: Tier): Promise<boolean> {
  const { productList } = deps
  const product = productList.findSold(tier)
  if (!product || !productList.canCharge(tier)) return false
  if (product.bundle.length === 0) return (await findCurrentRelease(deps, tier)) !== null
  const members = productList.listMembers(product)
  const sold = await Promise.all(members.map((member) => isForSale(deps, member.tier)))
  return sold.every(Boolean) && members.length === product.bundle.length
}

/** Returns the newest release with its files; null when there is none or it cannot be read. */
export async function findCurrentRelease(
  { products, productList, clock, log }: ReleaseDeps,
  tier: Tier,
): Promise<ReleaseFiles | null> {
  const source = { products, productList }
  return findEntitledRelease(source, tier, clock.now(), null).catch((error) => {
    log.error({ err: error, tier }, 'the releases of a product cannot be read')
    return null
  })
}

/**
 * Returns the newest release published before the end of the entitlement, or the named one of
 * these, with its files; null when there is none.
 */
export async function findEntitledRelease(
  source: ReleaseSource,
  tier: Tier,
  now: string,
  entitledUntil: string | null,
  version?: string,
) {
  const release = (await listReleases(source, tier, now)).find(
    (one) => isCovered(one, entitledUntil) && (version === undefined || one.version === version),
  )
  return release ? withFiles(source.products, release) : null
}

/** Returns true for releases before the end of the updates; null: they never end. */
export function isCovered(
  { publishedAt }: Pick<Release, 'publishedAt'>,
  entitledUntil: string | null,
): boolean {
  return entitledUntil === null || publishedAt < entitledUntil
}

/** 1.10.0 is newer than 1.9.0, and 1.0.0 newer than 1.0.0-beta. */
export function compareVersions(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map(
    (version) => version.replace(/\+.*/, '').match(/\d+|[A-Za-z]+/g) ?? [],
  )
  for (let index = 0; ; index++) {
    const [left, right] = [partsA?.[index], partsB?.[index]]
    if (left === undefined && right === undefined) return 0
    if (left === right) continue
    if (left === undefined) return /\d/.test(right ?? '') ? -1 : 1
    if (right === undefined) return /\d/.test(left) ? 1 : -1
    return Number(left) - Number(right) || compare(left, right)
  }
}

async function withFiles(store: FileStore, release: Release): Promise<ReleaseFiles | null> {
  const files = await store.files(release.folder)
  return files.length > 0 ? { ...release, files } : null
}

async function datedByFiles(
  store: FileStore,
  tier: Tier,
  folders: string[],
  now: string,
): Promise<Release[]> {
  const dated = folders.map(async (version) => {
    const folder = `${tier}/${version}`
    const files = await store.files(folder)
    const oldest = Math.min(...files.map((file) => file.modifiedAt.getTime()), Date.parse(now))
    return { version, publishedAt: new Date(oldest).toISOString(), notes: '', folder }
  })
  return Promise.all(dated)
}

function parseReleases(text: string, tier: Tier): Release[] {
  const parsed = parse(text, tier)
  if (!Array.isArray(parsed)) throw new Error(`${tier}/releases.json is not a list`)
  return parsed.map((item, index) => {
    const { version, published_at, notes } = (item ?? {}) as Record<string, unknown>
    const published = typeof published_at === 'string' ? Date.parse(published_at) : Number.NaN
    if (typeof version !== 'string' || !VERSION.test(version) || Number.isNaN(published)) {
      throw new Error(
        `${tier}/releases.json: item ${index + 1} needs a version and a published_at (ISO 8601)`,
      )
    }
    return {
      version,
      publishedAt: new Date(published).toISOString(),
      notes: typeof notes === 'string' ? notes : '',
      folder: `${tier}/${version}`,
    }
  })
}

function parse(text: string, tier: Tier): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${tier}/releases.json is not JSON`, { cause: error })
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

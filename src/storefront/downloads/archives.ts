import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'
import type { FileStore } from '../products/file-store.ts'
import { findEntitledRelease, findRelease, type Release } from '../products/releases.ts'
import { openLicenseKey } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { type Archive, planArchive, readArchive } from './zip/archive.ts'
import { keptPack, type OpenPack, openPack, type Pack, preparePack } from './zip/pack.ts'

export type BuyerArchive = Archive & { version: string; pack: Pack; licenseKey: string }

export type ArchiveDeps = Pick<Platform, 'config' | 'clock' | 'secrets'> & { products: FileStore }

/**
 * Returns the ZIP of a purchase, with the newest release that its entitlement covers, or with the
 * named version. Null when the files are missing. The first call for a release compresses it.
 * @throws when its files cannot be read
 */
export async function buildArchive(
  deps: ArchiveDeps,
  purchase: PurchaseRow,
  version?: string,
): Promise<BuyerArchive | null> {
  const release = await releaseToServe(deps, purchase, version)
  return (
    release &&
    plan(deps, purchase, release, await preparePack(cacheDir(deps.config), release.files))
  )
}

/**
 * Like `buildArchive`, but never compresses. Also returns null when the release is not compressed
 * yet.
 */
export async function findKnownArchive(
  deps: ArchiveDeps,
  purchase: PurchaseRow,
): Promise<BuyerArchive | null> {
  const release = await releaseToServe(deps, purchase)
  const pack = release && (await keptPack(cacheDir(deps.config), release.files))
  return release && pack ? plan(deps, purchase, release, pack) : null
}

function releaseToServe(
  { clock, products }: ArchiveDeps,
  { tier, entitled_until }: PurchaseRow,
  version?: string,
) {
  return version
    ? findRelease(products, tier, clock.now(), version)
    : findEntitledRelease(products, tier, clock.now(), entitled_until)
}

/** Total entries of the plans in memory, about 500 bytes each. */
const PLANNED_MAX = 50_000
const plans = new LRUCache<string, BuyerArchive>({
  maxSize: PLANNED_MAX,
  sizeCalculation: ({ entries }) => entries.length + 1,
})

/**
 * Cached by purchase, key and release, because each range, HEAD and page needs the same plan, and
 * computing it takes one HMAC per file.
 */
function plan(
  { config, secrets }: ArchiveDeps,
  purchase: PurchaseRow,
  release: Release,
  pack: Pack,
): BuyerArchive {
  const licenseKey = openLicenseKey(secrets, purchase)
  const folder = `${config.products.name}-${purchase.tier}-${release.version}`
  const saltKey = secrets.key('zip-salt')
  const name = [
    cacheDir(config),
    pack.id,
    folder,
    release.publishedAt,
    licenseKey,
    saltKey.toString('base64'),
  ].join('\n')
  const known = plans.get(name)
  // Another index may have the same bytes, but the plan belongs to this pack.
  if (known?.pack === pack) return known
  const archive = planArchive({
    entries: pack.entries,
    folder,
    modifiedAt: new Date(release.publishedAt),
    password: licenseKey,
    saltKey,
  })
  const planned = { ...archive, version: release.version, pack, licenseKey }
  plans.set(name, planned)
  return planned
}

/** Compresses the newest release of a tier, so that its first buyer does not wait. */
export async function prepareRelease(
  { config, clock, products }: Omit<ArchiveDeps, 'secrets'>,
  tier: Tier,
): Promise<void> {
  const now = clock.now()
  const release = await findEntitledRelease(products, tier, now, null)
  if (release) await preparePack(cacheDir(config), release.files)
}

/** Opens the sources of the archive; the caller closes them. */
export function openArchive(config: Config, archive: BuyerArchive): Promise<OpenPack> {
  return openPack(cacheDir(config), archive.pack)
}

export async function computeChecksum(config: Config, archive: BuyerArchive): Promise<string> {
  const hash = createHash('sha256')
  const pack = await openArchive(config, archive)
  try {
    for await (const piece of readArchive(archive, pack)) hash.update(piece)
  } finally {
    await pack.close()
  }
  return hash.digest('hex')
}

function cacheDir(config: Config): string {
  return join(config.dataDir, 'cache', 'releases')
}

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Config } from '#config/config.ts'
import type { Platform } from '#platform/platform.ts'
import type { StoredFile } from '../products/file-store.ts'
import { findEntitledRelease, type Release, type ReleaseSource } from '../products/releases.ts'
import { openLicenseKey } from '../purchases/purchases.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { type Archive, planArchive, readArchive } from './zip/archive.ts'
import { keptPack, type OpenPack, openPack, type Pack, preparePack } from './zip/pack.ts'
import { type PlainArchive, planPlainArchive, readPlainArchive } from './zip/plain-archive.ts'

export type BuyerArchive = Archive & { version: string; pack: Pack; licenseKey: string }

export type ArchiveDeps = Pick<Platform, 'config' | 'clock' | 'secrets'> & ReleaseSource

/**
 * Returns the ZIP of a purchase, with the newest release that its entitlement covers, or with the
 * named version. Null when it covers no such release, or the files are missing. The first call for
 * a release compresses it.
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
  { clock, ...source }: Pick<ArchiveDeps, 'clock' | 'products' | 'productList'>,
  { tier, entitled_until }: PurchaseRow,
  version?: string,
) {
  return findEntitledRelease(source, tier, clock.now(), entitled_until, version)
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
  const folder = buildFolder(config, purchase, release)
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

/** The plain ZIP of a release, which is the same for every buyer. */
export type PlainRelease = PlainArchive & Pick<Release, 'version' | 'publishedAt'> & { pack: Pack }

/**
 * Returns the plain ZIP of the newest release that the purchase covers, or of the named version.
 * Null when the purchase covers no such release, or its files are missing. @throws when its files
 * cannot be read
 */
export async function buildPlainArchive(
  deps: Omit<ArchiveDeps, 'secrets'>,
  purchase: PurchaseRow,
  version?: string,
): Promise<PlainRelease | null> {
  const release = await releaseToServe(deps, purchase, version)
  return release && packRelease(deps, { ...release, tier: purchase.tier })
}

/** Compresses a release, unless it is compressed already, and plans its plain ZIP. */
export async function packRelease(
  { config }: Pick<ArchiveDeps, 'config'>,
  release: Pick<Release, 'version' | 'publishedAt'> & { tier: Tier; files: StoredFile[] },
): Promise<PlainRelease> {
  const { publishedAt } = release
  const pack = await preparePack(cacheDir(config), release.files)
  const folder = buildFolder(config, release, release)
  const archive = planPlainArchive({
    entries: pack.entries,
    folder,
    modifiedAt: new Date(publishedAt),
  })
  return { ...archive, version: release.version, publishedAt, pack }
}

/** Compresses the newest release of a tier, so that its first buyer does not wait. */
export async function prepareRelease(
  { config, clock, ...source }: Omit<ArchiveDeps, 'secrets'>,
  tier: Tier,
): Promise<void> {
  const now = clock.now()
  const release = await findEntitledRelease(source, tier, now, null)
  if (release) await prepareFiles(config, release.files)
}

/** Compresses the files of a release, unless they are compressed already; marks them as used. */
export async function prepareFiles(config: Config, files: StoredFile[]): Promise<void> {
  if (files.length > 0) await preparePack(cacheDir(config), files)
}

/** Opens the sources of an archive; the caller closes them. */
export function openArchivePack(config: Config, pack: Pack): Promise<OpenPack> {
  return openPack(cacheDir(config), pack)
}

export function computeChecksum(config: Config, archive: BuyerArchive): Promise<string> {
  return hashBytes(config, archive.pack, (pack) => readArchive(archive, pack))
}

export function computePlainChecksum(config: Config, archive: PlainRelease): Promise<string> {
  return hashBytes(config, archive.pack, (pack) => readPlainArchive(archive, pack))
}

async function hashBytes(
  config: Config,
  pack: Pack,
  read: (pack: OpenPack) => AsyncIterable<Buffer>,
): Promise<string> {
  const hash = createHash('sha256')
  const opened = await openArchivePack(config, pack)
  try {
    for await (const piece of read(opened)) hash.update(piece)
  } finally {
    await opened.close()
  }
  return hash.digest('hex')
}

/** The top folder in an archive. */
function buildFolder(
  config: Config,
  { tier }: Pick<PurchaseRow, 'tier'>,
  { version }: Pick<Release, 'version'>,
): string {
  return `${config.brand.slug}-${tier}-${version}`
}

function cacheDir(config: Config): string {
  return join(config.dataDir, 'cache', 'releases')
}

/** The update feed of sold programs: the newest release that a license covers, signed. */
import { type Static, Type } from 'typebox'
import { Instant } from '#platform/http/schema.ts'
import type { LicenseSigningKeys } from '../licences/signing-keys.ts'
import { storefrontProblem } from '../problems.ts'
import { compareVersions, isCovered, listReleases } from '../products/releases.ts'
import { buildPlainArchive, computePlainChecksum, type PlainRelease } from './archives.ts'
import type { DownloadDeps } from './downloads.ts'
import { requireProduct } from './plain-downloads.ts'
import { findChecksum, insertChecksum } from './store.ts'
import type { Credential } from './tokens.ts'

export const CHANNELS = ['stable', 'beta'] as const

export type UpdateDeps = DownloadDeps & { signingKeys: LicenseSigningKeys }

export const UpdateView = Type.Object(
  {
    version: Type.String(),
    notes: Type.String(),
    published_at: Instant,
    url: Type.String({ description: 'Needs the same bearer' }),
    size_bytes: Type.Integer(),
    sha256: Type.String({ description: 'Of the archive, in hexadecimal digits' }),
    key_id: Type.String({ description: 'The `kid` in /.well-known/license-keys.json' }),
    signature: Type.String({
      description: 'Base64url: Ed25519 over `update`, slug, version and sha256, one per line',
    }),
  },
  { title: 'Update' },
)

/** Returns null when the license covers no newer release. @throws Problem */
export async function findUpdate(
  deps: UpdateDeps,
  { purchase }: Credential,
  slug: string,
  { version, channel }: { version: string | undefined; channel: (typeof CHANNELS)[number] },
): Promise<Static<typeof UpdateView> | null> {
  const { config, clock, signingKeys } = deps
  requireProduct(deps, purchase, slug)
  const releases = (await listReleases(deps, purchase.tier, clock.now()))
    .filter((release) => isCovered(release, purchase.entitled_until))
    .filter((release) => channel === 'beta' || !isPrerelease(release.version))
    .sort((a, b) => compareVersions(b.version, a.version))
  const [newest] = releases
  if (!newest || (version !== undefined && compareVersions(newest.version, version) <= 0))
    return null

  const archive = await buildPlainArchive(deps, purchase, newest.version)
  if (!archive) throw storefrontProblem('product_files_missing')
  const sha256 = await findPlainChecksum(deps, archive)
  const signed = await signingKeys.signText(`update\n${slug}\n${newest.version}\n${sha256}`)
  return {
    version: newest.version,
    notes: newest.notes,
    published_at: newest.publishedAt,
    url: `${config.urls.storefront}/download/${slug}/${newest.version}.zip`,
    size_bytes: archive.sizeBytes,
    sha256,
    key_id: signed.keyId,
    signature: signed.signature,
  }
}

/** `1.0.0-beta.1` and `2.0-rc1`, but not the date `2026-11-26`. */
function isPrerelease(version: string): boolean {
  return /-[A-Za-z]/.test(version.replace(/\+.*/, ''))
}

/** Checksums that are being computed, by ETag: simultaneous requests share the work. */
const computing = new Map<string, Promise<string>>()

async function findPlainChecksum(deps: DownloadDeps, archive: PlainRelease): Promise<string> {
  const known = await findChecksum(deps.db, archive.etag)
  if (known) return known.sha256
  const running =
    computing.get(archive.etag) ??
    computeAndKeep(deps, archive).finally(() => computing.delete(archive.etag))
  computing.set(archive.etag, running)
  return running
}

async function computeAndKeep({ config, db }: DownloadDeps, archive: PlainRelease) {
  const sha256 = await computePlainChecksum(config, archive)
  await insertChecksum(db, { etag: archive.etag, sha256, size_bytes: archive.sizeBytes })
  return sha256
}

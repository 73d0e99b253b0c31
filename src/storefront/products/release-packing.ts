/** Compresses uploaded releases in a job, so that publications and first buyers do not wait. */
import type { Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { packRelease } from '../downloads/archives.ts'
import { storefrontProblem } from '../problems.ts'
import { findRow, type ReleaseRow } from './release-store.ts'
import type { ProductDeps } from './releases.ts'
import { buildReleaseFolder } from './uploaded-folder.ts'

export const PACK_JOB = 'storefront.pack-release'

type Deps = Pick<Platform, 'config' | 'db' | 'clock'> & Pick<ProductDeps, 'products'>

export async function packUpload(
  deps: Deps,
  { tier, version }: { tier: Tier; version: string },
): Promise<void> {
  const row = await findRow(deps.db, tier, version)
  // The draft may have been deleted.
  if (row) await packRelease(deps, await readFiles(deps, row))
}

/** @throws Problem 409 `release_incomplete` */
export async function readFiles(
  { products, clock }: Pick<Deps, 'products' | 'clock'>,
  row: ReleaseRow,
) {
  const files = await products.files(buildReleaseFolder(row))
  if (files.length !== row.file_count) throw storefrontProblem('release_incomplete')
  const { tier, version, notes, published_at } = row
  return { tier, version, notes, publishedAt: published_at ?? clock.now(), files }
}

/**
 * Releases that superusers upload: draft, published, withdrawn. The row comes before its files and
 * names their folder, so that no reader ever finds half a release.
 */
import { type Static, Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import { MINUTE_MS, plus } from '#platform/clock.ts'
import { isUniqueViolation, transaction } from '#platform/db/db.ts'
import { Instant, Named, Nullable, OneOf } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { Problem } from '#platform/problem.ts'
import { invalid } from '#platform/problems.ts'
import { computePlainChecksum, packRelease } from '../downloads/archives.ts'
import { insertChecksum } from '../downloads/store.ts'
import { storefrontProblem } from '../problems.ts'
import { RELEASE_EMAILS_JOB } from '../releases/release-emails.ts'
import { RELEASE_STATUSES } from '../tables.ts'
import { PRODUCTS_CHANGED } from './product-list.ts'
import { raiseRevision } from './product-store.ts'
import type { NewFile, NewRelease } from './release-files.ts'
import { PACK_JOB, readFiles } from './release-packing.ts'
import * as store from './release-store.ts'
import { listReleases, type ProductDeps, type Release, VERSION } from './releases.ts'
import { buildReleaseFolder } from './uploaded-folder.ts'

export type ReleaseEditingDeps = Pick<
  Platform,
  'config' | 'db' | 'clock' | 'jobs' | 'bus' | 'log'
> &
  ProductDeps

/** Null: the command line. */
export type ReleaseRequest = { actorId: string | null; tier: Tier; version: string }

export const ReleaseView = Type.Object(
  {
    version: Type.String(),
    status: Named('ReleaseStatus', OneOf(...RELEASE_STATUSES)),
    notes: Type.String({ description: 'Markdown' }),
    is_uploaded: Type.Boolean({
      description: 'False for a folder of PRODUCTS_DIR, or of the sample. Only its files change it',
    }),
    is_complete: Type.Boolean({
      description: 'False while an upload runs, and after it broke off',
    }),
    file_count: Nullable(Type.Integer()),
    size_bytes: Nullable(Type.Integer({ description: 'Of all its files, unpacked' })),
    sha256: Nullable(Type.String({ description: 'Of the plain ZIP; null before it is published' })),
    left_out: Type.Array(
      Type.Object({ path: Type.String(), reason: Type.String() }, { title: 'LeftOut' }),
    ),
    created_at: Nullable(Instant),
    published_at: Nullable(Instant),
    withdrawn_at: Nullable(Instant),
  },
  { title: 'StoreRelease' },
)
export type ReleaseView = Static<typeof ReleaseView>

export const NOTES_MAX = 50_000
const LEFT_OUT_MAX = 200
/** Time to withdraw a mistake, and for every node to read the release. */
const EMAILED_AFTER_MS = 5 * MINUTE_MS
/** A bucket needs tens of milliseconds for each file. */
const STORED_AT_ONCE = 8
/** Larger files are stored one by one, because a bucket's client has parts of them in memory. */
const LARGE_BYTES = 4 * 1024 * 1024

/** Lists the releases of a product, newest first. @throws Problem 404 */
export async function listProductReleases(
  deps: ReleaseEditingDeps,
  tier: Tier,
): Promise<ReleaseView[]> {
  requireProduct(deps, tier)
  const rows = await store.listOfTier(deps.db, tier)
  const known = new Set(rows.map(({ version }) => version))
  const fromFiles = (await listReleases(deps, tier, deps.clock.now())).filter(
    ({ version }) => !known.has(version),
  )
  return [...rows.map(viewRow), ...fromFiles.map(viewFileRelease)]
}

/** Stores the files of a draft. @throws Problem 404, 409, 422 and 503 */
export async function uploadRelease(
  deps: ReleaseEditingDeps,
  { actorId, tier, version }: ReleaseRequest,
  { files, leftOut, notes }: NewRelease & { notes: string },
): Promise<ReleaseView> {
  const { db, clock, jobs, products } = deps
  const { bundle } = requireProduct(deps, tier)
  if (bundle.length > 0) throw storefrontProblem('bundle_without_files')
  requireSharedFolder(deps.config)
  if (!VERSION.test(version))
    throw invalid(['body', 'version'], 'Should be letters, digits, dots, - and +, as in 1.2.0')
  if (!products.isSample && (await products.folders(tier)).includes(version))
    throw storefrontProblem('release_exists', { version })
  const draft = await store
    .insertDraft(db, { tier, version, notes, created_at: clock.now() })
    .catch((error) => {
      throw isUniqueViolation(error) ? storefrontProblem('release_exists', { version }) : error
    })
  const stored = {
    file_count: files.length,
    size_bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    left_out_json: leftOut.slice(0, LEFT_OUT_MAX),
  }
  try {
    await storeFiles(deps, buildReleaseFolder(draft), files)
    await transaction(db, async (tx) => {
      if (!(await store.updateRow(tx, draft, stored))) throw storefrontProblem('release_not_found')
      await audit(deps, tx, 'release.uploaded', { actorId, tier, version })
      await jobs.enqueue(tx, PACK_JOB, { tier, version }, { key: `${PACK_JOB}:${draft.id}` })
    })
  } catch (error) {
    await removeFiles(deps, draft)
    await store.removeDraft(db, draft.id)
    if (error instanceof Problem) throw error
    throw storefrontProblem('release_not_stored', { cause: error })
  }
  return viewRow({ ...draft, ...stored })
}

/** Other nodes do not see the files below DATA_DIR. */
function requireSharedFolder({ production, databaseUrl, products }: Platform['config']): void {
  if (production && databaseUrl !== null && products.location === null)
    throw storefrontProblem('products_dir_needed')
}

/** Packs the release and offers it to every buyer whom it covers. @throws Problem 404 and 409 */
export async function publishRelease(
  deps: ReleaseEditingDeps,
  { actorId, tier, version }: ReleaseRequest,
): Promise<ReleaseView> {
  const { config, db, clock, jobs } = deps
  const row = await requireRow(deps, tier, version)
  if (row.status === 'published') throw storefrontProblem('release_not_publishable')
  // A release that is published again keeps its time, on which the buyers' rights depend.
  const published_at = row.published_at ?? clock.now()
  const archive = await packRelease(deps, await readFiles(deps, { ...row, published_at }))
  const sha256 = await computePlainChecksum(config, archive)
  const changed = { status: 'published', published_at, withdrawn_at: null, sha256 } as const
  await transaction(db, async (tx) => {
    await raiseRevision(tx)
    if (!(await store.updateRow(tx, row, changed)))
      throw storefrontProblem('release_not_publishable')
    await insertChecksum(tx, { etag: archive.etag, sha256, size_bytes: archive.sizeBytes })
    await audit(deps, tx, 'release.published', { actorId, tier, version })
    await jobs.enqueue(
      tx,
      RELEASE_EMAILS_JOB,
      {},
      { key: `${RELEASE_EMAILS_JOB}:${row.id}`, runAt: plus(clock.now(), EMAILED_AFTER_MS) },
    )
  })
  await announce(deps)
  return viewRow({ ...row, ...changed })
}

/** Stops all downloads of the release; buyers get the one before. @throws Problem 404 and 409 */
export async function withdrawRelease(
  deps: ReleaseEditingDeps,
  { actorId, tier, version }: ReleaseRequest,
): Promise<ReleaseView> {
  const row = await requireRow(deps, tier, version)
  if (row.status !== 'published') throw storefrontProblem('release_not_published')
  const changed = { status: 'withdrawn', withdrawn_at: deps.clock.now() } as const
  await transaction(deps.db, async (tx) => {
    await raiseRevision(tx)
    if (!(await store.updateRow(tx, row, changed))) throw storefrontProblem('release_not_published')
    await audit(deps, tx, 'release.withdrawn', { actorId, tier, version })
  })
  await announce(deps)
  return viewRow({ ...row, ...changed })
}

/** @throws Problem 404 */
export async function changeNotes(
  deps: ReleaseEditingDeps,
  { tier, version }: Pick<ReleaseRequest, 'tier' | 'version'>,
  notes: string,
): Promise<ReleaseView> {
  const row = await requireRow(deps, tier, version)
  await transaction(deps.db, async (tx) => {
    await raiseRevision(tx)
    if (!(await store.updateRow(tx, row, { notes }))) throw storefrontProblem('release_not_found')
  })
  await announce(deps)
  return viewRow({ ...row, notes })
}

/** @throws Problem 404 and 409 `release_not_draft` */
export async function deleteDraft(
  deps: ReleaseEditingDeps,
  { actorId, tier, version }: ReleaseRequest,
): Promise<void> {
  const row = await requireRow(deps, tier, version)
  await transaction(deps.db, async (tx) => {
    if (!(await store.removeDraft(tx, row.id))) throw storefrontProblem('release_not_draft')
    await audit(deps, tx, 'release.deleted', { actorId, tier, version })
  })
  await removeFiles(deps, row)
}

async function storeFiles(
  { products }: ReleaseEditingDeps,
  folder: string,
  files: readonly NewFile[],
): Promise<void> {
  const isLarge = ({ sizeBytes }: NewFile) => sizeBytes > LARGE_BYTES
  const storeAll = async (waiting: IterableIterator<NewFile>) => {
    for (const file of waiting)
      await products.put(`${folder}/${file.path}`, await file.open(), file)
  }
  const small = files.filter((file) => !isLarge(file)).values()
  const results = await Promise.allSettled(
    Array.from({ length: STORED_AT_ONCE }, () => storeAll(small)),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
  await storeAll(files.filter(isLarge).values())
}

/** Files without a row are never served, so a failure only costs space. */
async function removeFiles(
  { products, log }: ReleaseEditingDeps,
  row: store.ReleaseRow,
): Promise<void> {
  await products.remove(buildReleaseFolder(row)).catch((error) => {
    log.warn({ err: error, tier: row.tier, version: row.version }, 'files of a draft remain')
  })
}

/** Buyers of a retired product get its releases, too. */
function requireProduct({ productList }: ReleaseEditingDeps, tier: Tier): CatalogueProduct {
  const product = productList.find(tier)
  if (!product) throw storefrontProblem('product_not_found')
  return product
}

async function requireRow({ db }: ReleaseEditingDeps, tier: Tier, version: string) {
  const row = await store.findRow(db, tier, version)
  if (!row) throw storefrontProblem('release_not_found')
  return row
}

async function announce({ productList, bus }: ReleaseEditingDeps): Promise<void> {
  await productList.reload()
  bus.publish(PRODUCTS_CHANGED, null)
}

function audit(
  { clock }: ReleaseEditingDeps,
  tx: Parameters<typeof recordAudit>[0],
  action: 'release.uploaded' | 'release.published' | 'release.withdrawn' | 'release.deleted',
  { actorId, tier, version }: ReleaseRequest,
): Promise<void> {
  const subject = `product:${tier}`
  return recordAudit(tx, { actorId, action, subject, data: { version }, at: clock.now() })
}

function viewRow(row: store.ReleaseRow): ReleaseView {
  const { id, tier, left_out_json, ...fields } = row
  return {
    ...fields,
    is_uploaded: true,
    is_complete: row.file_count !== null,
    left_out: [...left_out_json],
  }
}

function viewFileRelease({ version, notes, publishedAt }: Release): ReleaseView {
  return {
    version,
    status: 'published',
    notes,
    is_uploaded: false,
    is_complete: true,
    file_count: null,
    size_bytes: null,
    sha256: null,
    left_out: [],
    created_at: null,
    published_at: publishedAt,
    withdrawn_at: null,
  }
}

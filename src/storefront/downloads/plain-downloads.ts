/**
 * Plain archives for machines: a token or a license key fetches them as often as its day allows,
 * apart from the buyer's five downloads. Bytes count, not requests, so ranges give no way around.
 */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { DAY_MS } from '#platform/clock.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed } from '../products/product-list.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import { buildPlainArchive, openArchivePack, type PlainRelease } from './archives.ts'
import type { DownloadDeps } from './downloads.ts'
import { parseRange, resolveRange } from './range.ts'
import * as downloadStore from './store.ts'
import * as store from './token-store.ts'
import type { Credential } from './tokens.ts'
import { readPlainArchive } from './zip/plain-archive.ts'

/** Enough for a matrix of builds that does not cache. */
const ARCHIVES_PER_DAY = 50
/** Stops a script that fetches single bytes. */
const REQUESTS_PER_DAY = 1_000
const USER_AGENT_MAX = 500

export type PlainRequest = {
  slug: string
  /** `latest`, or a version. */
  version: string
  range?: string | undefined
  ifRange?: string | undefined
  address: string
  userAgent: string
}

export type PlainDownload = {
  archive: PlainRelease
  fileName: string
  /** Null: the whole file. */
  part: { start: number; end: number } | null
}

/** Finds the archive and the requested part; counts nothing. @throws Problem */
export async function findPlainDownload(
  deps: DownloadDeps,
  { purchase }: Credential,
  { slug, version, range, ifRange }: PlainRequest,
): Promise<PlainDownload> {
  requireProduct(deps, purchase, slug)
  const archive = await buildPlainArchive(
    deps,
    purchase,
    version === 'latest' ? undefined : version,
  ).catch((cause) => {
    deps.log.error({ err: cause }, 'an archive could not be made')
    throw storefrontProblem('zip_failed', { cause })
  })
  if (!archive) throw storefrontProblem('release_not_found')
  const requestedRange = ifRange && ifRange !== archive.etag ? null : parseRange(range)
  const part = requestedRange && resolveRange(requestedRange, archive.sizeBytes)
  if (requestedRange && !part)
    throw storefrontProblem('range_not_satisfiable', {
      headers: { 'content-range': `bytes */${archive.sizeBytes}` },
    })
  const fileName = `${deps.config.brand.slug}-${slug}-${archive.version}.zip`
  return { archive, fileName, part }
}

/** A license opens only its own product. Others look like unknown ones. */
export function requireProduct({ productList }: Listed, purchase: PurchaseRow, slug: string): void {
  if (productList.findBySlug(slug)?.tier !== purchase.tier)
    throw storefrontProblem('release_not_found')
}

/** Counts the download and returns its bytes. @throws Problem `daily_limit_reached` */
export async function startPlainDownload(
  deps: DownloadDeps,
  credential: Credential,
  request: PlainRequest,
  { archive, part }: PlainDownload,
): Promise<Readable> {
  const { config, db, log } = deps
  const { start, end } = part ?? { start: 0, end: archive.sizeBytes }
  // Opened before anything is counted: what cannot be read must not cost a download.
  const pack = await openArchivePack(config, archive.pack)
  const day = buildDay(deps, credential)
  try {
    await count(deps, credential, request, { archive, bytes: end - start })
  } catch (error) {
    await pack.close()
    throw error
  }

  let sentBytes = 0
  async function* pieces() {
    for await (const piece of readPlainArchive(archive, pack, start, end)) {
      sentBytes += piece.length
      yield piece
    }
  }
  const stream = Readable.from(pieces(), { objectMode: false, highWaterMark: 128 * 1024 })
  return stream.once('close', () => {
    void pack.close()
    const unsent = end - start - sentBytes
    if (unsent > 0)
      store
        .giveBackBytes(db, day, unsent)
        .catch((error) =>
          log.warn({ err: error }, 'the bytes of a download could not be given back'),
        )
  })
}

async function count(
  deps: DownloadDeps,
  credential: Credential,
  request: PlainRequest,
  { archive, bytes }: { archive: PlainRelease; bytes: number },
): Promise<void> {
  const { db, clock } = deps
  const day = buildDay(deps, credential)
  const before = await store.findDay(db, day)
  const limits = {
    requestsMax: REQUESTS_PER_DAY,
    bytesMax: ARCHIVES_PER_DAY * archive.sizeBytes,
  }
  if (!(await store.countRequest(db, day, { version: archive.version, bytes }, limits))) {
    const seconds = Math.ceil((DAY_MS - (clock.ms() % DAY_MS)) / 1_000)
    throw storefrontProblem('daily_limit_reached', { headers: { 'Retry-After': String(seconds) } })
  }
  // The first of each version and day is logged: a log of every build would say nothing more.
  if (before?.version !== archive.version) await logDownload(deps, credential, request, archive)
}

async function logDownload(
  { db, clock, countryOf }: DownloadDeps,
  { purchase }: Credential,
  { address, userAgent }: PlainRequest,
  { version, etag }: PlainRelease,
): Promise<void> {
  // Also before a guest has claimed the purchase: the delivery has begun.
  const userId = purchase.user_id ?? purchase.claimant_id
  if (userId === null) return
  await downloadStore.insert(db, {
    user_id: userId,
    id: randomUUID(),
    purchase_id: purchase.id,
    version,
    etag,
    is_plain: true,
    resume_count: 0,
    sent_bytes: 0,
    ip_address: address,
    user_agent: userAgent.slice(0, USER_AGENT_MAX),
    country: countryOf(address),
    downloaded_at: clock.now(),
  })
}

function buildDay({ clock }: Pick<DownloadDeps, 'clock'>, { id, purchase }: Credential) {
  return { owner: purchase.owner, credential_id: id, day: clock.now().slice(0, 10) }
}

/**
 * Decides who may download what, and counts it. A download is counted when it is granted, before its first byte; whoever loses the
 * connection continues it with a Range for 24 hours, uncounted, because the same purchase and release give the same bytes.
 */
import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { isDisputed } from '../payments/store.ts'
import { storefrontProblem } from '../problems.ts'
import { licensePrefix } from '../purchases/license-key.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'
import { type ArchiveDeps, archiveOf, type BuyerArchive, checksumOf, openArchive } from './archives.ts'
import { isResume, parseRange, type RangeRequest, resolveRange } from './range.ts'
import * as store from './store.ts'
import { readArchive } from './zip/archive.ts'
import type { OpenPack } from './zip/pack.ts'

export const CHECKSUM_JOB = 'storefront.checksum'
export const COOLDOWN_MS = MINUTE_MS
export const HISTORY_MAX = 50
const RESUMABLE_MS = DAY_MS
/** A bad line breaks often; a script that fetches one megabyte at a time all day is something else. */
const RESUMES_MAX = 500
/** In all, with what the first answer sent: enough for a bad line, and no second copy for a friend each minute. */
const ARCHIVES_SENT_MAX = 3
/** By then the download itself has told the checksum, unless it broke off. */
const CHECKSUM_AFTER_MS = HOUR_MS
const USER_AGENT_MAX = 500

export type DownloadDeps = ArchiveDeps &
  Pick<Platform, 'db' | 'jobs' | 'log'> & { countryOf(address: string): string | null }

export interface DownloadRequest {
  purchaseId?: string | undefined
  range?: string | undefined
  ifRange?: string | undefined
  address: string
  userAgent: string
}

export interface Delivery extends Announcement {
  /** The download that was counted, or is continued. */
  grantId: string
  userId: string
  /** Open: whoever gets the delivery closes it. */
  pack: OpenPack
}

export interface Announcement {
  archive: BuyerArchive
  fileName: string
  /** Null: the whole file. */
  part: { start: number; end: number } | null
}

/**
 * Grants a download and counts it, or continues one that was granted.
 * Throws the 403, 404, 416, 429 and 500 of the contract.
 */
export async function grantDownload(deps: DownloadDeps, userId: string, request: DownloadRequest): Promise<Delivery> {
  const range = parseRange(request.range)
  const resumed = isResume(range) ? await resume(deps, userId, request, range) : null
  if (resumed) return resumed

  const purchase = await activePurchase(deps, userId, request.purchaseId)
  const waitMs = cooldownLeftMs(purchase, deps.clock.ms())
  if (waitMs > 0) throw coolingDown(waitMs)

  const archive = await requireArchive(deps, purchase)
  const asked = request.ifRange && request.ifRange !== archive.etag ? null : range
  const announcement = announce(deps, purchase, archive, asked)
  return openedWith(deps, userId, announcement, () => count(deps, userId, purchase, announcement, request))
}

/** Counts and logs the download, or throws what stands in its way. Returns its id. */
async function count(
  deps: DownloadDeps,
  userId: string,
  purchase: PurchaseRow,
  announcement: Announcement,
  request: DownloadRequest,
): Promise<string> {
  const { db, clock, jobs } = deps
  const { archive } = announcement
  const now = clock.now()
  const counted = await transaction(db, async (tx) => {
    const row = await purchaseStore.countDownload(tx, userId, purchase.id, now, plus(now, -COOLDOWN_MS))
    if (!row) return null
    const id = randomUUID()
    await store.insert(tx, {
      user_id: userId,
      id,
      purchase_id: purchase.id,
      version: archive.version,
      etag: archive.etag,
      resume_count: 0,
      sent_bytes: bytesOf(announcement),
      ip_address: request.address,
      user_agent: request.userAgent.slice(0, USER_AGENT_MAX),
      country: deps.countryOf(request.address),
      downloaded_at: now,
    })
    const job = { purchaseId: purchase.id, version: archive.version, etag: archive.etag }
    await jobs.enqueue(tx, CHECKSUM_JOB, job, {
      key: `checksum:${archive.etag}`,
      runAt: plus(now, CHECKSUM_AFTER_MS),
    })
    return id
  })
  if (counted) return counted

  // Another download took the slot since we looked: say what it left behind.
  const left = await activePurchase(deps, userId, purchase.id)
  throw coolingDown(Math.max(cooldownLeftMs(left, clock.ms()), 1))
}

/** What a GET would bring, without counting or waiting: for HEAD. */
export async function describeDownload(
  deps: DownloadDeps,
  userId: string,
  request: DownloadRequest,
): Promise<Announcement> {
  const purchase = await activePurchase(deps, userId, request.purchaseId)
  return announce(deps, purchase, await requireArchive(deps, purchase), null)
}

/** At most 50, newest first. */
export function listDownloads({ db }: Pick<DownloadDeps, 'db'>, userId: string, purchaseId?: string) {
  return store.listOfUser(db, userId, purchaseId, HISTORY_MAX)
}

export function cooldownLeftMs(purchase: Pick<PurchaseRow, 'last_download_at'>, nowMs: number): number {
  return purchase.last_download_at ? Math.max(0, Date.parse(purchase.last_download_at) + COOLDOWN_MS - nowMs) : 0
}

/** The archive's bytes. However it ends, the pack is closed, and what was not sent is not counted as sent. */
export function streamDelivery(deps: DownloadDeps, { archive, pack, part, grantId, userId }: Delivery): Readable {
  const { db, log } = deps
  const { start, end } = part ?? { start: 0, end: archive.sizeBytes }
  let sentBytes = 0

  async function* pieces() {
    // A whole archive tells its checksum on the way: encrypting it once more for that costs as much as the download itself.
    // The headers have left: a database that is away this moment must not break what needs nothing more of it.
    const known = part ? null : await store.findChecksum(db, archive.etag).catch(() => null)
    const hash = part || known ? null : createHash('sha256')
    let last: Buffer | null = null
    for await (const piece of readArchive(archive, pack, start, end)) {
      hash?.update(piece)
      if (last) yield noted(last)
      last = piece
    }
    // Before the last bytes leave, so that who has them all finds it.
    if (hash) await keepChecksum(deps, archive, hash.digest('hex')).catch((error) => log.warn({ err: error }, NOT_KEPT))
    if (last) yield noted(last)
  }
  function noted(piece: Buffer): Buffer {
    sentBytes += piece.length
    return piece
  }

  const stream = Readable.from(pieces(), { objectMode: false, highWaterMark: 128 * 1024 })
  return stream.once('close', () => {
    void pack.close()
    const unsent = end - start - sentBytes
    if (unsent > 0) store.giveBack(db, userId, grantId, unsent).catch((error) => log.warn({ err: error }, NOT_KEPT))
  })
}

const NOT_KEPT = 'what a download sent could not be written down'

function keepChecksum({ db }: DownloadDeps, { etag, sizeBytes }: BuyerArchive, sha256: string): Promise<void> {
  return store.insertChecksum(db, { etag, sha256, size_bytes: sizeBytes })
}

/** Computes the checksum of an archive whose download broke off, once. */
export async function noteChecksum(deps: DownloadDeps, job: { purchaseId: string; version: string; etag: string }) {
  if (await store.findChecksum(deps.db, job.etag)) return
  const purchase = await purchaseStore.findById(deps.db, job.purchaseId)
  const archive = purchase && (await archiveOf(deps, purchase, job.version))
  // Files replaced meanwhile: the tag names bytes that nobody can get any more.
  if (!archive || archive.etag !== job.etag) return
  await keepChecksum(deps, archive, await checksumOf(deps.config, archive))
}

async function resume(
  deps: DownloadDeps,
  userId: string,
  { purchaseId, ifRange }: DownloadRequest,
  range: RangeRequest,
): Promise<Delivery | null> {
  const { db, clock } = deps
  const since = plus(clock.now(), -RESUMABLE_MS)
  const grant = await store.findLatest(db, userId, { since, purchaseId, etag: ifRange })
  const purchase = grant && (await purchaseStore.findOfUser(db, userId, grant.purchase_id))
  // The fifth download makes the purchase expired, and may still be continued.
  if (!purchase || purchase.status === 'refunded') return null

  const archive = await requireArchive(deps, purchase, grant.version)
  if (archive.etag !== grant.etag) return null
  await requireUndisputed(deps, purchase)
  const announcement = announce(deps, purchase, archive, range)
  return openedWith(deps, userId, announcement, async () => {
    const bytesMax = ARCHIVES_SENT_MAX * archive.sizeBytes
    const bounds = { resumesMax: RESUMES_MAX, bytesMax }
    if (await store.countResume(db, userId, grant.id, bytesOf(announcement), bounds)) return grant.id
    throw storefrontProblem('resume_limit_reached')
  })
}

/** Opens the pack before anything is counted: what cannot be read must not cost a download. */
async function openedWith(
  deps: DownloadDeps,
  userId: string,
  announcement: Announcement,
  grant: () => Promise<string>,
): Promise<Delivery> {
  const pack = await openArchive(deps.config, announcement.archive).catch((cause) => {
    throw zipFailed(deps, cause)
  })
  try {
    return { ...announcement, userId, grantId: await grant(), pack }
  } catch (error) {
    await pack.close()
    throw error
  }
}

async function activePurchase(deps: DownloadDeps, userId: string, id: string | undefined): Promise<PurchaseRow> {
  const { db } = deps
  const purchase = id ? await purchaseStore.findOfUser(db, userId, id) : await newestPurchase(db, userId)
  if (purchase?.status === 'expired') throw storefrontProblem('download_limit_reached', { extra: { expired: true } })
  if (purchase?.status !== 'completed') throw storefrontProblem('no_active_purchase')
  await requireUndisputed(deps, purchase)
  return purchase
}

/** While a bank holds the payment back, so do we. */
async function requireUndisputed({ db }: DownloadDeps, purchase: PurchaseRow): Promise<void> {
  if (await isDisputed(db, purchase.payment_ref)) throw storefrontProblem('payment_disputed')
}

/** The most recent completed one; when there is none, the most recent. */
async function newestPurchase(db: Db, userId: string): Promise<PurchaseRow | undefined> {
  const purchases = await purchaseStore.listOfUser(db, userId)
  return purchases.find(({ status }) => status === 'completed') ?? purchases[0]
}

async function requireArchive(deps: DownloadDeps, purchase: PurchaseRow, version?: string): Promise<BuyerArchive> {
  const archive = await archiveOf(deps, purchase, version).catch((cause) => {
    throw zipFailed(deps, cause)
  })
  if (archive) return archive
  deps.log.error({ tier: purchase.tier, version }, 'product files are missing')
  throw storefrontProblem('product_files_missing')
}

function announce(
  { config }: DownloadDeps,
  purchase: PurchaseRow,
  archive: BuyerArchive,
  range: RangeRequest | null,
): Announcement {
  const part = range && resolveRange(range, archive.sizeBytes)
  if (range && !part) {
    // Several ranges at once: no client that resumes asks for them, and ignoring them would count as a download.
    throw storefrontProblem('range_not_satisfiable', { headers: { 'content-range': `bytes */${archive.sizeBytes}` } })
  }
  const fileName = `${config.products.name}-${purchase.tier}-${licensePrefix(archive.licenseKey)}.zip`
  return { archive, fileName, part }
}

function bytesOf({ archive, part }: Announcement): number {
  return part ? part.end - part.start : archive.sizeBytes
}

function zipFailed({ log }: DownloadDeps, cause: unknown): Problem {
  log.error({ err: cause }, 'an archive could not be made')
  return storefrontProblem('zip_failed', { cause })
}

function coolingDown(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return storefrontProblem('download_cooldown', { seconds }, { headers: { 'Retry-After': String(seconds) } })
}

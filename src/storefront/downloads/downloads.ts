/**
 * Downloads of purchases. A download is counted before its first byte, in a single conditional
 * update. After a broken connection it can be continued with a Range for 24 hours without being
 * counted again, because the same purchase and release give the same bytes.
 */

import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { DAY_MS, HOUR_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import type { Problem } from '#platform/problem.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed } from '../products/product-list.ts'
import { takeDownload } from '../purchases/download-counts.ts'
import { licensePrefix } from '../purchases/license-key.ts'
import type { PurchaseRow } from '../purchases/store.ts'
import * as purchaseStore from '../purchases/store.ts'
import { findNewestVersion, requireActivePurchase, requireUndisputed } from './active-purchase.ts'
import {
  type ArchiveDeps,
  type BuyerArchive,
  buildArchive,
  computeChecksum,
  openArchivePack,
} from './archives.ts'
import { isResume, parseRange, type RangeRequest, resolveRange } from './range.ts'
import * as store from './store.ts'
import { readArchive } from './zip/archive.ts'
import type { OpenPack } from './zip/pack.ts'

export const CHECKSUM_JOB = 'storefront.checksum'
export const COOLDOWN_MS = MINUTE_MS
export const HISTORY_MAX = 50
const RESUMABLE_MS = DAY_MS
/**
 * Enough for an unreliable connection. It stops a script that fetches one megabyte at a time all
 * day.
 */
const RESUMES_MAX = 500
/**
 * How often the archive's size may be sent in total, including the first reply. Enough for an
 * unreliable connection, but not for repeated copies.
 */
const ARCHIVES_SENT_MAX = 3
/** Delay of the checksum job. A complete download has computed the checksum by then. */
const CHECKSUM_AFTER_MS = HOUR_MS
const USER_AGENT_MAX = 500

export type DownloadDeps = ArchiveDeps &
  Pick<Platform, 'db' | 'jobs' | 'log' | 'business'> &
  Listed & { countryOf(address: string): string | null }

export type DownloadRequest = {
  purchaseId?: string | undefined
  /** Left out: the newest release that the purchase covers. */
  version?: string | undefined
  range?: string | undefined
  ifRange?: string | undefined
  address: string
  userAgent: string
}

/** A granted download of an archive, or of a part of it. */
export type Download = {
  /** The id of its row: a new one, or that of the continued download. */
  id: string
  isResumed: boolean
  userId: string
  purchase: PurchaseRow
  archive: BuyerArchive
  fileName: string
  /** Null: the whole file. */
  part: { start: number; end: number } | null
}

/**
 * Grants a download, opens its sources, counts it, and returns its bytes. @throws Problem 403, 404,
 * 416, 429 and 500 of the contract.
 */
export async function startDownload(
  deps: DownloadDeps,
  userId: string,
  request: DownloadRequest,
): Promise<{ download: Download; bytes: Readable }> {
  const download = await grantDownload(deps, userId, request)
  // Opened before anything is counted: what cannot be read must not cost a download.
  const pack = await openArchivePack(deps.config, download.archive.pack).catch((cause) => {
    throw zipFailed(deps, cause)
  })
  try {
    await (download.isResumed
      ? countResume(deps, download)
      : countDownload(deps, download, request))
  } catch (error) {
    await pack.close()
    throw error
  }
  return { download, bytes: streamDownload(deps, download, pack) }
}

/** Returns the headers of a GET without counting or waiting: for HEAD. */
export async function describeDownload(
  deps: DownloadDeps,
  userId: string,
  request: DownloadRequest,
): Promise<Download> {
  const purchase = await requireActivePurchase(deps, userId, request)
  const archive = await requireArchive(deps, purchase, request.version)
  return newDownload(deps, userId, request, { purchase, archive, range: null })
}

/** Decides, and counts nothing: a new download of a purchase, or more of one that was granted. */
async function grantDownload(
  deps: DownloadDeps,
  userId: string,
  request: DownloadRequest,
): Promise<Download> {
  const range = parseRange(request.range)
  const resumed = isResume(range) ? await resumedDownload(deps, userId, request, range) : null
  if (resumed) return resumed

  const purchase = await requireActivePurchase(deps, userId, request)
  const waitMs = cooldownLeftMs(purchase, deps.clock.ms())
  if (waitMs > 0) throw coolingDown(waitMs)
  const archive = await requireArchive(deps, purchase, request.version)
  const requestedRange = request.ifRange && request.ifRange !== archive.etag ? null : range
  return newDownload(deps, userId, request, { purchase, archive, range: requestedRange })
}

/** Returns null when the request continues no earlier download; then it is a new one. */
async function resumedDownload(
  deps: DownloadDeps,
  userId: string,
  request: DownloadRequest,
  range: RangeRequest,
): Promise<Download | null> {
  const { db, clock } = deps
  const { purchaseId, version, ifRange } = request
  const since = plus(clock.now(), -RESUMABLE_MS)
  const granted = await store.findLatest(db, userId, { since, purchaseId, version, etag: ifRange })
  const purchase = granted && (await purchaseStore.findOfUser(db, userId, granted.purchase_id))
  // The fifth download sets the purchase to expired and may still be continued.
  if (!purchase || purchaseStore.isEnded(purchase)) return null

  const archive = await requireArchive(deps, purchase, granted.version)
  if (archive.etag !== granted.etag) return null
  await requireUndisputed(deps, purchase)
  const download = newDownload(deps, userId, request, { purchase, archive, range })
  return { ...download, id: granted.id, isResumed: true }
}

function newDownload(
  { config }: DownloadDeps,
  userId: string,
  { version }: DownloadRequest,
  {
    purchase,
    archive,
    range,
  }: Pick<Download, 'purchase' | 'archive'> & { range: RangeRequest | null },
): Download {
  const part = range && resolveRange(range, archive.sizeBytes)
  if (range && !part) {
    // Several ranges are rejected: no client uses them to resume, and ignoring them would count as
    // a download.
    throw storefrontProblem('range_not_satisfiable', {
      headers: { 'content-range': `bytes */${archive.sizeBytes}` },
    })
  }
  const parts = [config.brand.slug, purchase.tier, version, licensePrefix(archive.licenseKey)]
  const fileName = `${parts.filter((part) => part !== undefined).join('-')}.zip`
  return { id: randomUUID(), isResumed: false, userId, purchase, archive, fileName, part }
}

async function requireArchive(
  deps: DownloadDeps,
  purchase: PurchaseRow,
  version?: string,
): Promise<BuyerArchive> {
  const archive = await buildArchive(deps, purchase, version).catch((cause) => {
    throw zipFailed(deps, cause)
  })
  if (archive) return archive
  if (version !== undefined) throw storefrontProblem('release_not_found')
  deps.log.error({ tier: purchase.tier, version }, 'product files are missing')
  throw storefrontProblem('product_files_missing')
}

/** Counts and logs the download. @throws Problem when the limit or the cooldown forbids it */
async function countDownload(
  deps: DownloadDeps,
  download: Download,
  request: DownloadRequest,
): Promise<void> {
  const { db, clock, jobs, business } = deps
  const { id, userId, purchase, archive } = download
  const now = clock.now()
  const isNewest =
    request.version === undefined || archive.version === (await findNewestVersion(deps, purchase))
  const isCounted = await transaction(db, async (tx) => {
    const take = {
      id: purchase.id,
      version: archive.version,
      isNewest,
      now,
      lastBefore: plus(now, -COOLDOWN_MS),
    }
    if (!(await takeDownload(tx, userId, take))) return false
    await store.insert(tx, {
      user_id: userId,
      id,
      purchase_id: purchase.id,
      version: archive.version,
      etag: archive.etag,
      is_plain: false,
      resume_count: 0,
      sent_bytes: countBytes(download),
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
    business.downloaded(tx, purchase.tier)
    return true
  })
  if (isCounted) return

  // Another download was counted since the check, so the purchase is checked again.
  const left = await requireActivePurchase(deps, userId, { ...request, purchaseId: purchase.id })
  throw coolingDown(Math.max(cooldownLeftMs(left, clock.ms()), 1))
}

async function countResume({ db }: DownloadDeps, download: Download): Promise<void> {
  const { id, userId, archive } = download
  const bounds = { resumesMax: RESUMES_MAX, bytesMax: ARCHIVES_SENT_MAX * archive.sizeBytes }
  if (await store.countResume(db, userId, id, countBytes(download), bounds)) return
  throw storefrontProblem('resume_limit_reached')
}

function countBytes({ archive, part }: Download): number {
  return part ? part.end - part.start : archive.sizeBytes
}

/**
 * Returns the archive's bytes. When the stream closes, closes the pack and subtracts the unsent
 * bytes from the count.
 */
function streamDownload(deps: DownloadDeps, download: Download, pack: OpenPack): Readable {
  const { archive, part, id, userId } = download
  const { db, log } = deps
  const { start, end } = part ?? { start: 0, end: archive.sizeBytes }
  let sentBytes = 0

  async function* pieces() {
    // A complete download computes its checksum as a by-product; encrypting the archive again for
    // that would cost as much as the download. The headers are already sent, so a database failure
    // must not break the download.
    const known = part ? null : await store.findChecksum(db, archive.etag).catch(() => null)
    const hash = part || known ? null : createHash('sha256')
    let last: Buffer | null = null
    for await (const piece of readArchive(archive, pack, start, end)) {
      hash?.update(piece)
      if (last) yield noted(last)
      last = piece
    }
    // Stored before the last bytes are sent, so that a complete download always has a checksum.
    if (hash)
      await keepChecksum(deps, archive, hash.digest('hex')).catch((error) =>
        log.warn({ err: error }, NOT_KEPT),
      )
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
    if (unsent > 0)
      store.giveBack(db, userId, id, unsent).catch((error) => log.warn({ err: error }, NOT_KEPT))
  })
}

const NOT_KEPT = 'what a download sent could not be written down'

function keepChecksum(
  { db }: DownloadDeps,
  { etag, sizeBytes }: BuyerArchive,
  sha256: string,
): Promise<void> {
  return store.insertChecksum(db, { etag, sha256, size_bytes: sizeBytes })
}

/** Computes the checksum of an archive whose download did not complete, once. */
export async function noteChecksum(
  deps: DownloadDeps,
  job: { purchaseId: string; version: string; etag: string },
) {
  if (await store.findChecksum(deps.db, job.etag)) return
  const purchase = await purchaseStore.findById(deps.db, job.purchaseId)
  const archive = purchase && (await buildArchive(deps, purchase, job.version))
  // The files have been replaced meanwhile, so the archive with this tag no longer exists.
  if (!archive || archive.etag !== job.etag) return
  await keepChecksum(deps, archive, await computeChecksum(deps.config, archive))
}

/** Lists up to 50 downloads, newest first. */
export function listDownloads(
  { db }: Pick<DownloadDeps, 'db'>,
  userId: string,
  purchaseId?: string,
) {
  return store.listOfUser(db, userId, purchaseId, HISTORY_MAX)
}

export function cooldownLeftMs(
  purchase: Pick<PurchaseRow, 'last_download_at'>,
  nowMs: number,
): number {
  return purchase.last_download_at
    ? Math.max(0, Date.parse(purchase.last_download_at) + COOLDOWN_MS - nowMs)
    : 0
}

function zipFailed({ log }: DownloadDeps, cause: unknown): Problem {
  log.error({ err: cause }, 'an archive could not be made')
  return storefrontProblem('zip_failed', { cause })
}

function coolingDown(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1000)
  return storefrontProblem(
    'download_cooldown',
    { seconds },
    { headers: { 'Retry-After': String(seconds) } },
  )
}

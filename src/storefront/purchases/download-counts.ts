/** Counts the downloads of each release of a purchase. */
import type { Instant } from '#platform/clock.ts'
import { type Db, forUpdate } from '#platform/db/db.ts'
import { type PurchaseRow, update } from './store.ts'

/** Returns how often this release was downloaded. */
export function countDownloads(
  { download_count, download_version, other_downloads_json }: PurchaseRow,
  version: string,
): number {
  if (Object.hasOwn(other_downloads_json, version)) return other_downloads_json[version] ?? 0
  return download_version === null || download_version === version ? download_count : 0
}

/**
 * Checks limit and cooldown and counts the download under a lock, so that of two simultaneous
 * downloads only one gets the last slot. The status follows the newest release only. Returns false
 * when the purchase has ended, its release is used up, or it was downloaded after `lastBefore`.
 */
export async function takeDownload(
  tx: Db,
  userId: string,
  { id, version, isNewest, now, lastBefore }: DownloadTake,
): Promise<boolean> {
  const query = tx
    .selectFrom('purchases')
    .selectAll()
    .where('owner', '=', userId)
    .where('id', '=', id)
    .where('status', 'in', ['completed', 'expired'])
    .where((e) =>
      e.or([e('last_download_at', 'is', null), e('last_download_at', '<=', lastBefore)]),
    )
  const row = await forUpdate(tx, query).executeTakeFirst()
  if (!row || countDownloads(row, version) >= row.max_downloads) return false
  await update(tx, row, { ...addDownload(row, version, isNewest), last_download_at: now })
  return true
}

type DownloadTake = {
  id: string
  version: string
  /** The newest release that the purchase covers. */
  isNewest: boolean
  now: Instant
  lastBefore: Instant
}

function addDownload(row: PurchaseRow, version: string, isNewest: boolean): Partial<PurchaseRow> {
  const { download_version: before, other_downloads_json: others } = row
  const count = countDownloads(row, version) + 1
  if (version !== before && !isNewest)
    return { other_downloads_json: { ...others, [version]: count } }

  const { [version]: _, ...rest } = others
  const isMoved = before !== null && before !== version
  return {
    download_count: count,
    download_version: version,
    other_downloads_json: isMoved ? { ...rest, [before]: row.download_count } : rest,
    status: count < row.max_downloads ? 'completed' : 'expired',
  }
}

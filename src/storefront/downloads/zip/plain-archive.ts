/**
 * Writes a release as a plain ZIP: the packed files with their headers, in any byte range, without a
 * stored copy. It is the same for every buyer.
 */
import { createHash } from 'node:crypto'
import {
  type ArchiveEntry,
  type Layout,
  layOut,
  type PackedEntry,
  type PackReader,
  readLayout,
  type Window,
} from './layout.ts'

const BATCH_BYTES = 128 * 1024

export type PlainArchive = Layout & {
  /** A strong ETag: the same tag means the same bytes. */
  etag: string
}

export function planPlainArchive(order: {
  entries: readonly PackedEntry[]
  folder: string
  modifiedAt: Date
}): PlainArchive {
  const layout = layOut(order.entries, { ...order, isEncrypted: false })
  const tag = createHash('sha256').update('plain-1').update(order.modifiedAt.toISOString())
  for (const { name, method, sizeBytes, executable, packed } of layout.entries)
    tag.update(`${JSON.stringify([name.toString(), method, sizeBytes, packed.hash, executable])}\n`)
  return { ...layout, etag: `"${tag.digest('base64url').slice(0, 32)}"` }
}

/** The bytes [start, end) of the archive. */
export function readPlainArchive(
  archive: PlainArchive,
  pack: PackReader,
  start = 0,
  end = archive.sizeBytes,
): AsyncGenerator<Buffer> {
  const window = { start, end }
  return readLayout(archive, window, (entry, _index, bodyAt) =>
    readPacked(entry, pack, bodyAt, window),
  )
}

async function* readPacked(
  { packed }: ArchiveEntry,
  pack: PackReader,
  bodyAt: number,
  window: Window,
): AsyncGenerator<Buffer> {
  const to = Math.min(packed.packedBytes, window.end - bodyAt)
  for (let position = Math.max(0, window.start - bodyAt); position < to; position += BATCH_BYTES) {
    const batch = Buffer.allocUnsafeSlow(Math.min(BATCH_BYTES, to - position))
    await pack.read(batch, packed.offset + position)
    yield batch
  }
}

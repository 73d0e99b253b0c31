/**
 * Where the entries of a ZIP lie, and its bytes in any range. The caller writes the entries' bodies:
 * encrypted (archive.ts) or as packed (plain-archive.ts).
 */
import { isSafePath } from './entry-name.ts'
import {
  directoryEnd,
  directoryHeader,
  type EntryRecord,
  headerLengths,
  localHeader,
  type Method,
  SEAL_BYTES,
} from './records.ts'

const PIECE_BYTES = 64 * 1024

/** A compressed file in a pack. */
export type PackedEntry = {
  /** Relative, with `/` between names. */
  path: string
  method: Method
  sizeBytes: number
  packedBytes: number
  /** Offset in the pack. */
  offset: number
  /** SHA-256 of the packed bytes. */
  hash: string
  /** CRC-32 of the file's bytes, which only plain archives contain. */
  crc32: number
  executable: boolean
}

/** Random access to a pack's bytes; fills the whole buffer or throws. */
export type PackReader = { read(into: Buffer, position: number): Promise<void> }

export type ArchiveEntry = EntryRecord & {
  packed: PackedEntry
  headerBytes: number
  /** Offset of its record in the central directory. */
  listedAt: number
}

export type Layout = {
  /** The exact length, known before the first byte is written. */
  sizeBytes: number
  entries: ArchiveEntry[]
  directoryAt: number
  directoryBytes: number
}

export type Window = { start: number; end: number }

/** Places the files below `folder`. @throws Error for a name that is not safe to unpack */
export function layOut(
  files: readonly PackedEntry[],
  { folder, modifiedAt, isEncrypted }: { folder: string; modifiedAt: Date; isEncrypted: boolean },
): Layout {
  const entries: ArchiveEntry[] = []
  let at = 0
  let directoryBytes = 0

  for (const packed of files) {
    const path = `${folder}/${packed.path}`
    if (!isSafePath(packed.path) || !isSafePath(path))
      throw new Error(`unsafe name in a product: ${JSON.stringify(packed.path)}`)

    const entry: ArchiveEntry = {
      packed,
      name: Buffer.from(path),
      method: packed.method,
      sizeBytes: packed.sizeBytes,
      storedBytes: packed.packedBytes + (isEncrypted ? SEAL_BYTES : 0),
      crc32: isEncrypted ? null : packed.crc32,
      modifiedAt,
      executable: packed.executable,
      headerBytes: 0,
      listedAt: directoryBytes,
      at,
    }
    const lengths = headerLengths(entry)
    entry.headerBytes = lengths.local
    at += lengths.local + entry.storedBytes
    directoryBytes += lengths.listed
    entries.push(entry)
  }
  for (const entry of entries) entry.listedAt += at

  return {
    sizeBytes: at + directoryBytes + directoryEnd(entries.length, at, directoryBytes).length,
    entries,
    directoryAt: at,
    directoryBytes,
  }
}

/** Writes a part of an entry's body, which begins at `bodyAt`. */
export type BodyWriter = (
  entry: ArchiveEntry,
  index: number,
  bodyAt: number,
) => AsyncGenerator<Buffer>

/** Returns the index of the first entry that the window touches. */
export function findFirstEntry({ entries, directoryAt }: Layout, { start }: Window): number {
  return start < directoryAt ? findLastEntry(entries, 'at', start) : entries.length
}

/**
 * The bytes of the window, in pieces of about 64–128 KB. Memory stays bounded by a few pieces at any
 * size. A range costs the entries it touches.
 */
export async function* readLayout(
  layout: Layout,
  window: Window,
  writeBody: BodyWriter,
): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = []
  let waitingBytes = 0

  // Thousands of small files would otherwise be thousands of tiny writes.
  for await (const piece of pieces(layout, window, writeBody)) {
    if (piece.length >= PIECE_BYTES && waitingBytes === 0) {
      yield piece
      continue
    }
    waiting.push(piece)
    waitingBytes += piece.length
    if (waitingBytes >= PIECE_BYTES) {
      yield Buffer.concat(waiting.splice(0), waitingBytes)
      waitingBytes = 0
    }
  }
  if (waitingBytes > 0) yield Buffer.concat(waiting, waitingBytes)
}

async function* pieces(
  layout: Layout,
  window: Window,
  writeBody: BodyWriter,
): AsyncGenerator<Buffer> {
  const { entries, directoryAt, directoryBytes } = layout
  for (let index = findFirstEntry(layout, window); index < entries.length; index++) {
    const entry = entries[index] as ArchiveEntry
    if (entry.at >= window.end) return
    yield* clip(localHeader(entry), entry.at, window)
    const bodyAt = entry.at + entry.headerBytes
    if (bodyAt < window.end && bodyAt + entry.storedBytes > window.start)
      yield* writeBody(entry, index, bodyAt)
  }

  if (directoryAt + directoryBytes > window.start) {
    for (
      let index = findLastEntry(entries, 'listedAt', window.start);
      index < entries.length;
      index++
    ) {
      const entry = entries[index] as ArchiveEntry
      if (entry.listedAt >= window.end) return
      yield* clip(directoryHeader(entry), entry.listedAt, window)
    }
  }
  const end = directoryEnd(entries.length, directoryAt, directoryBytes)
  yield* clip(end, directoryAt + directoryBytes, window)
}

/** Yields the part of the bytes at `at` that lies in the window. */
export function* clip(bytes: Buffer, at: number, window: Window): Generator<Buffer> {
  const from = Math.max(0, window.start - at)
  const to = Math.min(bytes.length, window.end - at)
  if (from < to) yield from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to)
}

function findLastEntry(entries: ArchiveEntry[], place: 'at' | 'listedAt', offset: number): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((entries[middle] as ArchiveEntry)[place] <= offset) low = middle + 1
    else high = middle
  }
  return Math.max(0, low - 1)
}

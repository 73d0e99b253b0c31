/**
 * Writes a release as an AES-256 ZIP (WinZip AE-2) for one buyer, any byte range of it on demand,
 * without a stored copy. The salts are derived instead of random, so that the same purchase always
 * gives the same bytes and a download can be resumed.
 */
import { createHash, createHmac, type Hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { deriveKeys, type EntryKeys, entryCipher } from './cipher.ts'
import { isSafePath } from './entry-name.ts'
import {
  CODE_BYTES,
  directoryEnd,
  directoryHeader,
  type EntryRecord,
  headerLengths,
  localHeader,
  type Method,
  SALT_BYTES,
  SEAL_BYTES,
  VERIFIER_BYTES,
} from './records.ts'

const BATCH_BYTES = 128 * 1024
const PIECE_BYTES = 64 * 1024
const KEYS_AHEAD = 8
const CODES_MAX = 20_000
const UNFINISHED_MAX = 2_000

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
  executable: boolean
}

/** Random access to a pack's bytes; fills the whole buffer or throws. */
export type PackReader = { read(into: Buffer, position: number): Promise<void> }

export type Order = {
  entries: PackedEntry[]
  /** The top folder in the archive. Its name contains product, tier and release. */
  folder: string
  modifiedAt: Date
  password: string
  /** The server's secret that the salts are derived from. */
  saltKey: Buffer
}

export type Archive = {
  /** The exact length, known before the first byte is written. */
  sizeBytes: number
  /** A strong ETag: the same tag means the same bytes. */
  etag: string
  entries: ArchiveEntry[]
  directoryAt: number
  directoryBytes: number
  password: string
  saltKey: Buffer
}

export type ArchiveEntry = EntryRecord & {
  packed: PackedEntry
  headerBytes: number
  /** Offset of its record in the central directory. */
  listedAt: number
}

type Window = { start: number; end: number }

export function planArchive(order: Order): Archive {
  const tag = createHmac('sha256', order.saltKey)
    .update('etag-1')
    .update(hashPassword(order.password))
  tag.update(order.modifiedAt.toISOString())
  const entries: ArchiveEntry[] = []
  let at = 0
  let directoryBytes = 0

  for (const packed of order.entries) {
    const path = `${order.folder}/${packed.path}`
    if (!isSafePath(packed.path) || !isSafePath(path))
      throw new Error(`unsafe name in a product: ${JSON.stringify(packed.path)}`)

    const entry: ArchiveEntry = {
      packed,
      name: Buffer.from(path),
      method: packed.method,
      sizeBytes: packed.sizeBytes,
      storedBytes: packed.packedBytes + SEAL_BYTES,
      modifiedAt: order.modifiedAt,
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
    tag.update(facts(entry))
  }
  for (const entry of entries) entry.listedAt += at

  return {
    sizeBytes: at + directoryBytes + directoryEnd(entries.length, at, directoryBytes).length,
    etag: `"${tag.digest('base64url').slice(0, 32)}"`,
    entries,
    directoryAt: at,
    directoryBytes,
    password: order.password,
    saltKey: order.saltKey,
  }
}

/**
 * Derives the salt from the entry's position and content. It depends on the content's hash, because
 * two contents with one salt would reveal their XOR.
 */
export function entrySalt(archive: Archive, entry: ArchiveEntry): Buffer {
  const mac = createHmac('sha256', archive.saltKey)
    .update('salt-1')
    .update(hashPassword(archive.password))
    .update(facts(entry))
  return mac.digest().subarray(0, SALT_BYTES)
}

function facts({ name, method, sizeBytes, executable, packed }: ArchiveEntry): string {
  return `${JSON.stringify([name.toString(), method, sizeBytes, packed.hash, executable])}\n`
}

function hashPassword(password: string): Buffer {
  return createHash('sha256').update(password).digest()
}

/**
 * The bytes [start, end) of the archive, in pieces of about 64–128 KB. Memory stays bounded by a
 * few pieces at any size. A range costs the entries it touches. An entry whose authentication code
 * is requested is read from its beginning, unless this process was writing it before.
 */
export async function* readArchive(
  archive: Archive,
  pack: PackReader,
  start = 0,
  end = archive.sizeBytes,
): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = []
  let waitingBytes = 0

  // Thousands of small files would otherwise be thousands of tiny writes.
  for await (const piece of pieces(archive, pack, { start, end })) {
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

async function* pieces(archive: Archive, pack: PackReader, window: Window): AsyncGenerator<Buffer> {
  const { entries } = archive
  const first =
    window.start < archive.directoryAt ? findLastEntry(entries, 'at', window.start) : entries.length
  const keys = keysAhead(archive, first, window.end)

  for (let index = first; index < entries.length; index++) {
    const entry = entries[index] as ArchiveEntry
    if (entry.at >= window.end) return
    yield* clip(localHeader(entry), entry.at, window)
    const bodyAt = entry.at + entry.headerBytes
    if (bodyAt < window.end && bodyAt + entry.storedBytes > window.start) {
      yield* entryBody(entry, await keys(index), pack, bodyAt, window)
    }
  }

  if (archive.directoryAt + archive.directoryBytes > window.start) {
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
  const end = directoryEnd(entries.length, archive.directoryAt, archive.directoryBytes)
  yield* clip(end, archive.directoryAt + archive.directoryBytes, window)
}

async function* entryBody(
  entry: ArchiveEntry,
  { salt, ...keys }: SaltedKeys,
  pack: PackReader,
  bodyAt: number,
  window: Window,
): AsyncGenerator<Buffer> {
  const { packed } = entry
  const dataAt = bodyAt + SALT_BYTES + VERIFIER_BYTES
  const codeAt = dataAt + packed.packedBytes
  yield* clip(Buffer.concat([salt, keys.verifier]), bodyAt, window)

  const codeAsked = codeAt < window.end && codeAt + CODE_BYTES > window.start
  const known = codeAsked ? codes.get(salt.toString('latin1')) : undefined
  const mac = codeAsked && !known ? resumeMac(salt, keys.macKey) : undefined
  const to = codeAsked ? packed.packedBytes : Math.min(packed.packedBytes, window.end - dataAt)
  const skipped = Math.min(Math.max(0, window.start - dataAt), to)
  const resumeAt = skipped === packed.packedBytes ? to : skipped - (skipped % BATCH_BYTES)
  const encrypt = entryCipher(keys.cipherKey, BATCH_BYTES)

  try {
    for (
      let position = mac ? Math.min(mac.position, resumeAt) : resumeAt;
      position < to;
      position += BATCH_BYTES
    ) {
      const batch = Buffer.allocUnsafeSlow(Math.min(BATCH_BYTES, packed.packedBytes - position))
      await pack.read(batch, packed.offset + position)
      encrypt(batch, position)
      if (mac?.position === position) advance(mac, batch)
      yield* clip(batch, dataAt + position, window)
    }
  } finally {
    // The reader may have stopped in the middle and request the rest later.
    if (mac) unfinished.set(salt.toString('latin1'), mac)
  }

  if (codeAsked) yield* clip(known ?? finish(salt, mac, keys.macKey), codeAt, window)
}

function* clip(bytes: Buffer, at: number, window: Window): Generator<Buffer> {
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

/**
 * Derives the keys of the next few entries while the current one is written, on the other cores.
 */
function keysAhead(
  archive: Archive,
  first: number,
  end: number,
): (index: number) => Promise<SaltedKeys> {
  const running = new Map<number, Promise<SaltedKeys>>()
  let next = first

  return (index) => {
    for (
      next = Math.max(next, index);
      next < Math.min(index + KEYS_AHEAD, archive.entries.length);
      next++
    ) {
      const entry = archive.entries[next] as ArchiveEntry
      if (next > index && entry.at >= end) break
      const keys = saltedKeys(archive, entry)
      keys.catch(() => {}) // reported to whoever awaits it; a reader that left must not end the process
      running.set(next, keys)
    }
    const keys = running.get(index) as Promise<SaltedKeys>
    running.delete(index)
    return keys
  }
}

type SaltedKeys = EntryKeys & { salt: Buffer }

async function saltedKeys(archive: Archive, entry: ArchiveEntry): Promise<SaltedKeys> {
  const salt = entrySalt(archive, entry)
  return { salt, ...(await deriveKeys(archive.password, salt)) }
}

/**
 * HMAC-SHA1 (RFC 2104) over a plain hash, because a Hash can be copied half-way and an Hmac cannot.
 */
type Mac = {
  inner: Hash
  /** The number of the entry's bytes that were hashed. */
  position: number
}

/**
 * Cache of the authentication codes of finished entries and the state of unfinished ones. Without
 * it, every resume would hash the entry from its beginning, which still happens after a change of
 * the process.
 */
const codes = new LRUCache<string, Buffer>({ max: CODES_MAX })
const unfinished = new LRUCache<string, Mac>({ max: UNFINISHED_MAX })

function resumeMac(salt: Buffer, macKey: Buffer): Mac {
  const unfinishedState = unfinished.get(salt.toString('latin1'))
  if (unfinishedState)
    return { inner: unfinishedState.inner.copy(), position: unfinishedState.position }
  return { inner: createHash('sha1').update(padded(macKey, 0x36)), position: 0 }
}

function advance(mac: Mac, batch: Buffer) {
  mac.inner.update(batch)
  mac.position += batch.length
}

function finish(salt: Buffer, mac: Mac | undefined, macKey: Buffer): Buffer {
  if (!mac) throw new Error('the authentication code was asked for without its entry')
  const inner = mac.inner.digest()
  const code = createHash('sha1')
    .update(padded(macKey, 0x5c))
    .update(inner)
    .digest()
    .subarray(0, CODE_BYTES)
  unfinished.delete(salt.toString('latin1'))
  codes.set(salt.toString('latin1'), code)
  return code
}

function padded(key: Buffer, filler: number): Buffer {
  const block = Buffer.alloc(64, filler)
  for (const [index, byte] of key.entries()) block[index] = byte ^ filler
  return block
}

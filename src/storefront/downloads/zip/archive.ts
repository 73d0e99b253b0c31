/**
 * Writes a release as an AES-256 ZIP (WinZip AE-2) for one buyer, any byte range of it on demand,
 * without a stored copy. The salts are derived instead of random, so that the same purchase always
 * gives the same bytes and a download can be resumed.
 */
import { createHash, createHmac, type Hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { BATCH_BYTES, deriveKeys, type EntryKeys, entryCipher } from './cipher.ts'
import {
  type ArchiveEntry,
  clip,
  findFirstEntry,
  type Layout,
  layOut,
  type PackedEntry,
  type PackReader,
  readLayout,
  type Window,
} from './layout.ts'
import { CODE_BYTES, SALT_BYTES, VERIFIER_BYTES } from './records.ts'

/** Of a part of an archive, the keys that are derived ahead. */
const KEYS_AHEAD = 64
const CODES_MAX = 20_000
const UNFINISHED_MAX = 2_000

export type Order = {
  entries: PackedEntry[]
  /** The top folder in the archive. Its name contains product, tier and release. */
  folder: string
  modifiedAt: Date
  password: string
  /** The server's secret that the salts are derived from. */
  saltKey: Buffer
}

export type Archive = Layout & {
  /** A strong ETag: the same tag means the same bytes. */
  etag: string
  password: string
  saltKey: Buffer
}

export function planArchive(order: Order): Archive {
  const layout = layOut(order.entries, { ...order, isEncrypted: true })
  const tag = createHmac('sha256', order.saltKey)
    .update('etag-1')
    .update(hashPassword(order.password))
  tag.update(order.modifiedAt.toISOString())
  for (const entry of layout.entries) tag.update(facts(entry))
  return {
    ...layout,
    etag: `"${tag.digest('base64url').slice(0, 32)}"`,
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
 * The bytes [start, end) of the archive. An entry whose authentication code is requested is read
 * from its beginning, unless this process was writing it before.
 */
export function readArchive(
  archive: Archive,
  pack: PackReader,
  start = 0,
  end = archive.sizeBytes,
): AsyncGenerator<Buffer> {
  const window = { start, end }
  const keys = keysAhead(archive, findFirstEntry(archive, window), end)
  return readLayout(archive, window, async function* (entry, index, bodyAt) {
    yield* entryBody(entry, await keys(index), pack, bodyAt, window)
  })
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
  const encrypt = entryCipher(keys.cipherKey)

  try {
    let position = mac ? Math.min(mac.position, resumeAt) : resumeAt
    for await (const batch of readBatches(pack, packed, position, to)) {
      const encrypted = encrypt(batch, position)
      if (mac?.position === position) advance(mac, encrypted)
      yield* clip(encrypted, dataAt + position, window)
      position += batch.length
    }
  } finally {
    // The reader may have stopped in the middle and request the rest later.
    if (mac) unfinished.set(salt.toString('latin1'), mac)
  }

  if (codeAsked) yield* clip(known ?? finish(salt, mac, keys.macKey), codeAt, window)
}

/**
 * Reads the packed bytes [from, to) in whole batches, each while the previous one is encrypted. A
 * batch is valid until the next is requested, because two buffers take turns.
 */
async function* readBatches(
  pack: PackReader,
  { offset, packedBytes }: PackedEntry,
  from: number,
  to: number,
): AsyncGenerator<Buffer> {
  const buffers: Buffer[] = []
  const read = async (position: number) => {
    const turn = ((position - from) / BATCH_BYTES) % 2
    const sizeBytes = Math.min(BATCH_BYTES, packedBytes - position)
    const buffer = buffers[turn] ?? Buffer.allocUnsafeSlow(sizeBytes)
    buffers[turn] = buffer
    const batch = buffer.subarray(0, sizeBytes)
    await pack.read(batch, offset + position)
    return batch
  }
  let ahead = from < to ? read(from) : null
  try {
    for (let position = from; ahead; ) {
      const batch: Buffer = await ahead
      position += BATCH_BYTES
      ahead = position < to ? read(position) : null
      yield batch
    }
  } finally {
    // A reader that stops in the middle closes the pack next.
    await ahead?.catch(() => {})
  }
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
      const keys = saltedKeys(archive, entry, archive.entries.length - first)
      keys.catch(() => {}) // reported to whoever awaits it; a reader that left must not end the process
      running.set(next, keys)
    }
    const keys = running.get(index) as Promise<SaltedKeys>
    running.delete(index)
    return keys
  }
}

type SaltedKeys = EntryKeys & { salt: Buffer }

async function saltedKeys(
  archive: Archive,
  entry: ArchiveEntry,
  ofArchive: number,
): Promise<SaltedKeys> {
  const salt = entrySalt(archive, entry)
  return { salt, ...(await deriveKeys(archive.password, salt, { ofArchive })) }
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

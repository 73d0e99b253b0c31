/**
 * Packs: the files of a release, deflated once and stored in one file. Every buyer's archive is
 * encrypted from it. Packs are in DATA_DIR/cache and may be deleted at any time, because they can
 * be created again from the product's files.
 */
import { createHash, type Hash, randomUUID } from 'node:crypto'
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, crc32, createDeflateRaw, deflateRaw } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { PackedEntry, PackReader } from './layout.ts'

const FORMAT = 4
/** Level 9 took 5 times as long for 2 % less on source code. */
const LEVEL = constants.Z_DEFAULT_COMPRESSION
const SAMPLE_BYTES = 256 * 1024
const SAMPLE_RATIO = 0.97
const WHOLE_BYTES_MAX = 1024 * 1024
/** Maximum of small files that are deflated at once: at most 16 MB. */
const AHEAD_MAX = 16
/** Small files are read together: each read would wait behind the derivation of keys. */
const BLOCK_BYTES = 128 * 1024
const UNUSED_MS = 30 * 24 * 3600_000
/** The time of a pack's last use is stored at most this often. */
const TOUCHED_MS = 3600_000
/** Total files of the indexes in memory, about 300 bytes each. */
const INDEXED_MAX = 100_000

export type PackSource = {
  path: string
  sizeBytes: number
  /** Changes when the content does. */
  tag: string
  executable: boolean
  open(): Promise<Readable>
}

export type Pack = {
  /** SHA-256 of the pack's bytes, also its file's name. */
  id: string
  sizeBytes: number
  entries: PackedEntry[]
}

export type OpenPack = PackReader & { close(): Promise<void> }

/**
 * Returns the pack of these files, from the cache or newly created. Simultaneous callers share the
 * work. @throws when a source cannot be read
 */
export function preparePack(cacheDir: string, sources: PackSource[]): Promise<Pack> {
  const index = indexFile(cacheDir, sources)
  const running = preparing.get(index)
  if (running) return running
  const pack = prepare(cacheDir, index, sources).finally(() => preparing.delete(index))
  preparing.set(index, pack)
  return pack
}

/** Returns the pack of these files if it exists. */
export function keptPack(cacheDir: string, sources: PackSource[]): Promise<Pack | undefined> {
  return readKept(cacheDir, indexFile(cacheDir, sources))
}

const preparing = new Map<string, Promise<Pack>>()

export async function openPack(cacheDir: string, pack: Pack): Promise<OpenPack> {
  const file = await open(packFile(cacheDir, pack.id))
  const fill = async (into: Buffer, position: number) => {
    for (let done = 0; done < into.length; ) {
      const { bytesRead } = await file.read(into, done, into.length - done, position + done)
      if (bytesRead === 0) throw new Error(`pack ${pack.id} is shorter than its index says`)
      done += bytesRead
    }
  }
  let block = { at: 0, bytes: Buffer.alloc(0) }
  return {
    async read(into, position) {
      if (into.length >= BLOCK_BYTES) return fill(into, position)
      let from = position - block.at
      if (from < 0 || from + into.length > block.bytes.length) {
        const bytes = Buffer.allocUnsafe(
          Math.max(into.length, Math.min(BLOCK_BYTES, pack.sizeBytes - position)),
        )
        await fill(bytes, position)
        block = { at: position, bytes }
        from = 0
      }
      block.bytes.copy(into, 0, from)
    },
    close: () => file.close(),
  }
}

async function prepare(cacheDir: string, index: string, sources: PackSource[]): Promise<Pack> {
  const cachedPack = await readKept(cacheDir, index)
  if (cachedPack) return cachedPack

  await mkdir(cacheDir, { recursive: true })
  const draft = join(cacheDir, `${randomUUID()}.draft`)
  try {
    const pack = await writePack(draft, sources)
    await rename(draft, packFile(cacheDir, pack.id))
    // The index is written last and atomically, so that an index always has a complete pack.
    await writeFile(draft, JSON.stringify(pack))
    await rename(draft, index)
    indexes.set(index, pack)
    await dropUnused(cacheDir)
    return pack
  } finally {
    await rm(draft, { force: true })
  }
}

/**
 * Cache of parsed indexes, because parsing one with 10,000 files takes longer than many partial
 * downloads.
 */
const indexes = new LRUCache<string, Pack>({
  maxSize: INDEXED_MAX,
  sizeCalculation: ({ entries }) => entries.length + 1,
})

async function readKept(cacheDir: string, index: string): Promise<Pack | undefined> {
  try {
    const pack = indexes.get(index) ?? (JSON.parse(await readFile(index, 'utf8')) as Pack)
    const file = packFile(cacheDir, pack.id)
    const { size, mtimeMs } = await stat(file)
    if (size !== pack.sizeBytes) return undefined
    indexes.set(index, pack)
    const now = new Date()
    if (now.getTime() - mtimeMs > TOUCHED_MS)
      await Promise.all([utimes(index, now, now), utimes(file, now, now)])
    return pack
  } catch {
    return undefined // absent or torn: it is made again
  }
}

async function writePack(path: string, sources: PackSource[]): Promise<Pack> {
  const file = await open(path, 'w')
  const whole = createHash('sha256')
  const entries: PackedEntry[] = []
  let offset = 0
  const small = sources.filter(isSmall)
  const ahead: Promise<Deflated>[] = []
  try {
    for (const source of sources) {
      // Reads ahead, because a bucket needs tens of milliseconds to start each of thousands of
      // files.
      while (ahead.length < AHEAD_MAX && small.length > 0)
        ahead.push(deflateAhead(small.shift() as PackSource))
      const made = isSmall(source) ? ahead.shift() : undefined
      const entry = await (made
        ? writeWhole(file, source, offset, whole, await made)
        : packStreaming(file, source, offset, whole))
      entries.push(entry)
      offset += entry.packedBytes
    }
    await file.sync()
  } finally {
    await Promise.allSettled(ahead)
    await file.close()
  }
  return { id: whole.digest('hex'), sizeBytes: offset, entries }
}

const deflate = promisify<Buffer, object, Buffer>(deflateRaw)

const isSmall = ({ sizeBytes }: PackSource): boolean => sizeBytes <= WHOLE_BYTES_MAX

type Deflated = { method: 0 | 8; sizeBytes: number; packed: Buffer; crc32: number }

/** A failure is reported when the file's turn comes. */
function deflateAhead(source: PackSource): Promise<Deflated> {
  const made = deflateWhole(source)
  made.catch(() => {})
  return made
}

async function deflateWhole(source: PackSource): Promise<Deflated> {
  const bytes = await buffer(await source.open())
  const deflated = await deflate(bytes, { level: LEVEL })
  const facts = { sizeBytes: bytes.length, crc32: crc32(bytes) }
  return deflated.length < bytes.length
    ? { ...facts, method: 8, packed: deflated }
    : { ...facts, method: 0, packed: bytes }
}

async function writeWhole(
  file: FileHandle,
  { path, executable }: PackSource,
  offset: number,
  whole: Hash,
  { packed, ...facts }: Deflated,
): Promise<PackedEntry> {
  await file.write(packed, 0, packed.length, offset)
  whole.update(packed)
  const hash = createHash('sha256').update(packed).digest('base64url')
  return { path, ...facts, packedBytes: packed.length, offset, hash, executable }
}

/**
 * Deflates only a sample of a large file first, because deflating a video or a model's weights
 * takes minutes and saves nothing.
 */
async function packStreaming(
  file: FileHandle,
  source: PackSource,
  offset: number,
  whole: Hash,
): Promise<PackedEntry> {
  const chunks: AsyncIterator<Buffer> = (await source.open())[Symbol.asyncIterator]()
  const head = await take(chunks, SAMPLE_BYTES)
  const isWorthIt = (await deflate(head, { level: LEVEL })).length < head.length * SAMPLE_RATIO

  const hash = createHash('sha256')
  let sizeBytes = 0
  let checksum = 0
  let packedBytes = 0
  async function* content() {
    try {
      for (let chunk: Buffer | null = head; chunk; chunk = await next(chunks)) {
        sizeBytes += chunk.length
        checksum = crc32(chunk, checksum)
        yield chunk
      }
    } finally {
      await chunks.return?.()
    }
  }
  async function write(packed: AsyncIterable<Buffer>) {
    for await (const chunk of packed) {
      await file.write(chunk, 0, chunk.length, offset + packedBytes)
      hash.update(chunk)
      whole.update(chunk)
      packedBytes += chunk.length
    }
  }
  if (isWorthIt)
    await pipeline(content, createDeflateRaw({ level: LEVEL, chunkSize: 64 * 1024 }), write)
  else await pipeline(content, write)

  const { path, executable } = source
  const method = isWorthIt ? 8 : 0
  return {
    path,
    method,
    sizeBytes,
    packedBytes,
    offset,
    hash: hash.digest('base64url'),
    crc32: checksum,
    executable,
  }
}

async function take(chunks: AsyncIterator<Buffer>, sizeBytes: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let offset = 0; offset < sizeBytes; ) {
    const chunk = await next(chunks)
    if (!chunk) break
    parts.push(chunk)
    offset += chunk.length
  }
  return Buffer.concat(parts)
}

async function next(chunks: AsyncIterator<Buffer>): Promise<Buffer | null> {
  const { value, done } = await chunks.next()
  return done ? null : value
}

/**
 * Removes packs that no download has used for a month, and drafts of crashed processes. A pack that
 * a reader has open stays readable.
 */
async function dropUnused(cacheDir: string) {
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name)
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs
    if (age > UNUSED_MS) await rm(path, { force: true })
  }
}

/** The name is a hash of the list of files, so that a changed file gives another pack. */
function indexFile(cacheDir: string, sources: PackSource[]): string {
  const name = names.get(sources) ?? computeCacheName(sources)
  names.set(sources, name)
  return join(cacheDir, `${name}.json`)
}

const names = new WeakMap<PackSource[], string>()

function computeCacheName(sources: PackSource[]): string {
  const listing = createHash('sha256').update(JSON.stringify([FORMAT, process.versions.zlib]))
  for (const { path, sizeBytes, tag, executable } of sources) {
    listing.update(JSON.stringify([path, sizeBytes, tag, executable]))
  }
  return listing.digest('hex')
}

function packFile(cacheDir: string, id: string): string {
  return join(cacheDir, `${id}.pack`)
}

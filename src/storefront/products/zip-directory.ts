/**
 * Reads the directory of a ZIP that somebody uploaded, and refuses every archive that unpacks
 * differently on another system or outside of its folder. Format: APPNOTE.TXT 6.3.10.
 */
import type { Bytes } from '#platform/content.ts'
import { isSafePath } from '../downloads/zip/entry-name.ts'
import { storefrontProblem } from '../problems.ts'

export type ZipEntry = {
  path: string
  isFolder: boolean
  isDeflated: boolean
  sizeBytes: number
  packedBytes: number
  crc32: number
  executable: boolean
  /** Where its packed bytes begin. */
  dataAt: number
}

/** `dataAt` is known after the local header was read. */
type Listed = Omit<ZipEntry, 'dataAt'> & { headerAt: number; rawName: Buffer; method: number }
type Directory = { count: number; at: number; bytes: number }

const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50

const ENTRIES_MAX = 50_000
const DIRECTORY_BYTES_MAX = 64 * 1024 * 1024
export const UNPACKED_BYTES_MAX = 8 * 1024 ** 3
/** Text packs to a tenth. Deflate ends at 1,032. */
const RATIO_MAX = 200
const RATIO_FROM_BYTES = 100 * 1024 * 1024

const ENCRYPTED_FLAGS = 0x2041
const UTF8_FLAG = 0x800
const UNIX = 3
const MAC = 19

export function refuse(reason: string, cause?: unknown): Error {
  return storefrontProblem('release_refused', { reason }, { cause })
}

/** Returns the entries in the order of their bytes. @throws Problem `release_refused` */
export async function readZipDirectory(zip: Bytes): Promise<ZipEntry[]> {
  const directory = await findDirectory(zip)
  const listed = parseEntries(await read(zip, directory.at, directory.bytes), directory.count)
  checkNames(listed)
  checkSizes(zip, listed)
  return locateEntries(zip, listed, directory.at)
}

async function findDirectory(zip: Bytes): Promise<Directory> {
  const tailAt = Math.max(0, zip.sizeBytes - 22 - 0xffff)
  const tail = await read(zip, tailAt, zip.sizeBytes - tailAt)
  let at = tail.length - 22
  // The end record's comment must reach exactly to the end, so that every program finds this one.
  while (
    at >= 0 &&
    !(tail.readUInt32LE(at) === END && tail.readUInt16LE(at + 20) === tail.length - at - 22)
  )
    at--
  if (at < 0) throw refuse('it is no ZIP, or its end is missing')
  const end = tail.subarray(at)
  const short = {
    disk: end.readUInt16LE(4),
    count: end.readUInt16LE(10),
    bytes: end.readUInt32LE(12),
    at: end.readUInt32LE(16),
  }
  if (short.disk !== 0 && short.disk !== 0xffff) throw refuse('it is one part of several')
  const endAt = tailAt + at
  const isLong = short.count === 0xffff || short.bytes === 0xffffffff || short.at === 0xffffffff
  const directory = isLong ? await findLongDirectory(zip, endAt) : { ...short, endAt }
  if (directory.count > ENTRIES_MAX) throw refuse(`it has more than ${ENTRIES_MAX} entries`)
  if (directory.bytes > DIRECTORY_BYTES_MAX) throw refuse('its directory is too large')
  if (directory.at + directory.bytes !== directory.endAt)
    throw refuse('it has bytes that belong to no entry')
  return directory
}

/** ZIP64: sections 4.3.14 and 4.3.15. */
async function findLongDirectory(
  zip: Bytes,
  endAt: number,
): Promise<Directory & { endAt: number }> {
  const locator = await read(zip, endAt - 20, 20)
  if (locator.readUInt32LE(0) !== LOCATOR_64) throw refuse('its ZIP64 record is missing')
  const at = readSize(locator, 8)
  const record = await read(zip, at, 56)
  if (record.readUInt32LE(0) !== END_64) throw refuse('its ZIP64 record is missing')
  return {
    count: readSize(record, 32),
    bytes: readSize(record, 40),
    at: readSize(record, 48),
    endAt: at,
  }
}

function parseEntries(bytes: Buffer, count: number): Listed[] {
  const entries: Listed[] = []
  let at = 0
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== CENTRAL) throw damaged()
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
      bytes.readUInt16LE(at + field),
    ) as [number, number, number]
    const next = at + 46 + nameBytes + extraBytes + commentBytes
    if (next > bytes.length) throw damaged()
    entries.push(parseEntry(bytes.subarray(at, next), nameBytes, extraBytes))
    at = next
  }
  if (at !== bytes.length) throw damaged()
  return entries
}

function parseEntry(record: Buffer, nameBytes: number, extraBytes: number): Listed {
  const rawName = record.subarray(46, 46 + nameBytes)
  const flags = record.readUInt16LE(8)
  const name = decodeName(rawName, flags)
  const quoted = `'${name.slice(0, 200)}'`
  if (flags & ENCRYPTED_FLAGS) throw refuse(`${quoted} is encrypted`)
  const method = record.readUInt16LE(10)
  if (method !== 0 && method !== 8)
    throw refuse(`${quoted} is compressed by method ${method}; store or deflate it`)
  const mode = readUnixMode(record)
  const type = mode & 0o170000
  if (type === 0o120000) throw refuse(`${quoted} is a symbolic link`)
  if (type !== 0 && type !== 0o100000 && type !== 0o040000)
    throw refuse(`${quoted} is no ordinary file`)
  const isFolder = name.endsWith('/') || type === 0o040000
  const path = name.replace(/\/$/, '')
  const extra = record.subarray(46 + nameBytes, 46 + nameBytes + extraBytes)
  const entry = {
    path,
    isFolder,
    method,
    isDeflated: method === 8,
    crc32: record.readUInt32LE(16),
    executable: (mode & 0o100) !== 0,
    rawName,
    ...readSizes(record, extra),
  }
  if (isFolder && entry.sizeBytes > 0) throw refuse(`the folder ${quoted} has content`)
  return entry
}

function decodeName(raw: Buffer, flags: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw)
  } catch (cause) {
    const says = flags & UTF8_FLAG ? 'is damaged' : 'is not UTF-8'
    throw refuse(`the name '${raw.toString('latin1').slice(0, 200)}' ${says}`, cause)
  }
}

function readUnixMode(record: Buffer): number {
  const host = record.readUInt16LE(4) >> 8
  return host === UNIX || host === MAC ? record.readUInt32LE(38) >>> 16 : 0
}

/** The ZIP64 field has only the values that do not fit, in this order (section 4.5.3). */
function readSizes(record: Buffer, extra: Buffer) {
  const short = [24, 20, 42].map((field) => record.readUInt32LE(field))
  const long = findLongField(extra)
  let at = 0
  const [sizeBytes = 0, packedBytes = 0, headerAt = 0] = short.map((value) => {
    if (value !== 0xffffffff) return value
    if (long === null || at + 8 > long.length) throw damaged()
    at += 8
    return readSize(long, at - 8)
  })
  return { sizeBytes, packedBytes, headerAt }
}

function findLongField(extra: Buffer): Buffer | null {
  for (let at = 0; at + 4 <= extra.length; ) {
    const bytes = extra.readUInt16LE(at + 2)
    if (extra.readUInt16LE(at) === 1) return extra.subarray(at + 4, at + 4 + bytes)
    at += 4 + bytes
  }
  return null
}

/** @throws Problem for names that leave the folder, or that not every system can unpack beside each other */
function checkNames(entries: readonly Listed[]): void {
  const files = new Map<string, string>()
  for (const { path, isFolder } of entries) {
    if (!isSafePath(path)) throw refuse(`the name '${path.slice(0, 200)}' ${describeName(path)}`)
    if (isFolder) continue
    const earlier = files.get(foldName(path))
    if (earlier !== undefined)
      throw refuse(
        earlier === path
          ? `'${path}' is in it twice`
          : `'${earlier}' and '${path}' are one file on some systems`,
      )
    files.set(foldName(path), path)
  }
  for (const { path } of entries) {
    const folders = foldName(path).split('/').slice(0, -1)
    for (let depth = 1; depth <= folders.length; depth++) {
      const file = files.get(folders.slice(0, depth).join('/'))
      if (file !== undefined) throw refuse(`'${file}' is a file and a folder`)
    }
  }
}

function describeName(path: string): string {
  if (path.startsWith('/') || /^[a-zA-Z]:/.test(path)) return 'is an absolute path'
  if (path.split(/[/\\]/).includes('..')) return 'leads out of its folder'
  return path.includes('\\') ? 'has a backslash' : 'cannot be unpacked on every system'
}

/** macOS and Windows compare names without case, and macOS without the form of accents. */
const foldName = (path: string) => path.normalize('NFC').toLowerCase()

function checkSizes(zip: Bytes, entries: readonly Listed[]): void {
  const unpacked = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (unpacked > UNPACKED_BYTES_MAX)
    throw refuse(`it unpacks to more than ${UNPACKED_BYTES_MAX / 1024 ** 3} GB`)
  if (unpacked > RATIO_FROM_BYTES && unpacked > RATIO_MAX * zip.sizeBytes)
    throw refuse(`it unpacks to more than ${RATIO_MAX} times its size`)
}

/** Reads the local headers, which other programs read instead of the directory. */
async function locateEntries(
  zip: Bytes,
  listed: readonly Listed[],
  directoryAt: number,
): Promise<ZipEntry[]> {
  const entries: ZipEntry[] = []
  let freeFrom = 0
  for (const entry of listed.toSorted((a, b) => a.headerAt - b.headerAt)) {
    const { headerAt, rawName, method, ...rest } = entry
    if (headerAt < freeFrom) throw refuse(`'${entry.path}' overlaps another entry`)
    const header = await read(zip, headerAt, 30 + rawName.length)
    if (
      header.readUInt32LE(0) !== LOCAL ||
      header.readUInt16LE(8) !== method ||
      header.readUInt16LE(6) & ENCRYPTED_FLAGS ||
      header.readUInt16LE(26) !== rawName.length ||
      !header.subarray(30).equals(rawName)
    )
      throw refuse(`'${entry.path}' is described in two ways`)
    const dataAt = headerAt + 30 + rawName.length + header.readUInt16LE(28)
    freeFrom = dataAt + entry.packedBytes
    if (freeFrom > directoryAt) throw damaged()
    entries.push({ ...rest, dataAt })
  }
  return entries
}

async function read(zip: Bytes, at: number, bytes: number): Promise<Buffer> {
  if (at < 0 || at + bytes > zip.sizeBytes) throw damaged()
  const found = await zip.read(at, at + bytes)
  return Buffer.from(found.buffer, found.byteOffset, found.byteLength)
}

function readSize(bytes: Buffer, at: number): number {
  const size = bytes.readBigUInt64LE(at)
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged()
  return Number(size)
}

export const damaged = (cause?: unknown) => refuse('it is damaged', cause)

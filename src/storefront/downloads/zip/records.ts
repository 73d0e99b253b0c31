/**
 * The records of a ZIP file, byte by byte: APPNOTE.TXT 6.3.10 (sections 4.3 and 4.5) and WinZip's
 * AE-2 note. AE-2 leaves the CRC at 0, since the authentication code already covers the content.
 */

const UINT16_MAX = 0xffff
const UINT32_MAX = 0xffffffff
const VERSION_AES = 51
const VERSION_ZIP64 = 45
const VERSION_PLAIN = 20
const MADE_BY_UNIX = (3 << 8) | VERSION_AES
const FLAG_ENCRYPTED = 0x0001
const FLAG_UTF8 = 0x0800
const METHOD_AES = 99
const AES_EXTRA_BYTES = 11
const TIME_EXTRA_BYTES = 9
const MODE_FILE = 0o100644
const MODE_PROGRAM = 0o100755

export const SALT_BYTES = 16
export const VERIFIER_BYTES = 2
export const CODE_BYTES = 10
/** The bytes that encryption adds to an entry. */
export const SEAL_BYTES = SALT_BYTES + VERIFIER_BYTES + CODE_BYTES

/** 0 stored, 8 deflated. */
export type Method = 0 | 8

export type EntryRecord = {
  /** UTF-8, at most 65,535 bytes. */
  name: Buffer
  method: Method
  /** Size in bytes after unpacking. */
  sizeBytes: number
  /** Size in bytes in the archive, including salt, verifier and code. */
  storedBytes: number
  /** CRC-32 of the unpacked bytes; null for an encrypted entry. */
  crc32: number | null
  modifiedAt: Date
  executable: boolean
  /** Offset of the local header. */
  at: number
}

export function localHeader(entry: EntryRecord): Buffer {
  const wide = entry.sizeBytes >= UINT32_MAX || entry.storedBytes >= UINT32_MAX
  const extra = Buffer.concat([
    wide ? zip64Extra([entry.sizeBytes, entry.storedBytes]) : Buffer.alloc(0),
    extras(entry),
  ])
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  writeMethod(head, entry, 4)
  head.writeUInt32LE(dosTime(entry.modifiedAt), 10)
  head.writeUInt32LE(entry.crc32 ?? 0, 14)
  head.writeUInt32LE(wide ? UINT32_MAX : entry.storedBytes, 18)
  head.writeUInt32LE(wide ? UINT32_MAX : entry.sizeBytes, 22)
  head.writeUInt16LE(entry.name.length, 26)
  head.writeUInt16LE(extra.length, 28)
  return Buffer.concat([head, entry.name, extra])
}

/**
 * Computes the lengths of localHeader and directoryHeader without building them, because a release
 * may contain tens of thousands of files.
 */
export function headerLengths(entry: EntryRecord): { local: number; listed: number } {
  const overflows = [entry.sizeBytes, entry.storedBytes, entry.at].filter(
    (value) => value >= UINT32_MAX,
  ).length
  const wide = entry.sizeBytes >= UINT32_MAX || entry.storedBytes >= UINT32_MAX
  const extraBytes = TIME_EXTRA_BYTES + (entry.crc32 === null ? AES_EXTRA_BYTES : 0)
  return {
    local: 30 + entry.name.length + extraBytes + (wide ? 20 : 0),
    listed: 46 + entry.name.length + extraBytes + (overflows > 0 ? 4 + overflows * 8 : 0),
  }
}

export function directoryHeader(entry: EntryRecord): Buffer {
  // Unlike in the local header, only fields that overflow move to the Zip64 record, in this order.
  const wide = [entry.sizeBytes, entry.storedBytes, entry.at].filter((value) => value >= UINT32_MAX)
  const extra = Buffer.concat([wide.length > 0 ? zip64Extra(wide) : Buffer.alloc(0), extras(entry)])
  const head = Buffer.alloc(46)
  head.writeUInt32LE(0x02014b50, 0)
  head.writeUInt16LE(MADE_BY_UNIX, 4)
  writeMethod(head, entry, 6)
  head.writeUInt32LE(dosTime(entry.modifiedAt), 12)
  head.writeUInt32LE(entry.crc32 ?? 0, 16)
  head.writeUInt32LE(Math.min(entry.storedBytes, UINT32_MAX), 20)
  head.writeUInt32LE(Math.min(entry.sizeBytes, UINT32_MAX), 24)
  head.writeUInt16LE(entry.name.length, 28)
  head.writeUInt16LE(extra.length, 30)
  head.writeUInt32LE((entry.executable ? MODE_PROGRAM : MODE_FILE) * 0x10000, 38)
  head.writeUInt32LE(Math.min(entry.at, UINT32_MAX), 42)
  return Buffer.concat([head, entry.name, extra])
}

/**
 * Returns the end of the central directory, preceded by its Zip64 form when a number does not fit.
 */
export function directoryEnd(entries: number, directoryAt: number, directoryBytes: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(entries, UINT16_MAX), 8)
  end.writeUInt16LE(Math.min(entries, UINT16_MAX), 10)
  end.writeUInt32LE(Math.min(directoryBytes, UINT32_MAX), 12)
  end.writeUInt32LE(Math.min(directoryAt, UINT32_MAX), 16)
  if (entries < UINT16_MAX && directoryAt < UINT32_MAX && directoryBytes < UINT32_MAX) return end

  const wide = Buffer.alloc(56)
  wide.writeUInt32LE(0x06064b50, 0)
  wide.writeBigUInt64LE(44n, 4)
  wide.writeUInt16LE(MADE_BY_UNIX, 12)
  wide.writeUInt16LE(VERSION_AES, 14)
  wide.writeBigUInt64LE(BigInt(entries), 24)
  wide.writeBigUInt64LE(BigInt(entries), 32)
  wide.writeBigUInt64LE(BigInt(directoryBytes), 40)
  wide.writeBigUInt64LE(BigInt(directoryAt), 48)

  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(directoryAt + directoryBytes), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([wide, locator, end])
}

/** Writes the version that can unpack the entry, its flags and its method. */
function writeMethod(head: Buffer, entry: EntryRecord, at: number): void {
  const isEncrypted = entry.crc32 === null
  const isWide = [entry.sizeBytes, entry.storedBytes, entry.at].some((size) => size >= UINT32_MAX)
  head.writeUInt16LE(isEncrypted ? VERSION_AES : isWide ? VERSION_ZIP64 : VERSION_PLAIN, at)
  head.writeUInt16LE(isEncrypted ? FLAG_UTF8 | FLAG_ENCRYPTED : FLAG_UTF8, at + 2)
  head.writeUInt16LE(isEncrypted ? METHOD_AES : entry.method, at + 4)
}

function extras(entry: EntryRecord): Buffer {
  const time = Buffer.alloc(TIME_EXTRA_BYTES)
  time.writeUInt16LE(0x5455, 0) // Unix time, since DOS time knows no zone
  time.writeUInt16LE(5, 2)
  time.writeUInt8(1, 4)
  time.writeInt32LE(Math.min(Math.floor(entry.modifiedAt.getTime() / 1000), 0x7fffffff), 5)
  if (entry.crc32 !== null) return time

  const aes = Buffer.alloc(AES_EXTRA_BYTES)
  aes.writeUInt16LE(0x9901, 0)
  aes.writeUInt16LE(7, 2)
  aes.writeUInt16LE(2, 4) // AE-2
  aes.write('AE', 6, 'latin1')
  aes.writeUInt8(3, 8) // 256 bits
  aes.writeUInt16LE(entry.method, 9)
  return Buffer.concat([aes, time])
}

function zip64Extra(values: number[]): Buffer {
  const extra = Buffer.alloc(4 + values.length * 8)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(values.length * 8, 2)
  values.forEach((value, index) => {
    extra.writeBigUInt64LE(BigInt(value), 4 + index * 8)
  })
  return extra
}

/** Returns the DOS time: two-second steps since 1980, with the date in the high half. */
function dosTime(at: Date): number {
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107)
  const date = ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return date * 0x10000 + time
}

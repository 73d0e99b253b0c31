// Reads single entries of a ZIP, each inflated up to a limit, which caps the cost of a ZIP bomb.
// Headers may be forged, so only inflated bytes count.
import { inflateRawSync } from 'node:zlib'
import { Unreadable } from './unreadable.ts'

const END = 0x06054b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const ENTRIES_MAX = 10_000
/** Limit of all inflated bytes, counted at each read: a file may name a part a thousand times. */
const UNPACKED_MAX = 1_000_000_000

type Entry = { method: number; flags: number; packed: number; at: number }

export type Zip = {
  names: string[]
  /** Undefined without such an entry. As in Word, case and the kind of slash do not matter. */
  read(name: string, bytesMax: number): Uint8Array | undefined
}

export function openZip(bytes: Uint8Array): Zip {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = readDirectory(view, bytes)
  let unpacked = 0

  return {
    names: [...entries.keys()],
    read(name, bytesMax) {
      const entry = entries.get(toKey(name))
      if (entry === undefined) return undefined
      const part = inflate(view, bytes, entry, bytesMax)
      unpacked += part.length
      if (unpacked > UNPACKED_MAX)
        throw new Unreadable(
          'The file holds too much: its parts unpack to more than 1 GB. Split it and send the parts.',
        )
      return part
    },
  }
}

function readDirectory(view: DataView, bytes: Uint8Array): Map<string, Entry> {
  const end = findEnd(view)
  const count = view.getUint16(end + 10, true)
  if (count > ENTRIES_MAX)
    throw new Unreadable(`The file holds too much: it has more than ${ENTRIES_MAX} parts.`)
  const entries = new Map<string, Entry>()
  let at = view.getUint32(end + 16, true)

  for (let i = 0; i < count; i++) {
    if (at + 46 > view.byteLength || view.getUint32(at, true) !== CENTRAL)
      throw createDamagedError()
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    entries.set(toKey(name), {
      flags: view.getUint16(at + 8, true),
      method: view.getUint16(at + 10, true),
      packed: view.getUint32(at + 20, true),
      at: view.getUint32(at + 42, true),
    })
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

/** The end record is the last 22 bytes and a comment of up to 64 KB. */
function findEnd(view: DataView): number {
  for (let at = view.byteLength - 22; at >= 0 && at >= view.byteLength - 22 - 65_535; at--) {
    if (view.getUint32(at, true) === END) return at
  }
  throw createDamagedError()
}

function inflate(view: DataView, bytes: Uint8Array, entry: Entry, bytesMax: number): Uint8Array {
  if (entry.flags & 1)
    throw new Unreadable('The file is encrypted. Save it without a password and send it again.')
  if (entry.at + 30 > view.byteLength || view.getUint32(entry.at, true) !== LOCAL)
    throw createDamagedError()
  const start =
    entry.at + 30 + view.getUint16(entry.at + 26, true) + view.getUint16(entry.at + 28, true)
  const packed = bytes.subarray(start, start + entry.packed)

  if (entry.method === 0) {
    if (packed.length > bytesMax) throw createTooLargeError(bytesMax)
    return packed
  }
  if (entry.method !== 8) throw createDamagedError()
  try {
    return inflateRawSync(packed, { maxOutputLength: bytesMax })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw createTooLargeError(bytesMax)
    throw createDamagedError(error)
  }
}

function toKey(name: string): string {
  return name.replaceAll('\\', '/').replace(/^\/+/, '').toLowerCase()
}

function createTooLargeError(bytesMax: number): Unreadable {
  return new Unreadable(
    `The file holds too much: one part of it unpacks to more than ${Math.round(bytesMax / 1e6)} MB.`,
  )
}

function createDamagedError(cause?: unknown): Unreadable {
  return new Unreadable('The file is damaged: its contents cannot be unpacked.', { cause })
}

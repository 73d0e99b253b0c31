/** Bytes wherever they lie: few in memory, many in a file, which threads read for themselves. */
import { readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Bytes that are read from where they lie, a part at a time. */
export type Bytes = {
  sizeBytes: number
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>
}

/** In memory where they are few, else a file's path; both can be sent to a thread. */
export type Place = Uint8Array | string

export type Content = Bytes & {
  place: Place
  /** Removes the content once all readers have finished. A second call does nothing. */
  remove(): void
}

export function inMemory(bytes: Uint8Array): Content {
  return {
    sizeBytes: bytes.byteLength,
    place: bytes,
    read: (from, to) => bytes.subarray(from, to),
    remove() {},
  }
}

export function inFile(path: string, sizeBytes: number): Content {
  return {
    sizeBytes,
    place: path,
    async read(from, to) {
      const bytes = new Uint8Array(Math.max(0, Math.min(to, sizeBytes) - from))
      const handle = await open(path, 'r')
      try {
        for (let at = 0; at < bytes.length; ) {
          const { bytesRead } = await handle.read(bytes, at, bytes.length - at, from + at)
          if (bytesRead === 0) throw new Error('a temporary file is shorter than it was')
          at += bytesRead
        }
      } finally {
        await handle.close()
      }
      return bytes
    },
    remove: () => rmSync(path, { force: true }),
  }
}

/**
 * Reads the whole content, on a thread that may wait for the disk. Never returns a Buffer, which
 * pdf.js rejects.
 */
export function readBytes(place: Place): Uint8Array {
  if (typeof place !== 'string') return place
  const { buffer, byteOffset, byteLength } = readFileSync(place)
  return new Uint8Array(buffer, byteOffset, byteLength)
}

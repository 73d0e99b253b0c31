/**
 * Content of any size: small content is in memory, large content in a file that threads read
 * themselves.
 */
import { readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Bytes in memory or in a file, read in parts. */
export type Bytes = {
  sizeBytes: number
  read(from: number, to: number): Uint8Array | Promise<Uint8Array>
}

/** The bytes, or the path of the file that contains them. Both can be sent to a thread. */
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

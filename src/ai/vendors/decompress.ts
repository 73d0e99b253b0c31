// Decompresses vendors' answers, for servers that compress unasked, flushing at once for streams.
import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = constants

/** Returns undefined for an unknown encoding. `first`: the byte that shows the deflate variant. */
export function createDecoder(encoding: string, first: Buffer): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ flush: Z_SYNC_FLUSH })
    case 'deflate':
      // Some servers send zlib's two header bytes, as RFC 9110 (8.4.1.2) says, and some do not.
      return ((first[0] ?? 0) & 0x0f) === 8
        ? createInflate({ flush: Z_SYNC_FLUSH })
        : createInflateRaw({ flush: Z_SYNC_FLUSH })
    case 'br':
      return createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH })
    case 'zstd':
      return createZstdDecompress({ flush: ZSTD_e_flush })
    default:
      return undefined
  }
}

/** Reads a Content-Encoding header; empty for a plain answer. */
export function readEncoding(header: string | string[] | undefined): string {
  const encoding = String(header ?? '')
    .trim()
    .toLowerCase()
  return encoding === 'identity' ? '' : encoding
}

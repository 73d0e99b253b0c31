/**
 * Unpacks compressed bodies (`Content-Encoding`) as they arrive. A kilobyte may unpack to a
 * gigabyte, so the size is checked after each chunk, before the next is unpacked.
 */
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import type { Problem } from '../problem.ts'
import { platformProblem } from '../problems.ts'

/** RFC 9659 allows zstd windows up to 8 MB. The whole window is in memory. */
const ZSTD_WINDOW_LOG_MAX = 23

const UNPACKERS = {
  gzip: createGunzip,
  // The old name of gzip (RFC 9110, section 8.4.1.3).
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () =>
    createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX } }),
} as const

type Encoding = keyof typeof UNPACKERS

const ACCEPTED = 'gzip, deflate, br, zstd'

/**
 * Returns the encoding of the body; null for an unencoded one.
 * @throws Problem 415 for an unknown encoding, and for a route that accepts no compressed bodies
 */
export function readEncoding(
  { headers }: Pick<IncomingMessage, 'headers'>,
  isTaken: boolean,
): Encoding | null {
  const header = headers['content-encoding']
  if (header === undefined) return null
  const encoding = header.trim().toLowerCase()
  if (encoding === '' || encoding === 'identity') return null
  if (isTaken && Object.hasOwn(UNPACKERS, encoding)) return encoding as Encoding
  throw platformProblem(
    'encoding_unsupported',
    { wanted: isTaken ? `one of ${ACCEPTED}` : 'the body as it is' },
    { headers: { 'Accept-Encoding': isTaken ? ACCEPTED : 'identity' } },
  )
}

/**
 * Returns the stream that a parser reads in place of the request. `judge` receives the number of
 * bytes so far, packed or unpacked, whichever is larger (some packed bytes unpack to nothing). A
 * problem that it returns ends the stream.
 */
export function unpacked(
  raw: IncomingMessage,
  encoding: Encoding,
  judge: (bytes: number) => Problem | null,
): Transform {
  const unpacker = UNPACKERS[encoding]()
  let packedBytes = 0
  let bytes = 0
  const out = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      bytes += chunk.length
      const refusal = judge(Math.max(bytes, packedBytes))
      if (refusal === null) next(null, chunk)
      else next(refusal)
    },
  })
  // Fastify compares these bytes with Content-Length.
  Object.defineProperty(out, 'receivedEncodedLength', { get: () => packedBytes })

  // `pipe` does not forward errors.
  raw.on('error', (error) => out.destroy(error))
  unpacker.on('error', (cause) =>
    out.destroy(platformProblem('body_not_unpacked', { encoding }, { cause })),
  )
  // The reader's listeners are active until it releases the stream.
  out.on('error', () => {})
  out.once('close', () => {
    raw.unpipe(unpacker)
    unpacker.destroy()
    raw.resume()
  })
  raw.on('data', (chunk: Buffer) => {
    packedBytes += chunk.length
    const refusal = judge(Math.max(bytes, packedBytes))
    if (refusal !== null) out.destroy(refusal)
  })
  raw.pipe(unpacker).pipe(out)
  return out
}

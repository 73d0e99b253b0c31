import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Transform, type Writable } from 'node:stream'
import type { Written } from './place.ts'

/** Passes bytes on, and knows afterwards how many there were and their SHA-256. */
export function metered(): { meter: Transform; written(): Written } {
  const hash = createHash('sha256')
  let bytes = 0
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      bytes += chunk.length
      done(null, chunk)
    },
  })
  return { meter, written: () => ({ bytes, sha256: hash.digest('hex') }) }
}

/** A file of its owner's alone, which the disk has when it is closed, where it is to stay. */
export const diskSink = (path: string, { flush }: { flush: boolean }): Writable =>
  createWriteStream(path, { mode: 0o600, flush })

/** Reads to the end, for the sum alone. */
export async function sumOf(content: AsyncIterable<Buffer>): Promise<Written> {
  const { meter, written } = metered()
  meter.resume()
  for await (const chunk of content) {
    if (!meter.write(chunk)) await new Promise((resolve) => meter.once('drain', resolve))
  }
  await new Promise<void>((resolve) => meter.end(resolve))
  return written()
}

export const sumOfFile = (path: string): Promise<Written> => sumOf(createReadStream(path))

/** Backups in an S3 bucket. */
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import {
  type Bucket,
  foldersBelow,
  getObject,
  openBucket,
  PART_BYTES,
  putObject,
  type S3Settings,
} from '#platform/s3/bucket.ts'
import type { Place } from './place.ts'
import { metered } from './streams.ts'

/** @throws Error with a sentence where the address or the credentials are wrong. */
export function bucketPlace(address: string, s3: S3Settings, partBytes = PART_BYTES): Place {
  const { bucket, prefix } = openBucket(address, s3, 'a backup is never public')
  return placeAt(bucket, prefix, partBytes)
}

function placeAt(bucket: Bucket, prefix: string, partBytes: number): Place {
  const keyOf = (path: string) => (prefix === '' ? path : `${prefix}/${path}`)

  return {
    address: `s3://${bucket.name}/${prefix}`,
    write: (path, content) => upload(bucket, keyOf(path), content, partBytes),

    async take(path, file) {
      const written = await upload(bucket, keyOf(path), createReadStream(file), partBytes)
      await rm(file)
      return written
    },
    scratch: () => mkdtemp(join(tmpdir(), 'latchkey-backup-')),

    async read(path) {
      const body = await getObject(bucket, keyOf(path))
      if (body === null) throw new Error(`s3://${bucket.name}/${keyOf(path)} is missing`)
      return body
    },

    async text(path) {
      const body = await getObject(bucket, keyOf(path))
      return body === null ? null : await text(body)
    },

    folders: () => foldersBelow(bucket, prefix === '' ? '' : `${prefix}/`),
    below: (name) => placeAt(bucket, keyOf(name), partBytes),
  }
}

async function upload(bucket: Bucket, key: string, content: Readable, partBytes: number) {
  const { meter, written } = metered()
  content.once('error', (error) => meter.destroy(error))
  await putObject(bucket, key, content.pipe(meter), partBytes)
  return written()
}

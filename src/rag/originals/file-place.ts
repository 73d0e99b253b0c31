/** The storage of originals, each under its id: a folder that all nodes share, or a bucket. */
import { createReadStream, createWriteStream, openSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Db } from '#platform/db/db.ts'
import { makeFolder } from '#platform/folder.ts'
import {
  getObject,
  openPrivateBucket,
  putObject,
  removeObject,
  type S3Settings,
} from '#platform/s3/bucket.ts'
import { claimFolder, requireMark } from './folder-mark.ts'

export type FilePlace = {
  /** Writes the file completely or not at all; it is on the disk when this returns. */
  write(id: string, content: AsyncIterable<Buffer>): Promise<void>
  /** Returns null when there is no such file. */
  read(id: string): Promise<Readable | null>
  /** Also the rest of a killed write. Throws where the file may exist but cannot be reached. */
  remove(id: string): Promise<void>
}

/** @throws Error for a bucket without credentials, or a folder that other nodes lack */
export async function openFilePlace(db: Db, location: string, s3: S3Settings): Promise<FilePlace> {
  if (!location.startsWith('s3://')) return folderPlace(location, await claimFolder(db, location))
  const { bucket, prefix } = openPrivateBucket(location, s3, 'what users upload is never public')
  const buildObjectKey = (id: string) => (prefix === '' ? id : `${prefix}/${id}`)
  return {
    write: (id, content) => putObject(bucket, buildObjectKey(id), content),
    read: (id) => getObject(bucket, buildObjectKey(id)),
    remove: (id) => removeObject(bucket, buildObjectKey(id)),
  }
}

function folderPlace(root: string, mark: string): FilePlace {
  const at = (id: string) => join(root, id.slice(0, 2), id)
  return {
    async write(id, content) {
      await requireMark(root, mark)
      makeFolder(dirname(at(id)))
      await pipeline(
        Readable.from(content),
        createWriteStream(partial(at(id)), { mode: 0o600, flush: true }),
      )
      await rename(partial(at(id)), at(id))
    },
    async read(id) {
      try {
        return createReadStream('', { fd: openSync(at(id), 'r') })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
    async remove(id) {
      // In a wrong folder every file is missing: the job fails and is retried.
      await requireMark(root, mark)
      await rm(partial(at(id)), { force: true })
      await rm(at(id), { force: true })
    },
  }
}

const partial = (path: string) => `${path}.partial`

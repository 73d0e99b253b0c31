import { text } from 'node:stream/consumers'
import {
  getObject,
  listFolders,
  listObjects,
  openBucket,
  putObject,
  removeObject,
  type S3Settings,
} from '#platform/s3/bucket.ts'
import { isSafePath } from '../downloads/zip/entry-name.ts'
import { type FileStore, isLitter, type LeaveOut, type StoredFile } from './file-store.ts'

/** Product files in an S3 bucket, which may be public. */
export function s3Store(
  location: string,
  s3: S3Settings,
  leaveOut: LeaveOut = () => {},
): FileStore {
  const { bucket, prefix } = openBucket(location, s3)
  const toKey = (path: string) => [prefix, path].filter((part) => part !== '').join('/')

  return {
    folders: (under) => listFolders(bucket, `${toKey(under)}/`),

    async files(under) {
      const base = `${toKey(under)}/`
      const files = (await listObjects(bucket, base)).map(
        ({ key, sizeBytes, etag, modifiedAt }): StoredFile => ({
          path: key.slice(base.length),
          sizeBytes,
          tag: etag,
          modifiedAt,
          executable: false,
          open: async () =>
            (await getObject(bucket, key)) ?? Promise.reject(new Error(`${key} left the bucket`)),
        }),
      )
      const delivered = files.filter(({ path }) => !isLitter(path))
      for (const { path } of delivered) {
        if (!isSafePath(path))
          leaveOut(`${under}/${path}`, 'its name cannot be unpacked on every system')
      }
      return delivered
        .filter(({ path }) => isSafePath(path))
        .sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    async text(path) {
      const body = await getObject(bucket, toKey(path))
      return body ? await text(body) : null
    },

    async put(path, content) {
      try {
        await putObject(bucket, toKey(path), content)
      } finally {
        content.destroy()
      }
    },

    async remove(under) {
      for (const { key } of await listObjects(bucket, `${toKey(under)}/`))
        await removeObject(bucket, key)
    },
  }
}

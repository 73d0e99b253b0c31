import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isSafePath } from '#storefront/zip/entry-name.ts'
import { type FileStore, isLitter, type StoredFile } from './file-store.ts'

/** Product files in a folder of this machine. Links are left out: they could lead anywhere. */
export function folderStore(root: string): FileStore {
  return {
    async folders(under) {
      const found = await entriesOf(join(root, under))
      return found.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    },

    async files(under) {
      const files = await walk(join(root, under), '')
      return files.sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    async text(path) {
      try {
        return await readFile(join(root, path), 'utf8')
      } catch (error) {
        if (isAbsent(error)) return null
        throw error
      }
    },
  }
}

async function walk(folder: string, below: string): Promise<StoredFile[]> {
  const found = await Promise.all(
    (await entriesOf(folder)).map(async (entry): Promise<StoredFile[]> => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (!isSafePath(path) || isLitter(path)) return []
      if (entry.isDirectory()) return walk(join(folder, entry.name), path)
      if (!entry.isFile()) return []

      const file = join(folder, entry.name)
      const { size, mtime, mode, ino } = await stat(file)
      return [
        {
          path,
          sizeBytes: size,
          tag: `${mtime.getTime()}-${ino}`,
          modifiedAt: mtime,
          executable: (mode & 0o100) !== 0,
          open: async () => createReadStream(file),
        },
      ]
    }),
  )
  return found.flat()
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ENOENT' || code === 'ENOTDIR'
}

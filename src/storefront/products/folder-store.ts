import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isSafePath } from '../downloads/zip/entry-name.ts'
import { type FileStore, isLitter, type LeaveOut, type StoredFile } from './file-store.ts'

/**
 * Product files in a local folder. Symbolic links are left out, because their targets may be
 * outside.
 */
export function folderStore(root: string, leaveOut: LeaveOut = () => {}): FileStore {
  return {
    async folders(under) {
      const found = await readEntries(join(root, under))
      return found.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    },

    async files(under) {
      const files = await walk(join(root, under), '', (path, reason) =>
        leaveOut(`${under}/${path}`, reason),
      )
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

    async put(path, content, { executable }) {
      const file = join(root, path)
      try {
        await mkdir(dirname(file), { recursive: true })
        const mode = executable ? 0o755 : 0o644
        await pipeline(content, createWriteStream(file, { flags: 'wx', mode, flush: true }))
      } finally {
        content.destroy()
      }
    },

    remove: (under) => rm(join(root, under), { recursive: true, force: true }),
  }
}

async function walk(folder: string, below: string, leaveOut: LeaveOut): Promise<StoredFile[]> {
  const entries = await readEntries(folder)
  if (entries.length === 0 && below !== '') leaveOut(below, 'an empty folder')
  const found = await Promise.all(
    entries.map(async (entry): Promise<StoredFile[]> => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (isLitter(path)) return []
      if (!isSafePath(path)) return left(path, 'its name cannot be unpacked on every system')
      if (entry.isDirectory()) return walk(join(folder, entry.name), path, leaveOut)
      if (!entry.isFile())
        return left(path, entry.isSymbolicLink() ? 'a symbolic link' : 'no ordinary file')

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

  function left(path: string, reason: string): [] {
    leaveOut(path, reason)
    return []
  }
}

async function readEntries(folder: string) {
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

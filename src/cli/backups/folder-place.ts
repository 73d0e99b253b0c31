import { createReadStream, existsSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Place, Written } from './place.ts'
import { diskSink, metered, sumOf } from './streams.ts'

/** A folder of this machine, open to its owner alone: it holds what the database holds. */
export function folderPlace(folder: string): Place {
  const root = resolve(folder)
  const at = (path: string) => join(root, ...path.split('/'))

  return {
    address: root,
    write: (path, content) => writeFileAt(at(path), content),

    async take(path, file) {
      if (existsSync(at(path))) throw new Error(`${at(path)} is there already`)
      const sum = await sumOf(createReadStream(file))
      await mkdir(dirname(at(path)), { recursive: true, mode: 0o700 })
      await rename(file, at(path))
      return sum
    },

    // On the same disk: what is taken is only renamed.
    async scratch() {
      await mkdir(root, { recursive: true, mode: 0o700 })
      return mkdtemp(join(root, '.scratch-'))
    },

    async read(path) {
      // Opened here, so that what is missing is told before anything is made of it.
      try {
        return createReadStream('', { fd: openSync(at(path), 'r') })
      } catch (error) {
        if (!isAbsent(error)) throw error
        throw new Error(`${at(path)} is missing`)
      }
    },

    async text(path) {
      try {
        return await readFile(at(path), 'utf8')
      } catch (error) {
        if (isAbsent(error)) return null
        throw error
      }
    },

    async folders() {
      const entries = await readdir(root, { withFileTypes: true }).catch((error) => {
        if (isAbsent(error)) return []
        throw error
      })
      return entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(({ name }) => name)
        .sort()
    },

    below: (name) => folderPlace(join(root, name)),
  }
}

/** Under another name first: a file that stands there is whole, and on the disk. */
export async function writeFileAt(
  path: string,
  content: Readable,
  { flush = true } = {},
): Promise<Written> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  if (existsSync(path)) throw new Error(`${path} is there already`)
  const partial = `${path}.partial`
  const { meter, written } = metered()
  try {
    await pipeline(content, meter, diskSink(partial, { flush }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
  return written()
}

/** ENOTDIR: a file stands where a folder should be, so nothing is below it. */
function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
}

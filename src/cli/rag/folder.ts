/**
 * Lists the files of a folder to synchronize: plain files, by paths with slashes. Links are not
 * followed, so no file outside is sent.
 */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, matchesGlob } from 'node:path'
import { pipeline } from 'node:stream/promises'

export type LocalFile = { path: string; sizeBytes: number }

const IGNORE_FILE = '.latchkeyignore'

/** Returns the files sorted by path. @throws Error when the folder cannot be read */
export async function listFiles(folder: string, ignore: readonly string[]): Promise<LocalFile[]> {
  const patterns = [...ignore, ...ignoreLines(join(folder, IGNORE_FILE))]
  const files: LocalFile[] = []
  await visit('')
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))

  async function visit(under: string): Promise<void> {
    for (const entry of await readdir(join(folder, under), { withFileTypes: true })) {
      const path = under === '' ? entry.name : `${under}/${entry.name}`
      if (isIgnored(path, entry.isDirectory(), patterns)) continue
      if (entry.isDirectory()) await visit(path)
      else if (entry.isFile())
        files.push({ path, sizeBytes: (await stat(join(folder, path))).size })
    }
  }
}

function ignoreLines(file: string): string[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split(/\r?\n/)
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
}

/**
 * A pattern without a slash matches names in every folder; one that ends with a slash matches
 * folders.
 */
export function isIgnored(path: string, isFolder: boolean, patterns: readonly string[]): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name.startsWith('.') || name === 'node_modules') return true
  return patterns.some((pattern) => {
    const isOfFolders = pattern.endsWith('/')
    if (isOfFolders && !isFolder) return false
    const glob = pattern.replace(/^\/|\/$/g, '')
    const isAnchored = pattern.replace(/\/$/, '').includes('/')
    return matchesGlob(isAnchored ? path : name, glob)
  })
}

export async function computeHash(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash)
  return hash.digest('hex')
}

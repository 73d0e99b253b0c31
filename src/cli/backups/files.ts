/**
 * The files of a service in addition to its database: stored files of DATA_DIR, uploads, products.
 */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Config } from '#config/config.ts'
import type { Backup, FileEntry } from './manifest.ts'
import { digest, isSame, type Place, writeNewFile } from './place.ts'

/** Other files of DATA_DIR, such as a key in a file, do not belong in a backup. */
const ACCEPTED = {
  data: /^(?:prices\.json|sandbox\.db|usage-spool(?:\.[0-9a-f-]+)?\.jsonl)$/,
  originals: /^(?:originals\.id|(..)\/\1[^.]*)$/,
  products: /^[^\\]*$/,
}
export type Kind = keyof typeof ACCEPTED
const LISTINGS_MAX = 5

/** Returns null when the service has no such folder, or a bucket, which has its own backups. */
export function findFolder(kind: string, { dataDir, originals, products }: Config): string | null {
  const folders: Record<string, string | null> = {
    data: dataDir,
    originals,
    products: products.location ?? products.uploads,
  }
  const folder = folders[kind] ?? null
  return folder === null || folder.startsWith('s3://') ? null : folder
}

/** Returns the path of a backup's file on this machine; null when no setting names its folder. */
export function findHome({ path }: FileEntry, config: Config): string | null {
  const [kind = '', ...parts] = path.split('/')
  const folder = findFolder(kind, config)
  return folder === null ? null : join(folder, ...parts)
}

export async function storeFiles(
  place: Place,
  kind: Kind,
  config: Config,
  print: (line: string) => void,
): Promise<FileEntry[]> {
  const folder = findFolder(kind, config)
  if (folder === null || !existsSync(folder)) return []
  const options = { recursive: kind !== 'data', withFileTypes: true } as const
  const entries = new Map<string, FileEntry>()
  // The service renames spool files, so the folder is listed again when a file has vanished.
  for (let listing = 1; ; listing++) {
    let hasVanished = false
    for (const found of await readdir(folder, options)) {
      const file = join(found.parentPath, found.name)
      const path = relative(folder, file)
      if (found.isDirectory() || entries.has(path)) continue
      if (!found.isFile() || !ACCEPTED[kind].test(path)) {
        if (kind === 'products') print(`left out: ${path}`)
        continue
      }
      const entry = await storeIfPresent(place, kind, path, file)
      if (entry === null) hasVanished = true
      else entries.set(path, entry)
    }
    if (!hasVanished || listing === LISTINGS_MAX) return [...entries.values()]
  }
}

/** Returns null when the file has vanished since its folder was listed. */
async function storeIfPresent(
  place: Place,
  kind: Kind,
  path: string,
  file: string,
): Promise<FileEntry | null> {
  const store = (source: string) => storeFile(place, `${kind}/${path}`, source)
  try {
    const isDatabase = path.endsWith('.db') && kind === 'data'
    return await (isDatabase ? withSqliteCopy(place, file, store) : store(file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return null
  }
}

/** Also stores the time and the executable bit, because buyers' archives depend on them. */
export async function storeFile(place: Place, path: string, file: string): Promise<FileEntry> {
  const written = await place.write(path, createReadStream(file))
  const { mtime, mode } = statSync(file)
  return { path, ...written, modified_at: mtime.toISOString(), mode: mode & 0o777 }
}

/** Copies a SQLite database in use at one moment and removes the copy after `work`. */
export async function withSqliteCopy<T>(
  { scratch }: Place,
  file: string,
  work: (copy: string) => Promise<T>,
): Promise<T> {
  statSync(file)
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(scratch, '.scratch-'))
  try {
    const copy = join(folder, 'copy.db')
    const database = new DatabaseSync(file, { timeout: 5_000 })
    try {
      database.prepare('vacuum into ?').run(copy)
    } finally {
      database.close()
    }
    await chmod(copy, 0o600)
    return await work(copy)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @throws Error when the stored file is missing or differs from the manifest. */
export async function fetchFile(place: Place, entry: FileEntry, file: string): Promise<void> {
  const content = await place.read(entry.path)
  if (content === null) throw new Error(`${entry.path} is missing in ${place.address}`)
  if (!isSame(await writeNewFile(file, content), entry)) {
    await rm(file)
    throw new Error(`${entry.path} in ${place.address} differs from its checksum`)
  }
}

/**
 * Restores all files except the database, then calls `finish`. Accepts existing equal files,
 * because a killed restore leaves them. Removes the new files when a step fails.
 */
export async function restoreFiles(
  { place, manifest }: Backup,
  config: Config,
  finish: () => Promise<void>,
): Promise<void> {
  const homes = new Map<FileEntry, string>()
  const absent = new Map<FileEntry, string>()
  for (const entry of manifest.files) {
    if (entry.path.startsWith('database/')) continue
    const home = findHome(entry, config)
    if (home === null) {
      const setting = entry.path.startsWith('products/') ? 'PRODUCTS_DIR' : 'ORIGINALS_DIR'
      throw new Error(`the backup has files of ${setting}: set it to a folder for them`)
    }
    homes.set(entry, home)
    if (!existsSync(home)) absent.set(entry, home)
    else if (!isSame(await digest(createReadStream(home)), entry)) {
      throw new Error(`${home} already exists with other content, and a restore overwrites nothing`)
    }
  }
  try {
    for (const [entry, home] of absent) await fetchFile(place, entry, home)
    for (const [{ mode, modified_at }, home] of homes) {
      await chmod(home, mode & 0o777)
      await utimes(home, new Date(), new Date(modified_at))
    }
    await finish()
  } catch (error) {
    for (const home of absent.values()) await rm(home, { force: true })
    throw error
  }
}

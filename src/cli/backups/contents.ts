/** The files of a service beside its database: what DATA_DIR keeps, and the products where they are a folder. */
import { createReadStream, openSync, statSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import { MARK_FILE } from '#rag/originals/folder-mark.ts'
import type { FileEntry } from './manifest.ts'
import type { Place } from './place.ts'
import { copySqlite } from './sqlite-snapshot.ts'

/** Named one by one: what else an operator laid there (a key in a file) has no business in a backup. */
const KEPT = /^(?:prices\.json|sandbox\.db|usage-spool(?:\.[0-9a-f-]+)?\.jsonl)$/
const RELISTS_MAX = 5

/**
 * To be copied before the database: a record that leaves the spool file afterwards is then in both, and written once. What leaves
 * under another name while it is copied is looked for again.
 */
export async function backUpDataFolder(place: Place, dataDir: string): Promise<FileEntry[]> {
  const entries = new Map<string, FileEntry>()
  for (let tries = 1; ; tries++) {
    let isGone = false
    for (const name of await readdir(dataDir).catch(() => [])) {
      if (!KEPT.test(name) || entries.has(name)) continue
      const path = `data/${name}`
      try {
        const sum = name.endsWith('.db')
          ? await copyOfSqlite(place, path, join(dataDir, name))
          : await place.write(path, open(join(dataDir, name)))
        entries.set(name, { path, ...sum })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        isGone = true
      }
    }
    if (!isGone || tries === RELISTS_MAX) return [...entries.values()]
  }
}

export async function copyOfSqlite(
  place: Place,
  path: string,
  file: string,
  look?: (copy: string) => Promise<void>,
) {
  const scratch = await place.scratch()
  try {
    const copy = join(scratch, 'copy.db')
    await copySqlite(file, copy)
    await look?.(copy)
    return await place.take(path, copy)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Null where products are no folder of this machine: the sample, or a bucket, which has its own copies. */
export function productsFolder({
  products: { location },
}: Pick<Config, 'products'>): string | null {
  return location === null || location.startsWith('s3://') ? null : location
}

export async function backUpProducts(
  place: Place,
  folder: string,
  leaveOut: (path: string) => void,
) {
  const entries: FileEntry[] = []
  for (const path of await ordinaryFiles(folder, '', leaveOut)) {
    const { mtime, mode } = await stat(join(folder, path))
    const sum = await place.write(`products/${path}`, open(join(folder, path)))
    const executable = (mode & 0o100) !== 0 ? { is_executable: true } : {}
    // Archives are made of the times as well.
    entries.push({
      path: `products/${path}`,
      ...sum,
      modified_at: mtime.toISOString(),
      ...executable,
    })
  }
  return entries
}

/** Null where originals are kept in a bucket, which has its own copies, or nowhere. */
export const originalsFolder = ({ originals }: Pick<Config, 'originals'>): string | null =>
  originals === null || originals.startsWith('s3://') ? null : originals

/** To be copied after the database: one that goes meanwhile belongs to a document that goes. They are sealed as they lie. */
export async function backUpOriginals(
  place: Place,
  config: Pick<Config, 'originals'>,
): Promise<FileEntry[]> {
  const folder = originalsFolder(config)
  if (folder === null) return []
  const entries: FileEntry[] = []
  const below = await readdir(folder, { recursive: true, withFileTypes: true }).catch(absent)
  for (const entry of below) {
    if (!entry.isFile() || entry.name.endsWith('.partial')) continue
    const name = entry.name === MARK_FILE ? MARK_FILE : `${entry.name.slice(0, 2)}/${entry.name}`
    const path = `originals/${name}`
    const file = join(entry.parentPath, entry.name)
    if (file !== join(folder, name)) continue
    try {
      entries.push({ path, ...(await place.write(path, open(file))) })
    } catch (error) {
      absent(error)
    }
  }
  return entries
}

/** Nothing, where there is nothing. */
function absent(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  return []
}

async function ordinaryFiles(
  folder: string,
  below: string,
  leaveOut: (path: string) => void,
): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) found.push(...(await ordinaryFiles(folder, path, leaveOut)))
    else if (entry.isFile() && !entry.name.includes('\\')) found.push(path)
    else leaveOut(path)
  }
  return found
}

/** Where a file of a backup belongs here; null: nowhere, since products or originals are elsewhere. */
export function homeOf(
  { path }: FileEntry,
  config: Pick<Config, 'products' | 'originals' | 'dataDir'>,
): string | null {
  const slash = path.indexOf('/')
  const folders: Record<string, string | null> = {
    products: productsFolder(config),
    originals: originalsFolder(config),
    data: config.dataDir,
  }
  const folder = folders[path.slice(0, slash)] ?? null
  return folder === null ? null : join(folder, ...path.slice(slash + 1).split('/'))
}

/** Null where there is none. */
export function sizeOf(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null
}

/** Opened at once: a file that is gone is told here, and not in the middle. */
const open = (path: string) => createReadStream('', { fd: openSync(path, 'r') })

/** The files of a new release: of a ZIP or of a folder. */
import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import type { Bytes } from '#platform/content.ts'
import { isLitter, type StoredFile } from './file-store.ts'
import { folderStore } from './folder-store.ts'
import { damaged, readZipDirectory, refuse, type ZipEntry } from './zip-directory.ts'

export type NewFile = Pick<StoredFile, 'path' | 'sizeBytes' | 'executable' | 'open'>
export type LeftOut = { path: string; reason: string }
export type NewRelease = { files: NewFile[]; leftOut: LeftOut[] }

const CHUNK_BYTES = 256 * 1024

/** Inspects a ZIP; its files are unpacked when they are opened. @throws Problem `release_refused` */
export async function openReleaseZip(zip: Bytes): Promise<NewRelease> {
  const entries = await readZipDirectory(zip)
  const leftOut: LeftOut[] = []
  const used = new Set(entries.flatMap(({ path }) => listFolders(path)))
  const files = entries.flatMap((entry): NewFile[] => {
    const { path, isFolder, sizeBytes, executable } = entry
    if (isLitter(path)) leftOut.push({ path, reason: 'a file of a system or a tool' })
    else if (isFolder && !used.has(path)) leftOut.push({ path, reason: 'an empty folder' })
    else if (!isFolder)
      return [{ path, sizeBytes, executable, open: async () => unpackEntry(zip, entry) }]
    return []
  })
  if (files.length === 0) throw refuse('it contains no files')
  return { files, leftOut }
}

/** `a` and `a/b` of `a/b/c`. */
function listFolders(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, depth) => names.slice(0, depth + 1).join('/'))
}

/** Links and names that cannot be unpacked everywhere are left out. */
export async function openReleaseFolder(path: string): Promise<NewRelease> {
  const leftOut: LeftOut[] = []
  const store = folderStore(path, (under, reason) =>
    leftOut.push({ path: under.replace(/^\//, ''), reason }),
  )
  const files = await store.files('')
  for (const found of await readdir(path, { recursive: true })) {
    if (isLitter(found) && !isLitter(dirname(found)))
      leftOut.push({ path: found, reason: 'a file of a system or a tool' })
  }
  if (files.length === 0) throw refuse('the folder contains no files')
  return { files, leftOut }
}

function unpackEntry(zip: Bytes, entry: ZipEntry): Readable {
  const packed = Readable.from(readPacked(zip, entry), { objectMode: false })
  const unpacked = entry.isDeflated ? pipeline(packed, createInflateRaw(), () => {}) : packed
  return Readable.from(checkContent(unpacked, entry), { objectMode: false })
}

async function* readPacked(zip: Bytes, { dataAt, packedBytes }: ZipEntry) {
  for (let done = 0; done < packedBytes; done += CHUNK_BYTES) {
    const from = dataAt + done
    yield zip.read(from, from + Math.min(CHUNK_BYTES, packedBytes - done))
  }
}

/** The directory's sizes were checked, so content must have exactly the size that it declares. */
async function* checkContent(content: Readable, { path, sizeBytes, crc32: expected }: ZipEntry) {
  let bytes = 0
  let checksum = 0
  try {
    for await (const chunk of content) {
      bytes += chunk.length
      if (bytes > sizeBytes) break
      checksum = crc32(chunk, checksum)
      yield chunk
    }
  } catch (cause) {
    if ((cause as { code?: string }).code?.startsWith('Z_')) throw damaged(cause)
    throw cause
  }
  if (bytes > sizeBytes) throw refuse(`'${path}' unpacks to more than it declares`)
  if (bytes < sizeBytes || checksum !== expected) throw damaged()
}

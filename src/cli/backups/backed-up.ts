/** The database in a backup, read back: the SQLite file, or the files of rows. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip, createGzip } from 'node:zlib'
import { folderPlace, writeFileAt } from './folder-place.ts'
import type { FileEntry, Manifest } from './manifest.ts'
import type { Place, Written } from './place.ts'
import { type Row, type Snapshot, type Sum, sumOfTable, type Table } from './rows.ts'
import { openSqliteFile } from './sqlite-snapshot.ts'

export const DATABASE_FILE = 'database/latchkey.db'
const rowsFile = (table: string) => `database/${table}.jsonl.gz`

/** One table: a line of its columns' names, and a line a row. */
export async function writeRows(
  place: Place,
  table: Table,
  snapshot: Snapshot,
): Promise<{ entry: FileEntry; sum: Sum }> {
  const summing = sumOfTable(table.columns)
  async function* lines() {
    let text = `${JSON.stringify(table.columns)}\n`
    for await (const row of snapshot.rows(table)) {
      summing.add(row)
      text += `${JSON.stringify(row)}\n`
      if (text.length < CHUNK_CHARACTERS) continue
      yield text
      text = ''
    }
    yield text
  }
  const path = rowsFile(table.name)
  const packed = createGzip({ level: 5 })
  const source = pipeline(Readable.from(lines()), packed)
  const [written] = await Promise.all([place.write(path, packed), source])
  return { entry: { path, ...written }, sum: summing.sum() }
}

const CHUNK_CHARACTERS = 64 * 1024

/**
 * Reads the database's rows out of a backup, whose files come to the folder `scratch` first: each is looked through before anything is
 * made of one, and no bucket is waited for in the middle.
 */
export async function readDatabase(
  { place, manifest }: { place: Place; manifest: Manifest },
  scratch: string,
): Promise<Snapshot & { faults(): string[]; close(): void }> {
  for (const entry of manifest.files) {
    if (entry.path.startsWith('database/'))
      await fetchFile(place, entry, join(scratch, ...entry.path.split('/')), { flush: false })
  }
  if (manifest.engine === 'sqlite')
    return openSqliteFile(join(scratch, ...DATABASE_FILE.split('/')))
  const here = folderPlace(scratch)
  const names = Object.keys(manifest.tables).sort()
  return {
    tables: () =>
      Promise.all(names.map(async (name) => ({ name, columns: await columnsOf(here, name) }))),
    async *rows({ name }) {
      let isFirst = true
      for await (const line of linesOf(await here.read(rowsFile(name)))) {
        if (!isFirst) yield JSON.parse(line) as Row
        isFirst = false
      }
    },
    faults: () => [],
    close() {},
  }
}

/** @throws Error with a sentence where what came is not what was backed up. */
export async function fetchFile(
  place: Place,
  entry: FileEntry,
  to: string,
  options?: { flush: boolean },
): Promise<void> {
  const written = await writeFileAt(to, await place.read(entry.path), options)
  if (isSame(written, entry)) return
  await rm(to, { force: true })
  throw new Error(
    `${place.address}/${entry.path} is not what was backed up: ${written.bytes} of ${entry.bytes} bytes, or other ones`,
  )
}

export const isSame = (one: Written, other: Written) =>
  one.bytes === other.bytes && one.sha256 === other.sha256

export function entryOf({ files }: Manifest, path: string): FileEntry {
  const entry = files.find((file) => file.path === path)
  if (!entry) throw new Error(`the manifest has no ${path}`)
  return entry
}

async function columnsOf(place: Place, table: string): Promise<string[]> {
  const content = await place.read(rowsFile(table))
  try {
    for await (const line of linesOf(content)) return JSON.parse(line) as string[]
  } finally {
    content.destroy()
  }
  throw new Error(`${place.address}/${rowsFile(table)} is empty`)
}

/** Not by node:readline, for which U+2028 ends a line as well. */
async function* linesOf(packed: Readable): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8')
  const content = packed.pipe(createGunzip())
  packed.once('error', (error) => content.destroy(error))
  let rest: string[] = []
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const parts = decoder.write(chunk).split('\n')
    const last = parts.pop() ?? ''
    for (const part of parts) {
      yield rest.length === 0 ? part : `${rest.join('')}${part}`
      rest = []
    }
    if (last !== '') rest.push(last)
  }
  if (rest.length > 0) throw new Error('a file of rows ends in the middle of one')
}

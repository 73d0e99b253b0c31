/**
 * SQLite's side of backups: a page-by-page copy of a file that is in use, by SQLite's own backup API, and the rows of such a copy. The
 * copy is made inside a read transaction, so that writers never make it begin again; until it ends the log (`-wal`) grows.
 */
import { chmodSync, existsSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Row, Snapshot, Table } from './rows.ts'

/** Between slices of this many pages (of 4 KiB) other work of this process goes on. */
const SLICE_PAGES = 2_000

/** @throws Error with a sentence where there is none. */
export async function copySqlite(path: string, to: string): Promise<void> {
  if (!existsSync(path)) throw new Error(`there is no database at ${path}`)
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    // A transaction sees the moment of its first read.
    database.exec('begin; select count(*) from sqlite_master')
    await backup(database, to, { rate: SLICE_PAGES })
    chmodSync(to, 0o600)
  } finally {
    database.close()
  }
}

export type SqliteFile = Snapshot & {
  /** What the file itself finds wrong with it: broken pages, references to what is not there. */
  faults(): string[]
  close(): void
}

/** A file that nobody writes to: nothing is made beside it. */
export function openSqliteFile(path: string): SqliteFile {
  const address = pathToFileURL(path)
  address.search = '?mode=ro&immutable=1'
  return snapshotOf(new DatabaseSync(address, { readOnly: true }))
}

/** A database that may be in use, as it is at this moment. */
export function openSqliteDatabase(path: string): SqliteFile {
  if (!existsSync(path)) throw new Error(`there is no database at ${path}`)
  const database = new DatabaseSync(path, { timeout: 5_000 })
  database.exec('begin; select count(*) from sqlite_master')
  return snapshotOf(database)
}

function snapshotOf(database: DatabaseSync): SqliteFile {
  const all = (query: string) => database.prepare(query).all() as Record<string, unknown>[]

  return {
    async tables() {
      const names = all(
        `select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
      )
      return names.map(({ name }) => ({
        name: String(name),
        columns: all(`pragma table_info("${name}")`).map((column) => String(column.name)),
      }))
    },

    async *rows({ name, columns }: Table) {
      const statement = database.prepare(
        `select ${columns.map((column) => `"${column}"`).join(', ')} from "${name}"`,
      )
      statement.setReturnArrays(true)
      statement.setReadBigInts(true)
      const isBoolean = columns.map((column) => column.startsWith('is_'))
      for (const values of statement.iterate() as unknown as Iterable<unknown[]>) {
        yield values.map((value, at) => textOf(value, isBoolean[at] ?? false)) satisfies Row
      }
    },

    faults() {
      const broken = all('pragma integrity_check').map((row) => String(Object.values(row)[0]))
      const dangling = all('pragma foreign_key_check').map(
        ({ table, parent }) => `${table} refers to ${parent}: no such row`,
      )
      return [...broken.filter((line) => line !== 'ok'), ...new Set(dangling)]
    },

    close: () => database.close(),
  }
}

function textOf(value: unknown, isBoolean: boolean): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (isBoolean) return value === 1n ? 'true' : 'false'
  return String(value)
}

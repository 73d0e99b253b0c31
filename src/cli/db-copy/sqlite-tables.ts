/** Reads the rows of a SQLite database in the form that both engines share. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Row, Snapshot, Table } from './table-sums.ts'

export type SqliteSnapshot = Snapshot & {
  /** Returns broken pages and references to missing rows, as sentences. */
  findFaults(): string[]
  close(): void
}

/** Opens a file that no process writes to; SQLite then creates no files beside it. */
export function openSqliteFile(path: string): SqliteSnapshot {
  const address = pathToFileURL(path)
  address.search = '?mode=ro&immutable=1'
  return openSnapshot(new DatabaseSync(address, { readOnly: true }))
}

/** Opens a database that may be in use, in a transaction that sees this moment. */
export function openSqliteDatabase(path: string): SqliteSnapshot {
  if (!existsSync(path)) throw new Error(`there is no database at ${path}`)
  const database = new DatabaseSync(path, { timeout: 5_000 })
  database.exec('begin; select count(*) from sqlite_master')
  return openSnapshot(database)
}

function openSnapshot(database: DatabaseSync): SqliteSnapshot {
  const select = (query: string) => database.prepare(query).all() as Record<string, unknown>[]

  return {
    async tables() {
      const names = select(
        `select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\'`,
      )
      return names.map(({ name }) => ({
        name: String(name),
        columns: select(`pragma table_info("${name}")`).map((column) => String(column.name)),
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
        yield values.map((value, at) => toText(value, isBoolean[at] ?? false)) satisfies Row
      }
    },

    findFaults() {
      const broken = select('pragma integrity_check').map((row) => String(Object.values(row)[0]))
      const dangling = select('pragma foreign_key_check').map(
        ({ table, parent }) => `${table} refers to a missing row of ${parent}`,
      )
      return [...broken.filter((line) => line !== 'ok'), ...new Set(dangling)]
    },

    close: () => database.close(),
  }
}

function toText(value: unknown, isBoolean: boolean): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (isBoolean) return value === 1n ? 'true' : 'false'
  return String(value)
}

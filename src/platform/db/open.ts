import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import { makeFolder } from '../folder.ts'
import type { Database } from './db.ts'
import { openPostgres, postgresDialect } from './postgres.ts'
import { sqliteDialect } from './sqlite.ts'
import type { Tables } from './tables.ts'

export type OpenOptions = {
  databaseUrl: string | null
  dataDir: string
  connectionsMax?: number
  onNotice?: (message: string) => void
}

/**
 * Opens PostgreSQL when there is an address, else the SQLite file in the data folder (made readable to its owner alone).
 * @throws Error with a sentence for the operator when the folder or the file cannot be written.
 */
export function openDatabase({ databaseUrl, dataDir, connectionsMax = 10, onNotice }: OpenOptions): Database {
  if (databaseUrl !== null) {
    // `?max=20` in the address sets the pool's size.
    const max = Number(new URL(databaseUrl).searchParams.get('max')) || connectionsMax
    const sql = openPostgres(databaseUrl, onNotice ? { connectionsMax: max, onNotice } : { connectionsMax: max })
    const db = new Kysely<Tables>({ dialect: postgresDialect(sql) })
    const { host, pathname } = new URL(databaseUrl)
    return { db, dialect: 'postgres', address: `PostgreSQL ${host}${pathname}`, close: () => db.destroy() }
  }

  const path = join(dataDir, 'latchkey.db')
  try {
    makeFolder(dataDir)
    const db = new Kysely<Tables>({ dialect: sqliteDialect(path) })
    chmodSync(path, 0o600)
    return { db, dialect: 'sqlite', address: path, close: () => db.destroy() }
  } catch (error) {
    throw new Error(
      `the data folder ${dataDir} cannot be used (${(error as Error).message}): make it writable, or set DATA_DIR`,
    )
  }
}

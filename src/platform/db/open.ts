import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, type Dialect as KyselyDialect } from 'kysely'
import { FolderInUse, lockFolder } from '../data-lock.ts'
import { makeFolder } from '../folder.ts'
import { tracedEngine } from '../telemetry/database-spans.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type { Database, Db, Dialect } from './db.ts'
import { openPostgres, postgresDialect } from './postgres.ts'
import { sqliteDialect } from './sqlite.ts'
import type { Tables } from './tables.ts'

export type OpenOptions = {
  databaseUrl: string | null
  dataDir: string
  connectionsMax?: number
  onNotice?: (message: string) => void
  /** True for commands: they open the database of a service and never create one. */
  isGuest?: boolean
  /**
   * The parts that this process serves: on SQLite no other process may serve the same part from
   * this folder.
   */
  parts?: readonly string[]
  tracer?: Tracer | null
}

/** The data folder contains no database. */
export class Missing extends Error {}

/**
 * Opens PostgreSQL when there is an address, else the SQLite file in the data folder, which only
 * its owner can read.
 * @throws Error when the folder or the file cannot be written
 */
export function openDatabase({
  databaseUrl,
  dataDir,
  connectionsMax = 10,
  onNotice,
  isGuest = false,
  parts = [],
  tracer = null,
}: OpenOptions): Database {
  if (databaseUrl !== null) {
    // `?max=20` in the address sets the pool's size.
    const max = Number(new URL(databaseUrl).searchParams.get('max')) || connectionsMax
    const sql = openPostgres(
      databaseUrl,
      onNotice ? { connectionsMax: max, onNotice } : { connectionsMax: max },
    )
    const db = openKysely(postgresDialect(sql), 'postgres', tracer)
    const { host, pathname } = new URL(databaseUrl)
    return {
      db,
      dialect: 'postgres',
      address: `PostgreSQL ${host}${pathname}`,
      close: () => db.destroy(),
    }
  }

  const path = join(dataDir, 'latchkey.db')
  if (isGuest && !existsSync(path)) {
    throw new Missing(
      `there is no database in ${dataDir}: start the service once, or check DATA_DIR`,
    )
  }
  try {
    makeFolder(dataDir)
    const unlock = lockFolder(dataDir, parts)
    const db = openKysely(sqliteDialect(path), 'sqlite', tracer)
    chmodSync(path, 0o600)
    return { db, dialect: 'sqlite', address: path, close: () => db.destroy().finally(unlock) }
  } catch (error) {
    if (error instanceof FolderInUse) throw error
    throw new Error(
      `the data folder ${dataDir} cannot be used (${(error as Error).message}): make it writable, or set DATA_DIR`,
    )
  }
}

function openKysely(engine: KyselyDialect, dialect: Dialect, tracer: Tracer | null): Db {
  return new Kysely<Tables>({
    dialect: tracer === null ? engine : tracedEngine(engine, tracer, dialect),
  })
}

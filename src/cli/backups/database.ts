/** The database in a backup: a SQLite file, or a dump of PostgreSQL in pg_dump's custom format. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Config } from '#config/config.ts'
import type { Db } from '#platform/db/db.ts'
import { openDatabase } from '#platform/db/open.ts'
import { isSealed } from '#platform/secrets.ts'
import { listClaimed } from '#rag/originals/original-store.ts'
import { withPostgresSnapshot } from '../db-copy/postgres-tables.ts'
import { readRootKey } from '../db-copy/root-key.ts'
import { openSqliteFile } from '../db-copy/sqlite-tables.ts'
import { computeSums, readRecords, type Snapshot } from '../db-copy/table-sums.ts'
import { findFolder, storeFile, withSqliteCopy } from './files.ts'
import type { FileEntry, Manifest } from './manifest.ts'
import type { Place } from './place.ts'
import { dumpSchema, requireProgram } from './postgres-programs.ts'

const IDS_PER_QUERY = 500

type Description = Pick<Manifest, 'migrations' | 'sealed_root' | 'tables' | 'missing_originals'>
type StoredDatabase = Description & Pick<Manifest, 'postgres'> & { entry: FileEntry }

export function withDatabase<T>(
  { databaseUrl, dataDir }: Config,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  return work(db).finally(close)
}

export function storeDatabase(place: Place, config: Config): Promise<StoredDatabase> {
  if (config.databaseUrl === null) return storeSqlite(place, config)
  return storePostgres(place, config, config.databaseUrl)
}

function storeSqlite(place: Place, config: Config): Promise<StoredDatabase> {
  const path = join(config.dataDir, 'latchkey.db')
  if (!existsSync(path)) throw new Error(`there is no database at ${path}`)
  return withSqliteCopy(place, path, async (copy) => {
    const file = openSqliteFile(copy)
    const [fault] = file.findFaults()
    if (fault !== undefined) throw new Error(`the database is damaged: ${fault}`)
    const description = await describe(file, config).finally(file.close)
    const entry = await storeFile(place, 'database/latchkey.db', copy)
    return { ...description, postgres: null, entry }
  })
}

/** pg_dump and the checksums read the same exported snapshot. */
function storePostgres(place: Place, config: Config, databaseUrl: string) {
  return withDatabase(config, (db) => {
    return withPostgresSnapshot(db, async (snapshot, tx): Promise<StoredDatabase> => {
      const { rows } = await sql<{ version: number; schema: string; id: string }>`
        select current_setting('server_version_num')::int / 10000 as version,
          current_schema() as schema, pg_export_snapshot() as id`.execute(tx)
      const { version = 0, schema = '', id = '' } = rows[0] ?? {}
      const postgres = { schema, pg_dump_version: await requireProgram('pg_dump', version) }
      const path = 'database/latchkey.dump'
      const written = await place.write(path, dumpSchema(databaseUrl, schema, id))
      const entry = { path, ...written, modified_at: new Date().toISOString(), mode: 0o600 }
      return { ...(await describe(snapshot, config)), postgres, entry }
    })
  })
}

async function describe(snapshot: Snapshot, config: Config): Promise<Description> {
  const records = await readRecords(snapshot, 'migrations')
  const rootKey = await readRootKey(snapshot)
  return {
    migrations: records.map(({ id }) => id ?? ''),
    sealed_root: isSealed(rootKey) ? rootKey.toString('hex') : null,
    tables: await computeSums(snapshot),
    missing_originals: await findMissingOriginals(snapshot, config),
  }
}

/**
 * Returns ids of uploaded files that documents name, now as in the snapshot, and the folder lacks.
 */
async function findMissingOriginals(snapshot: Snapshot, config: Config): Promise<string[]> {
  const folder = findFolder('originals', config)
  const table = (await snapshot.tables()).find(({ name }) => name === 'rag_documents')
  if (folder === null || !table) return []
  const column = table.columns.indexOf('original_id')
  const missing: string[] = []
  for await (const row of snapshot.rows(table)) {
    const id = row[column] ?? null
    if (id !== null && !existsSync(join(folder, id.slice(0, 2), id))) missing.push(id)
  }
  if (missing.length === 0) return []
  // A document that was deleted since the snapshot has lost its file rightly.
  return withDatabase(config, async (db) => {
    const claimed: string[] = []
    for (let from = 0; from < missing.length; from += IDS_PER_QUERY) {
      claimed.push(...(await listClaimed(db, missing.slice(from, from + IDS_PER_QUERY))))
    }
    return claimed
  })
}

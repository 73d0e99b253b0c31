/** Restores a backup into an empty place. Nothing is overwritten. */
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { migrations } from '#app/migrations.ts'
import type { Config } from '#config/config.ts'
import { lockFolder } from '#platform/data-lock.ts'
import { makeFolder } from '#platform/folder.ts'
import { withDatabase } from './backups/database.ts'
import { fetchFile, restoreFiles } from './backups/files.ts'
import { type Backup, describeMissing, describeSize, findBackup } from './backups/manifest.ts'
import { openPlace, parsePlace } from './backups/place.ts'
import { requireProgram, restoreDump } from './backups/postgres-programs.ts'
import type { Context } from './context.ts'
import { findMigrations, NOT_EMPTY, VECTORS_TABLE } from './db-copy/fill-postgres.ts'
import { withPostgresSnapshot } from './db-copy/postgres-tables.ts'
import { explainLockedRoot } from './db-copy/root-key.ts'
import { findFaultsHere } from './verify.ts'

const SCRATCH = '.restore-'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address } = parsePlace(args, 'restore')
  const backup = await findBackup(openPlace(address, config))
  const { place, manifest } = backup
  print(`${place.address}, made ${manifest.made_at} by version ${manifest.version}`)

  makeFolder(config.dataDir)
  const parts = config.databaseUrl === null ? ['api', 'storefront', 'worker'] : []
  const unlock = lockFolder(config.dataDir, [...parts, 'restore'])
  let faults: string[]
  try {
    await removeScratch(config.dataDir)
    await restore(backup, config).finally(() => removeScratch(config.dataDir))
    faults = await findFaultsHere(manifest, config)
  } finally {
    unlock()
  }
  for (const fault of faults) print(`✖ ${fault}`)
  if (manifest.missing_originals.length > 0) print(`✖ ${describeMissing(manifest)}`)
  if (faults.length > 0) return 1
  print(`${describeSize(manifest)}, restored and compared. Start the service.`)
  return 0
}

/** Scratch folders hold a copy of the database; a killed restore leaves its own. */
async function removeScratch(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(SCRATCH)) await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

async function restore(backup: Backup, config: Config): Promise<void> {
  const { place, manifest } = backup
  findMigrations(manifest.migrations, migrations)
  const { sealed_root } = manifest
  const reason = sealed_root === null ? null : explainLockedRoot(sealed_root, config)
  if (reason !== null) throw new Error(`the backup cannot be opened: ${reason}`)
  await requireEmptyDatabase(backup, config)

  const scratch = await mkdtemp(join(config.dataDir, SCRATCH))
  const entry = manifest.files.find(({ path }) => path.startsWith('database/'))
  if (!entry) throw new Error('the manifest lists no database')
  const file = join(scratch, 'database')
  await fetchFile(place, entry, file)
  // The database comes last, so that no service starts without its files.
  await restoreFiles(backup, config, async () => {
    if (config.databaseUrl !== null) await restoreDump(config.databaseUrl, file)
    else await rename(file, join(config.dataDir, 'latchkey.db'))
  })
}

async function requireEmptyDatabase({ manifest }: Backup, config: Config): Promise<void> {
  const { postgres, tables } = manifest
  if (config.databaseUrl === null) {
    if (postgres) throw new Error('the backup contains a PostgreSQL database: set DATABASE_URL')
    const path = join(config.dataDir, 'latchkey.db')
    if (!existsSync(path) && !existsSync(`${path}-wal`)) return
    throw new Error(
      `${path} already exists, and nothing is overwritten: set DATA_DIR to an empty folder`,
    )
  }
  if (!postgres) {
    throw new Error(
      'the backup contains a SQLite database: restore it without DATABASE_URL, then run `db copy`',
    )
  }
  await requireProgram('pg_restore', postgres.pg_dump_version)
  await withDatabase(config, async (db) => {
    const { schema, existing } = await withPostgresSnapshot(db, async (snapshot, tx) => {
      const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(tx)
      return { schema: rows[0]?.name, existing: await snapshot.tables() }
    })
    if (existing.length > 0) throw new Error(NOT_EMPTY)
    if (schema !== postgres.schema) {
      throw new Error(
        `the schema is ${schema}, but the backup was made from the schema ${postgres.schema}`,
      )
    }
    // A dump of a schema leaves extensions out.
    if (VECTORS_TABLE in tables) await sql`create extension if not exists vector`.execute(db)
  })
}

/**
 * A backup put back, into a place that is empty: nothing is overwritten. It is looked through before a service can start on it: every
 * file by its checksum, every table by its rows, the keys by SECRET_KEY.
 */
import { chmod, mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { migrations } from '#app/migrations.ts'
import type { Config } from '#config/config.ts'
import { lockFolder } from '#platform/data-lock.ts'
import { openDatabase } from '#platform/db/open.ts'
import { makeFolder } from '#platform/folder.ts'
import { DATABASE_FILE, entryOf, fetchFile, isSame, readDatabase } from './backups/backed-up.ts'
import { homeOf, sizeOf } from './backups/contents.ts'
import { fillPostgres, madeBy } from './backups/fill.ts'
import { type FileEntry, findBackup, type Manifest } from './backups/manifest.ts'
import { describeMissing } from './backups/missing-originals.ts'
import { openPlace } from './backups/open-place.ts'
import { placeAndFlags } from './backups/options.ts'
import type { Place } from './backups/place.ts'
import { lockedOut, storedRoot } from './backups/root.ts'
import { differences, recordsOf, type Snapshot, sumsOf } from './backups/rows.ts'
import { openSqliteFile } from './backups/sqlite-snapshot.ts'
import { sumOfFile } from './backups/streams.ts'
import type { Context } from './context.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address, has } = placeAndFlags(
    args,
    'restore FOLDER|s3://BUCKET/PREFIX [--without-products]',
    ['--without-products'],
  )
  const backup = await findBackup(openPlace(address, config))
  const { place, manifest } = backup
  print(`${place.address}, made ${manifest.made_at} by version ${manifest.version}`)
  if (manifest.engine === 'postgres' && config.databaseUrl === null) {
    throw new Error('it is of PostgreSQL: set DATABASE_URL to an empty database')
  }
  makeFolder(config.dataDir)
  const parts = config.databaseUrl === null ? ['api', 'storefront', 'worker'] : []
  const unlock = lockFolder(config.dataDir, [...parts, 'restore'])
  try {
    await clearScratch(config.dataDir)
    const files = await filesToCome(manifest, config, has('--without-products'))
    if (config.databaseUrl === null)
      await restoreSqlite(backup, config, () => restoreFiles(place, files))
    else
      await restorePostgres(backup, config, config.databaseUrl, print, () =>
        restoreFiles(place, files),
      )
    const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0)
    print(
      `${rows} rows and ${files.length} files are there, compared one by one: start the service.`,
    )
    if (manifest.missing_originals.length > 0)
      print(`✖ ${describeMissing(manifest.missing_originals)}`)
    return 0
  } finally {
    unlock()
  }
}

type Backup = { place: Place; manifest: Manifest }
type Arriving = FileEntry & { home: string; isThere: boolean }

const SCRATCH = '.restore-'

/** One that was killed has left its copy of the database, with all that is secret in it. */
async function clearScratch(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(SCRATCH)) await rm(join(dataDir, name), { recursive: true, force: true })
  }
}

/** Where files go; what stands there already as it should is not fetched again. @throws Error where it is something else. */
async function filesToCome(
  { files }: Manifest,
  config: Config,
  isWithoutProducts: boolean,
): Promise<Arriving[]> {
  const coming: Arriving[] = []
  for (const entry of files) {
    if (entry.path.startsWith('database/')) continue
    if (isWithoutProducts && entry.path.startsWith('products/')) continue
    const home = homeOf(entry, config)
    if (home === null && entry.path.startsWith('originals/'))
      throw new Error('it has files that users uploaded: set ORIGINALS_DIR to a folder for them')
    if (home === null)
      throw new Error(
        'it has products: set PRODUCTS_DIR to a folder for them, or say --without-products',
      )
    const isThere = sizeOf(home) !== null
    if (isThere && !isSame(await sumOfFile(home), entry))
      throw new Error(`${home} is there already, and another: nothing is overwritten`)
    coming.push({ ...entry, home, isThere })
  }
  return coming
}

async function restoreFiles(place: Place, files: readonly Arriving[]): Promise<void> {
  const placed: string[] = []
  try {
    for (const { home, isThere, ...entry } of files) {
      if (!isThere) {
        await fetchFile(place, entry, home)
        placed.push(home)
      }
      // Also of what is there: whoever put it may have been killed before this.
      const isProduct = entry.path.startsWith('products/')
      if (isProduct) await chmod(home, entry.is_executable ? 0o755 : 0o644)
      if (entry.modified_at) await utimes(home, new Date(), new Date(entry.modified_at))
    }
  } catch (error) {
    for (const home of placed) await rm(home, { force: true })
    throw error
  }
}

/** The database comes by its name at the very end: until then no service finds one. */
async function restoreSqlite(
  backup: Backup,
  config: Config,
  files: () => Promise<void>,
): Promise<void> {
  const { place, manifest } = backup
  const path = join(config.dataDir, 'latchkey.db')
  for (const name of [path, `${path}-wal`]) {
    if (sizeOf(name) !== null)
      throw new Error(
        `${name} is there already: nothing is overwritten. Set DATA_DIR to an empty folder`,
      )
  }
  const scratch = await mkdtemp(join(config.dataDir, SCRATCH))
  try {
    const copy = join(scratch, 'latchkey.db')
    await fetchFile(place, entryOf(manifest, DATABASE_FILE), copy)
    const database = openSqliteFile(copy)
    try {
      await look(database, config)
      const wrong = [...database.faults(), ...differences(manifest.tables, await sumsOf(database))]
      if (wrong.length > 0) throw new Error(`the backup is damaged: ${wrong.join('; ')}`)
    } finally {
      database.close()
    }
    await files()
    await rename(copy, path)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function restorePostgres(
  backup: Backup,
  config: Config,
  databaseUrl: string,
  print: Context['print'],
  files: () => Promise<void>,
): Promise<void> {
  const scratch = await mkdtemp(join(config.dataDir, SCRATCH))
  const { db, close } = openDatabase({ databaseUrl, dataDir: config.dataDir, isGuest: true })
  try {
    const source = await readDatabase(backup, scratch)
    try {
      await look(source, config)
      const expected = backup.manifest.tables
      const { leftOut } = await fillPostgres(db, { source, migrations, expected, atLast: files })
      if (leftOut.length > 0)
        print('The server has no extension "vector": documents are compared without it.')
    } finally {
      source.close()
    }
  } finally {
    await close()
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Before anything is made of it. @throws Error where this version, or this SECRET_KEY, cannot serve it. */
async function look(source: Snapshot, config: Config): Promise<void> {
  madeBy(await recordsOf(source, 'migrations'), migrations)
  const reason = lockedOut(await storedRoot(source), config)
  if (reason !== null) throw new Error(`the backup cannot be opened: ${reason}`)
}

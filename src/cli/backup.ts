/**
 * A copy of everything that a service keeps, made while it serves: its database as it was at one moment, the files beside it, the
 * products. Settings are not in it, above all not SECRET_KEY, without which a sealed copy opens nothing.
 */
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Config } from '#config/config.ts'
import type { Db } from '#platform/db/db.ts'
import { openDatabase } from '#platform/db/open.ts'
import { version } from '#platform/version.ts'
import { DATABASE_FILE, writeRows } from './backups/backed-up.ts'
import {
  backUpDataFolder,
  backUpOriginals,
  backUpProducts,
  copyOfSqlite,
  productsFolder,
} from './backups/contents.ts'
import { type FileEntry, MANIFEST, type Manifest, writeManifest } from './backups/manifest.ts'
import { describeMissing, findMissing, stillMissing } from './backups/missing-originals.ts'
import { openPlace } from './backups/open-place.ts'
import { bytesText, placeAndFlags } from './backups/options.ts'
import type { Place } from './backups/place.ts'
import { snapshotOfPostgres } from './backups/postgres-snapshot.ts'
import { lockedOut, stateOf, storedRoot } from './backups/root.ts'
import { recordsOf, type Snapshot, type Sums, sumsOf } from './backups/rows.ts'
import { openSqliteFile } from './backups/sqlite-snapshot.ts'
import type { Context } from './context.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address, has } = placeAndFlags(
    args,
    'backup FOLDER|s3://BUCKET/PREFIX [--without-products]',
    ['--without-products'],
  )
  const madeAt = new Date().toISOString()
  const place = openPlace(address, config).below(madeAt.replaceAll(':', '-'))
  if ((await place.text(MANIFEST)) !== null) throw new Error(`${place.address} is there already`)

  const files = await backUpDataFolder(place, config.dataDir)
  const database = await backUpDatabase(place, config)
  const originals = await backUpOriginals(place, config)
  const folder = has('--without-products') ? null : productsFolder(config)
  const products =
    folder === null ? [] : await backUpProducts(place, folder, (path) => print(`left out: ${path}`))

  const { entries, root, migrations, tables } = database
  const missing =
    database.missing.length === 0
      ? []
      : await ofLiveDatabase(config, (db) => stillMissing(db, database.missing))
  const manifest: Omit<Manifest, 'format'> = {
    version,
    made_at: madeAt,
    engine: database.engine,
    root: stateOf(root),
    migrations,
    tables,
    products: folder === null ? null : 'included',
    files: [...entries, ...files, ...originals, ...products],
    missing_originals: missing,
  }
  await place.write(MANIFEST, textStream(writeManifest(manifest)))

  const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0)
  const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0)
  print(
    `${rows} rows of ${Object.keys(tables).length} tables, ${manifest.files.length} files, ${bytesText(bytes)}: ${place.address}`,
  )
  for (const line of remarks(config, root, folder === null)) print(line)
  if (missing.length === 0) return 0
  print(`✖ ${describeMissing(missing)}`)
  return 1
}

/** `missing`: ids of originals that are not in their folder. */
type BackedUp = Pick<Manifest, 'engine' | 'migrations' | 'tables'> & {
  entries: FileEntry[]
  root: Buffer
  missing: string[]
}

async function ofLiveDatabase<T>(
  { databaseUrl, dataDir }: Config,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  return await work(db).finally(close)
}

async function backUpDatabase(place: Place, config: Config): Promise<BackedUp> {
  if (config.databaseUrl === null)
    return await backUpSqlite(place, join(config.dataDir, 'latchkey.db'), config)
  return await ofLiveDatabase(config, (db) => backUpPostgres(place, db, config))
}

/** What is counted is the copy, which the manifest is about. */
async function backUpSqlite(place: Place, file: string, config: Config): Promise<BackedUp> {
  let about: Omit<BackedUp, 'entries'> | null = null
  const sum = await copyOfSqlite(place, DATABASE_FILE, file, async (path) => {
    const copy = openSqliteFile(path)
    try {
      const [fault] = copy.faults()
      if (fault !== undefined) throw new Error(`the database is damaged: ${fault}`)
      const missing = await findMissing(copy, config)
      about = {
        engine: 'sqlite',
        ...(await keysAndMigrations(copy)),
        tables: await sumsOf(copy),
        missing,
      }
    } finally {
      copy.close()
    }
  })
  return {
    ...(about as unknown as Omit<BackedUp, 'entries'>),
    entries: [{ path: DATABASE_FILE, ...sum }],
  }
}

const backUpPostgres = (place: Place, db: Db, config: Config): Promise<BackedUp> =>
  snapshotOfPostgres(db, async (snapshot) => {
    const known = await keysAndMigrations(snapshot)
    const tables: Sums = {}
    const entries: FileEntry[] = []
    for (const table of await snapshot.tables()) {
      const { entry, sum } = await writeRows(place, table, snapshot)
      entries.push(entry)
      tables[table.name] = sum
    }
    return {
      engine: 'postgres',
      ...known,
      tables,
      entries,
      missing: await findMissing(snapshot, config),
    }
  })

async function keysAndMigrations(snapshot: Snapshot) {
  const records = await recordsOf(snapshot, 'migrations')
  const byPosition = records.toSorted((a, b) => Number(a.position) - Number(b.position))
  const migrations = byPosition.map(({ id, checksum }) => ({
    id: id ?? '',
    checksum: checksum ?? '',
  }))
  return { migrations, root: await storedRoot(snapshot) }
}

/** What an operator should know of this copy, today and not on the day that it is needed. */
function remarks(config: Config, root: Buffer, isWithoutProducts: boolean): string[] {
  const lines: string[] = []
  if (stateOf(root) === 'plain') {
    lines.push(
      'The keys in it lie open, since no SECRET_KEY seals them: who has it can sign in as anybody.',
    )
  } else if (config.secretKey !== null && lockedOut(root, config) !== null) {
    lines.push('The SECRET_KEY that is set here does not open it: keep the one that does.')
  } else {
    lines.push('It opens with the SECRET_KEY of today, which is not in it: keep that elsewhere.')
  }
  if (config.originals?.startsWith('s3://')) {
    lines.push(`Files that users uploaded are not in it: ${config.originals} has its own copies.`)
  }
  if (isWithoutProducts && config.products.location?.startsWith('s3://')) {
    lines.push(`Products are not in it: ${config.products.location} has its own copies.`)
  }
  return lines
}

async function* once(text: string) {
  yield Buffer.from(text)
}
const textStream = (text: string) => Readable.from(once(text))

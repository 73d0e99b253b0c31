/** Whether a backup is what it was when it was made; with --here, whether the service's own data are. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import { openDatabase } from '#platform/db/open.ts'
import { isSame, readDatabase } from './backups/backed-up.ts'
import { homeOf, sizeOf } from './backups/contents.ts'
import { VECTORS } from './backups/fill.ts'
import { findBackup, type Manifest } from './backups/manifest.ts'
import { describeMissing } from './backups/missing-originals.ts'
import { openPlace } from './backups/open-place.ts'
import { placeAndFlags } from './backups/options.ts'
import type { Place } from './backups/place.ts'
import { snapshotOfPostgres } from './backups/postgres-snapshot.ts'
import { lockedOut, stateOf, storedRoot } from './backups/root.ts'
import { differences, type Sums, sumsOf } from './backups/rows.ts'
import { openSqliteDatabase } from './backups/sqlite-snapshot.ts'
import { sumOf, sumOfFile } from './backups/streams.ts'
import type { Context } from './context.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address, has } = placeAndFlags(args, 'verify FOLDER|s3://BUCKET/PREFIX [--here]', [
    '--here',
  ])
  const { place, manifest } = await findBackup(openPlace(address, config))
  print(`${place.address}, made ${manifest.made_at} by version ${manifest.version}`)

  const wrong = has('--here')
    ? await faultsHere(manifest, config, print)
    : await faultsOf(place, manifest, config, print)
  if (manifest.missing_originals.length > 0) wrong.push(describeMissing(manifest.missing_originals))
  for (const line of wrong) print(`✖ ${line}`)
  if (wrong.length > 0) return 1
  const rows = Object.values(manifest.tables).reduce((sum, table) => sum + table.rows, 0)
  print(
    `✔ ${rows} rows of ${Object.keys(manifest.tables).length} tables and ${manifest.files.length} files are as they were`,
  )
  return 0
}

async function faultsOf(
  place: Place,
  manifest: Manifest,
  config: Config,
  print: Context['print'],
): Promise<string[]> {
  const wrong: string[] = []
  for (const entry of manifest.files) {
    if (entry.path.startsWith('database/')) continue
    const sum = await place.read(entry.path).then(sumOf, (error: Error) => error.message)
    if (typeof sum === 'string') wrong.push(sum)
    else if (!isSame(sum, entry)) wrong.push(`${entry.path} has other bytes than it had`)
  }
  const scratch = await mkdtemp(join(tmpdir(), 'latchkey-verify-'))
  try {
    const database = await readDatabase({ place, manifest }, scratch)
    try {
      const root = await storedRoot(database)
      const isOpen = lockedOut(root, config) === null
      if (stateOf(root) === 'plain') print('– its keys lie open: who has it can sign in as anybody')
      else if (isOpen) print('✔ SECRET_KEY opens it')
      else if (config.secretKey === null)
        print('– SECRET_KEY is not set, so this does not tell whether it opens it')
      else
        wrong.push(
          'the SECRET_KEY that is set here does not open it: it is sealed with another one',
        )
      return [
        ...wrong,
        ...database.faults(),
        ...differences(manifest.tables, await sumsOf(database)),
      ]
    } finally {
      database.close()
    }
  } catch (error) {
    return [...wrong, (error as Error).message]
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/** Right after a restore; once the service runs its data go on. */
async function faultsHere(
  manifest: Manifest,
  config: Config,
  print: Context['print'],
): Promise<string[]> {
  const here = await sumsHere(config)
  const leftOut = VECTORS in manifest.tables && !(VECTORS in here) ? [VECTORS] : []
  if (leftOut.length > 0)
    print('– its vectors stayed behind: the server here has no extension "vector"')
  const wrong = differences(manifest.tables, here, leftOut)
  for (const entry of manifest.files) {
    if (entry.path.startsWith('database/')) continue
    const home = homeOf(entry, config)
    if (home === null) wrong.push(`${entry.path}: there is no folder for it here`)
    else if (sizeOf(home) === null) wrong.push(`${home} is missing`)
    else if (!isSame(await sumOfFile(home), entry))
      wrong.push(`${home} has other bytes than it had`)
  }
  return wrong
}

async function sumsHere({ databaseUrl, dataDir }: Config): Promise<Sums> {
  if (databaseUrl === null) {
    const database = openSqliteDatabase(join(dataDir, 'latchkey.db'))
    return await sumsOf(database).finally(database.close)
  }
  const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  return await snapshotOfPostgres(db, sumsOf).finally(close)
}

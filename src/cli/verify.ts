/**
 * Compares a backup with its manifest or, with --here, the service's own data with the manifest.
 */
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import { withDatabase } from './backups/database.ts'
import { findHome } from './backups/files.ts'
import {
  type Backup,
  describeMissing,
  describeSize,
  findBackup,
  type Manifest,
} from './backups/manifest.ts'
import { digest, isSame, openPlace, parsePlace } from './backups/place.ts'
import type { Context } from './context.ts'
import { withPostgresSnapshot } from './db-copy/postgres-tables.ts'
import { explainLockedRoot } from './db-copy/root-key.ts'
import { openSqliteDatabase } from './db-copy/sqlite-tables.ts'
import { computeSums, describeDifferences, type Sums } from './db-copy/table-sums.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address, isHere } = parsePlace(args, 'verify')
  const backup = await findBackup(openPlace(address, config))
  const { place, manifest } = backup
  print(`${place.address}, made ${manifest.made_at} by version ${manifest.version}`)

  const faults = isHere
    ? await findFaultsHere(manifest, config)
    : await findFaultsInBackup(backup, config, print)
  if (manifest.missing_originals.length > 0) faults.push(describeMissing(manifest))
  for (const fault of faults) print(`✖ ${fault}`)
  if (faults.length > 0) return 1
  print(`✔ ${describeSize(manifest)}, all unchanged`)
  return 0
}

/** Needs neither a database nor PostgreSQL's programs. */
async function findFaultsInBackup(
  { place, manifest }: Backup,
  config: Config,
  print: Context['print'],
): Promise<string[]> {
  const faults: string[] = []
  for (const entry of manifest.files) {
    const content = await place.read(entry.path)
    if (content === null) faults.push(`${entry.path} is missing`)
    else if (!isSame(await digest(content), entry)) faults.push(`${entry.path} has changed`)
  }
  const { sealed_root } = manifest
  if (sealed_root === null) {
    print('– the backup’s keys are not sealed: anyone who reads it can sign in as any user')
  } else if (explainLockedRoot(sealed_root, config) === null) {
    print('✔ SECRET_KEY opens the backup')
  } else if (config.secretKey === null) {
    print('– SECRET_KEY is not set, so it is unknown whether it opens the backup')
  } else {
    faults.push('the current SECRET_KEY does not open the backup: another key sealed it')
  }
  return faults
}

/** Use it after a restore and before the first start, which changes data. */
export async function findFaultsHere(manifest: Manifest, config: Config): Promise<string[]> {
  const faults = describeDifferences(manifest.tables, await computeSumsHere(config))
  for (const entry of manifest.files) {
    if (entry.path.startsWith('database/')) continue
    const home = findHome(entry, config)
    if (home === null) faults.push(`no setting names a folder for ${entry.path}`)
    else if (!existsSync(home)) faults.push(`${home} is missing`)
    else if (!isSame(await digest(createReadStream(home)), entry))
      faults.push(`${home} has changed`)
  }
  return faults
}

async function computeSumsHere(config: Config): Promise<Sums> {
  if (config.databaseUrl === null) {
    const database = openSqliteDatabase(join(config.dataDir, 'latchkey.db'))
    return await computeSums(database).finally(database.close)
  }
  return withDatabase(config, (db) => withPostgresSnapshot(db, computeSums))
}

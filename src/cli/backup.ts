/**
 * Backs up a running service: a snapshot of its database, its stored files, and the products.
 * Excludes the settings, in particular SECRET_KEY, without which a sealed backup cannot be opened.
 * Records its time in the running database, for the page Health.
 */
import { Readable } from 'node:stream'
import type { Config } from '#config/config.ts'
import { saveBackup } from '#platform/backups.ts'
import { version } from '#platform/version.ts'
import { storeDatabase, withDatabase } from './backups/database.ts'
import { storeFiles } from './backups/files.ts'
import { describeMissing, describeSize, MANIFEST, type Manifest } from './backups/manifest.ts'
import { openPlace, parsePlace } from './backups/place.ts'
import type { Context } from './context.ts'
import { explainLockedRoot } from './db-copy/root-key.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address } = parsePlace(args, 'backup')
  const madeAt = new Date().toISOString()
  const backups = openPlace(address, config)
  const place = backups.openFolder(madeAt.replaceAll(':', '-'))
  const store = (kind: 'data' | 'originals' | 'products') => storeFiles(place, kind, config, print)

  // Spool files come first: a record that moves to the database meanwhile is then in both. Uploaded
  // files come after the database, so every document in the snapshot has its file.
  const data = await store('data')
  const { entry, ...database } = await storeDatabase(place, config)
  const files = [entry, ...data, ...(await store('originals')), ...(await store('products'))]

  const manifest: Manifest = { format: 1, version, made_at: madeAt, ...database, files }
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  await place.write(MANIFEST, Readable.from([content]))

  print(`${place.address}: ${describeSize(manifest)}`)
  for (const line of listRemarks(config, manifest)) print(line)
  if (manifest.missing_originals.length > 0) {
    print(`✖ ${describeMissing(manifest)}`)
    return 1
  }
  // The backup is complete without its row.
  await withDatabase(config, (db) =>
    saveBackup(db, { place: backups.address, made_at: madeAt }),
  ).catch((error: Error) => print(`Health does not show this backup: ${error.message}`))
  return 0
}

function listRemarks(config: Config, { sealed_root }: Manifest): string[] {
  const lines: string[] = []
  if (sealed_root === null) {
    lines.push(
      'Its keys are not sealed, because SECRET_KEY is not set: anyone who reads the backup can sign in as any user.',
    )
  } else if (config.secretKey !== null && explainLockedRoot(sealed_root, config) !== null) {
    lines.push('The current SECRET_KEY does not open it: store the key that sealed it.')
  } else {
    lines.push(
      'It opens with the current SECRET_KEY, which it does not contain: store the key elsewhere.',
    )
  }
  for (const location of [config.originals, config.products.location]) {
    if (location?.startsWith('s3://')) {
      lines.push(`The files in ${location} are not in it: use the bucket's own backups.`)
    }
  }
  return lines
}

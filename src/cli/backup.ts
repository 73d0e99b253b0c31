/**
 * Copies a running service: its database at one moment, the files beside it, the products. Excludes
 * the settings, especially SECRET_KEY, without which a sealed backup cannot be opened.
 */
import { Readable } from 'node:stream'
import type { Config } from '#config/config.ts'
import { version } from '#platform/version.ts'
import { storeDatabase } from './backups/database.ts'
import { storeFiles } from './backups/files.ts'
import { describeMissing, describeSize, MANIFEST, type Manifest } from './backups/manifest.ts'
import { openPlace, parsePlace } from './backups/place.ts'
import type { Context } from './context.ts'
import { explainLockedRoot } from './db-copy/root-key.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { address } = parsePlace(args, 'backup')
  const madeAt = new Date().toISOString()
  const place = openPlace(address, config).openFolder(madeAt.replaceAll(':', '-'))
  const store = (kind: 'data' | 'originals' | 'products') => storeFiles(place, kind, config, print)

  // A record that moves from the spool file to the database is in both. A document's file is stored
  // after the document, which may have been uploaded meanwhile.
  const data = await store('data')
  const { entry, ...database } = await storeDatabase(place, config)
  const files = [entry, ...data, ...(await store('originals')), ...(await store('products'))]

  const manifest: Manifest = { format: 1, version, made_at: madeAt, ...database, files }
  const content = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)
  await place.write(MANIFEST, Readable.from([content]))

  print(`${place.address}: ${describeSize(manifest)}`)
  for (const line of listRemarks(config, manifest)) print(line)
  if (manifest.missing_originals.length === 0) return 0
  print(`✖ ${describeMissing(manifest)}`)
  return 1
}

function listRemarks(config: Config, { sealed_root }: Manifest): string[] {
  const lines: string[] = []
  if (sealed_root === null) {
    lines.push(
      'Its keys are not sealed, because SECRET_KEY is not set: anyone who reads the backup can sign in as any user.',
    )
  } else if (config.secretKey !== null && explainLockedRoot(sealed_root, config) !== null) {
    lines.push('The current SECRET_KEY does not open it: store the one that does.')
  } else {
    lines.push('It opens with the current SECRET_KEY, which is not in it: store it elsewhere.')
  }
  for (const location of [config.originals, config.products.location]) {
    if (location?.startsWith('s3://')) {
      lines.push(`The files in ${location} are not in it: use the bucket's own backups.`)
    }
  }
  return lines
}

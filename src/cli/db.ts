/**
 * `db copy` copies every row of DATA_DIR's SQLite to the empty PostgreSQL of DATABASE_URL and
 * compares them. `db citus` prints SQL that distributes the tables over many servers.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '#app/migrations.ts'
import { citusScript } from '#app/sharding.ts'
import { lockFolder } from '#platform/data-lock.ts'
import { requireMigrated } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import type { Context } from './context.ts'
import { fillPostgres } from './db-copy/fill-postgres.ts'
import { explainLockedRoot, readRootKey } from './db-copy/root-key.ts'
import { openSqliteDatabase } from './db-copy/sqlite-tables.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  if (args.length === 1 && args[0] === 'citus') return printCitus(config, print)
  if (args.length !== 1 || args[0] !== 'copy')
    throw new Error('usage: npm run cli -- db copy | db citus')
  const { databaseUrl, dataDir } = config
  if (databaseUrl === null) throw new Error('set DATABASE_URL to an empty PostgreSQL database')

  const file = join(dataDir, 'latchkey.db')
  if (!existsSync(file)) throw new Error(`there is no database at ${file}`)
  // Locked before the copy begins, because later writes of a service would be lost.
  const unlock = lockFolder(dataDir, ['api', 'storefront', 'worker'])
  try {
    const source = openSqliteDatabase(file)
    const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
    try {
      const [fault] = source.findFaults()
      if (fault !== undefined) throw new Error(`${file} is damaged: ${fault}`)
      const reason = explainLockedRoot(await readRootKey(source), config)
      if (reason !== null) throw new Error(`${file} cannot be opened: ${reason}`)
      const sums = await fillPostgres(db, { source, migrations })
      const width = Math.max(...Object.keys(sums).map((name) => name.length))
      for (const [name, { rows, checksum }] of Object.entries(sums).sort()) {
        print(`${name.padEnd(width)}  ${String(rows).padStart(9)}  ${checksum.slice(0, 16)}`)
      }
      print(
        'Rows and checksums are equal on both sides. Start the service with DATABASE_URL and the same DATA_DIR.',
      )
      return 0
    } finally {
      await close()
      source.close()
    }
  } finally {
    unlock()
  }
}

/** Needs the empty tables that `migrate` creates, before the first start of a service. */
async function printCitus(
  { databaseUrl, dataDir }: Context['config'],
  print: Context['print'],
): Promise<number> {
  if (databaseUrl === null)
    throw new Error('set DATABASE_URL to the PostgreSQL database with the tables to distribute')
  const { db, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  try {
    await requireMigrated(db, migrations)
    const script = await citusScript(db)
    print(script.trimEnd())
    return 0
  } finally {
    await close()
  }
}

/**
 * `db copy` is the way from SQLite to PostgreSQL: every row of DATA_DIR's file into the empty database of DATABASE_URL, counted and
 * compared. `db citus` prints how the tables are laid out on many servers.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lockFolder } from '#platform/data-lock.ts'
import { requireMigrated } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import { migrations } from '../migrations.ts'
import { citusScript } from '../sharding.ts'
import type { Context } from './context.ts'
import { fillPostgres } from './db-copy/fill-postgres.ts'
import { explainLockedRoot, readRootKey } from './db-copy/root-key.ts'
import { openSqliteDatabase } from './db-copy/sqlite-tables.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  if (args.length === 1 && args[0] === 'citus') return printCitus(config, print)
  if (args.length !== 1 || args[0] !== 'copy')
    throw new Error('usage: npm run cli -- db copy | db citus')
  const { databaseUrl, dataDir } = config
  if (databaseUrl === null)
    throw new Error('set DATABASE_URL to the empty PostgreSQL database that is to have the copy')

  const file = join(dataDir, 'latchkey.db')
  if (!existsSync(file)) throw new Error(`there is no database at ${file}`)
  // Before the copy's moment: who went on writing would lose what came after.
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
        'Counts and checksums are the same on both sides. Start the service with DATABASE_URL; DATA_DIR stays its folder.',
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

/** Of tables that `migrate` has made and no service has started on yet: laid out on many servers, they want to be empty. */
async function printCitus(
  { databaseUrl, dataDir }: Context['config'],
  print: Context['print'],
): Promise<number> {
  if (databaseUrl === null)
    throw new Error('set DATABASE_URL to the PostgreSQL database whose tables are to be laid out')
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

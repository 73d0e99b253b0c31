/**
 * Applies migrations ahead of a start, or shows them (--plan). Nodes of the previous version
 * continue to serve.
 */

import { migrations } from '#app/migrations.ts'
import { lockFolder } from '#platform/data-lock.ts'
import { migrate, planMigrations } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import type { Context } from './context.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  if (args.length > 1 || (args[0] !== undefined && args[0] !== '--plan')) {
    throw new Error('usage: npm run cli -- migrate [--plan]')
  }
  const { databaseUrl, dataDir } = config
  const { db, address, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  try {
    const { missing, ahead } = await planMigrations(db, migrations)
    if (ahead.length > 0)
      print(
        `${address} has migrations of a newer version, which this version supports: ${ahead.join(', ')}`,
      )
    if (missing.length === 0) {
      print('nothing to apply')
      return 0
    }
    if (args[0] === '--plan') {
      for (const { id, statements, contracts } of missing) {
        print(`-- ${id}${contracts ? ': the previous version cannot start on it' : ''}`)
        for (const statement of statements)
          print(`${statement.replaceAll(/^ {8}/gm, '  ').replaceAll(/^ {6}/gm, '')};`)
        print()
      }
      print(
        `-- ${missing.length} to apply to ${address}, in one transaction: back up, then 'migrate', or start the service`,
      )
      return 0
    }
    // On SQLite, a running service would block on the migration.
    const unlock =
      databaseUrl === null ? lockFolder(dataDir, ['api', 'storefront', 'worker']) : () => {}
    try {
      for (const id of await migrate(db, migrations, new Date().toISOString()))
        print(`applied ${id}`)
    } finally {
      unlock()
    }
    return 0
  } finally {
    await close()
  }
}

/** The tables of this version, ahead of its start: what is missing (--plan), or applied. Nodes of the version before go on meanwhile. */

import { migrations } from '#app/migrations.ts'
import { lockFolder } from '#platform/data-lock.ts'
import { migrate, planOf } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import type { Context } from './context.ts'

export async function run(args: string[], { config, print }: Context): Promise<number> {
  if (args.length > 1 || (args[0] !== undefined && args[0] !== '--plan')) {
    throw new Error('usage: npm run cli -- migrate [--plan]')
  }
  const { databaseUrl, dataDir } = config
  const { db, address, close } = openDatabase({ databaseUrl, dataDir, isGuest: true })
  try {
    const { missing, ahead } = await planOf(db, migrations)
    if (ahead.length > 0)
      print(`${address} is of a newer version, on which this one runs: ${ahead.join(', ')}`)
    if (missing.length === 0) {
      print('nothing to apply')
      return 0
    }
    if (args[0] === '--plan') {
      for (const { id, statements, contracts } of missing) {
        print(`-- ${id}${contracts ? ': the version before cannot start on it' : ''}`)
        for (const statement of statements)
          print(`${statement.replaceAll(/^ {8}/gm, '  ').replaceAll(/^ {6}/gm, '')};`)
        print()
      }
      print(
        `-- ${missing.length} to apply to ${address}, in one transaction: back up, then 'migrate', or start the service`,
      )
      return 0
    }
    // A service on SQLite applies them itself, when it starts; one that runs would wait for the lock.
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

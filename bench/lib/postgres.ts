// Creates databases on a PostgreSQL server, each for one measurement.
import { tmpdir } from 'node:os'
import { sql } from 'kysely'
import { openDatabase } from '#platform/db/open.ts'

/** Creates a database. Drops an existing database of that name. */
export async function freshDatabase(server: string, name: string) {
  // Creating and dropping a database waits for a checkpoint, which may take longer than the
  // statement timeout.
  const unlimited = new URL(server)
  unlimited.searchParams.set('statement_timeout', '0')
  const admin = openDatabase({ databaseUrl: unlimited.href, dataDir: tmpdir() })
  const drop = () => sql`drop database if exists ${sql.id(name)} with (force)`.execute(admin.db)
  await drop()
  await sql`create database ${sql.id(name)}`.execute(admin.db)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await drop()
      await admin.close()
    },
  }
}

// Databases of a PostgreSQL server for one measurement each.
import { tmpdir } from 'node:os'
import { sql } from 'kysely'
import { openDatabase } from '#platform/db/open.ts'

/** Whoever has that name already is dropped. */
export async function freshDatabase(server: string, name: string) {
  // A database is made and dropped behind a checkpoint, which takes as long as there is much to write.
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

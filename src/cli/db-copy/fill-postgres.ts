/**
 * Fills an empty PostgreSQL schema from another database and compares both, in one transaction. On
 * a failure the schema stays unchanged.
 */
import { sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { type Migration, migrate } from '#platform/db/migrate.ts'
import { openPgvector } from '#rag/search/stores/pgvector.ts'
import {
  continueSequences,
  fillTable,
  listTables,
  openSnapshot,
  withoutForeignKeys,
  withPostgresSnapshot,
} from './postgres-tables.ts'
import {
  computeSums,
  describeDifferences,
  type Row,
  readRecords,
  type Snapshot,
  type Sums,
  TableChecksum,
} from './table-sums.ts'

/** Exists only if the server has the vector extension; no migration creates it. */
export const VECTORS_TABLE = 'rag_halfvecs'

export const NOT_EMPTY =
  'the database is not empty, and nothing is overwritten: create an empty database or schema'

/** Returns the sums of the copied tables. @throws Error; the database is then unchanged. */
export async function fillPostgres(
  db: Db,
  { source, migrations }: { source: Snapshot; migrations: Migration[] },
): Promise<Sums> {
  const records = await readRecords(source, 'migrations')
  const applied = findMigrations(
    records.map(({ id }) => id ?? ''),
    migrations,
  )
  if ((await withPostgresSnapshot(db, ({ tables }) => tables())).length > 0) {
    throw new Error(NOT_EMPTY)
  }
  // A server may lack the extension. Outside of the transaction, which a failure would end.
  await sql`create extension if not exists vector`.execute(db).catch(() => undefined)

  return transaction(db, async (tx) => {
    // Checked again under the migrations' lock, because a service may have started since.
    const made = await migrate(tx, applied, new Date().toISOString())
    if (made.length < applied.length) throw new Error(NOT_EMPTY)
    const extension = await sql`select from pg_extension where extname = 'vector'`.execute(tx)
    if (extension.rows.length > 0) await openPgvector({ db: tx })
    const names = new Set((await listTables(tx)).map(({ name }) => name))

    const sums: Sums = {}
    await withoutForeignKeys(tx, async () => {
      // Some migrations insert rows.
      for (const name of names) await sql`delete from ${sql.table(name)}`.execute(tx)
      for (const table of await source.tables()) {
        if (!names.has(table.name)) throw new Error(`this version has no table ${table.name}`)
        const checksum = new TableChecksum(table.columns)
        await fillTable(tx, table, addToChecksum(source.rows(table), checksum))
        sums[table.name] = checksum.sum()
      }
    })
    await continueSequences(tx)

    const differences = describeDifferences(sums, await computeSums(openSnapshot(tx)))
    if (differences.length > 0) throw new Error(`the copy differs: ${differences.join('; ')}`)
    return sums
  })
}

async function* addToChecksum(rows: AsyncIterable<Row>, checksum: TableChecksum) {
  for await (const row of rows) {
    checksum.add(row)
    yield row
  }
}

/**
 * Returns the applied migrations; the next start applies later ones. @throws Error when this
 * version lacks one.
 */
export function findMigrations(ids: readonly string[], migrations: Migration[]): Migration[] {
  const unknown = ids.filter((id) => !migrations.some((migration) => migration.id === id))
  if (unknown.length > 0) {
    throw new Error(
      `another version of Latchkey wrote the data (${unknown.join(', ')}): use that version`,
    )
  }
  return migrations.filter(({ id }) => ids.includes(id))
}

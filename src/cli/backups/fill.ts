/** An empty PostgreSQL schema filled with another database's rows, in one transaction: whole and compared, or not at all. */
import { sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import { type Migration, migrate } from '#platform/db/migrate.ts'
import { openPgvector } from '#rag/search/stores/pgvector.ts'
import {
  continueSequences,
  fillTable,
  snapshotIn,
  snapshotOfPostgres,
  tablesOf,
  withoutForeignKeys,
} from './postgres-snapshot.ts'
import {
  differences,
  type Row,
  recordsOf,
  type Snapshot,
  type Sums,
  sumOfTable,
  sumsOf,
} from './rows.ts'

/** Made anew by the service from the passages, where the server has no vector extension. */
export const VECTORS = 'rag_halfvecs'

type Fill = {
  source: Snapshot
  /** All of this version. */
  migrations: Migration[]
  /** What the source's tables are to be. */
  expected?: Sums
  /** Called when all of it is there and the same; a throw takes it back. */
  atLast?(): Promise<void>
}

const NOT_EMPTY =
  'the database is not empty: nothing is overwritten. Give an empty one (or an empty schema)'

/** @returns what was copied, and the tables that were left out. @throws Error with a sentence; then nothing was changed. */
export async function fillPostgres(db: Db, { source, migrations, expected, atLast }: Fill) {
  const made = madeBy(await recordsOf(source, 'migrations'), migrations)
  if ((await snapshotOfPostgres(db, ({ tables }) => tables())).length > 0) {
    throw new Error(NOT_EMPTY)
  }
  // Outside of the transaction, which a refusal would end.
  await sql`create extension if not exists vector`.execute(db).catch(() => undefined)

  return transaction(db, async (tx) => {
    // Once more, under the migrations' lock: a service may have started since.
    if ((await migrate(tx, made, new Date().toISOString())).length < made.length)
      throw new Error(NOT_EMPTY)
    if (await hasVector(tx)) await openPgvector({ db: tx })
    const here = new Set((await tablesOf(tx)).map(({ name }) => name))

    const sums: Sums = {}
    const leftOut: string[] = []
    await withoutForeignKeys(tx, async () => {
      // Some migrations write rows.
      for (const name of here) await sql`delete from ${sql.table(name)}`.execute(tx)
      for (const table of await source.tables()) {
        if (table.name === VECTORS && !here.has(VECTORS)) {
          leftOut.push(VECTORS)
          continue
        }
        if (!here.has(table.name)) throw new Error(`this version has no table ${table.name}`)
        const summing = sumOfTable(table.columns)
        await fillTable(tx, table, summed(source.rows(table), summing))
        sums[table.name] = summing.sum()
      }
    })
    await continueSequences(tx)

    const wrong = [
      ...(expected ? differences(expected, sums, leftOut) : []),
      ...differences(sums, await sumsOf(snapshotIn(tx))),
    ]
    if (wrong.length > 0) throw new Error(`what arrived is not what was sent: ${wrong.join('; ')}`)
    await atLast?.()
    return { sums, leftOut }
  })
}

async function* summed(
  rows: AsyncIterable<Row>,
  { add }: { add(row: Row): void },
): AsyncGenerator<Row> {
  for await (const row of rows) {
    add(row)
    yield row
  }
}

async function hasVector(tx: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'vector'`.execute(tx)
  return rows.length > 0
}

/** The migrations that a database has had, as this version knows them: later ones are the next start's. */
export function madeBy(
  records: Record<string, string | null>[],
  migrations: Migration[],
): Migration[] {
  const applied = new Set(records.map(({ id }) => id))
  const unknown = [...applied].filter((id) => !migrations.some((migration) => migration.id === id))
  if (unknown.length > 0) {
    throw new Error(
      `it is of another version of Latchkey, with ${unknown.join(', ')}: use that version's command`,
    )
  }
  return migrations.filter(({ id }) => applied.has(id))
}

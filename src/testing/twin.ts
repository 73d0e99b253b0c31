/**
 * A user whose rows have the same ids as another user's. Ids are unique only within a user, so a
 * statement without its user finds the twin's rows too.
 */
import { sql } from 'kysely'
import { type Db, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { TestApp } from './app.ts'
import { readTables } from './database.ts'

/** Sorts before random ids, so that a statement without its user finds the twin's row first. */
const TWIN = '00000000-0000-4000-8000-000000000000'
const EMAIL = 'twin@example.com'
/** Replaces the text in the twin's rows. */
const TWIN_TEXT = 'of the twin'

/** Tables whose rows have an id that no two users share. */
const WITH_GLOBAL_IDS = [
  'users',
  'billing_customers',
  'cancellations',
  'deals',
  'invoices',
  'lookups',
  'one_time_tokens',
  'payments',
  'switches',
]
const TEXT = /^(name|user_agent|ip_address|content|source|heading|error_detail|platform|pseudonym)$/
const NUMBER = /(tokens|nanos|bytes|chunks|characters|requests|count|_ms)$/

type Row = Record<string, unknown>

/**
 * Copies every row of a user. The copies have other texts and numbers, and are older than the
 * originals.
 * @returns a function that reads the twin's rows
 */
export async function createTwin(
  app: Pick<TestApp, 'platform'>,
  userId: string,
): Promise<() => Promise<Record<string, Row[]>>> {
  const { db } = app.platform
  const tables = [...(await readTables(db))].flatMap(([table, columns]) => {
    const owner = findOwnerColumn(columns)
    if (owner === undefined || WITH_GLOBAL_IDS.includes(table)) return []
    return [{ table: table as keyof Tables, owner: owner as never }]
  })
  // Its rows refer to rows of sessions.
  tables.sort((a, b) => Number(a.table === 'session_tokens') - Number(b.table === 'session_tokens'))
  await transaction(db, async (tx) => {
    const user = await tx
      .selectFrom('users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    await tx
      .insertInto('users')
      .values({ ...user, id: TWIN, email: EMAIL, processor_customer_id: null })
      .execute()
    const rows = new Map<keyof Tables, Row[]>()
    for (const { table, owner } of tables)
      rows.set(
        table,
        await tx
          .selectFrom(table)
          .selectAll()
          .where(owner, '=', userId as never)
          .execute(),
      )
    for (const { table, owner } of tables.toReversed())
      await tx
        .deleteFrom(table)
        .where(owner, '=', userId as never)
        .execute()
    for (const { table } of tables)
      for (const row of rows.get(table) ?? [])
        for (const copy of [createCopy(row, userId), row])
          await tx
            .insertInto(table)
            .values(copy as never)
            .execute()
  })
  // The service may have restarted, with another connection.
  return () => readUserRows(app.platform.db, TWIN)
}

/** Returns a user's rows in every table, sorted. */
export async function readUserRows(db: Db, userId: string): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {}
  for (const [table, columns] of await readTables(db)) {
    const column = table === 'users' ? 'id' : findOwnerColumn(columns)
    if (column === undefined) continue
    const found = await sql<Row>`
      select * from ${sql.table(table)} where ${sql.ref(column)} = ${userId}`.execute(db)
    rows[table] = found.rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  return rows
}

/** Returns the column with the user's id. */
function findOwnerColumn(columns: string[]): string | undefined {
  return ['user_id', 'owner'].find((column) => columns.includes(column))
}

function createCopy(row: Row, userId: string): Row {
  const entries = Object.entries(row).map(([column, value]) => {
    if (value === userId) return [column, TWIN]
    if (typeof value === 'string' && TEXT.test(column)) return [column, TWIN_TEXT]
    if (typeof value === 'number' && NUMBER.test(column)) return [column, value + 1_000]
    return [column, value]
  })
  return Object.fromEntries(entries)
}

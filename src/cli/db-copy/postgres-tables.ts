/**
 * Reads and fills the tables of a PostgreSQL schema. Values travel as texts, cast by the server:
 * nothing is lost, down to the microsecond and the last digit.
 */
import { CompiledQuery, sql } from 'kysely'
import { type Db, transaction, withoutTimeLimit } from '#platform/db/db.ts'
import { storable } from '#platform/db/postgres.ts'
import type { Row, Snapshot, Table } from './table-sums.ts'

const BATCH_ROWS_MAX = 2_000
const BATCH_CHARACTERS = 4 * 1024 * 1024

/**
 * Runs `work` in a transaction that sees one moment and blocks no writer. `tx` exports it to other
 * connections.
 */
export function withPostgresSnapshot<T>(
  db: Db,
  work: (snapshot: Snapshot, tx: Db) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx)
    await withoutTimeLimit(tx)
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    return work(openSnapshot(tx), tx)
  })
}

/** Reads the snapshot that a transaction exported. */
export const openSnapshot = (tx: Db): Snapshot => ({
  tables: () => listTables(tx),
  rows: (table) => readRows(tx, table),
})

/** Lists the tables of the current schema, without those of extensions and without partitions. */
export async function listTables(tx: Db): Promise<Table[]> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    group by c.relname order by c.relname`.execute(tx)
  return rows
}

async function* readRows(tx: Db, { name, columns }: Table): AsyncGenerator<Row> {
  const types = await readTypes(tx, name)
  const texts = columns.map((column) => selectAsText(column, types[column] ?? 'text'))
  await sql
    .raw(
      `declare copied no scroll cursor for select array[${texts.join(', ')}] as row from ${quoteName(name)}`,
    )
    .execute(tx)
  // Rows have bytes or megabytes: the size of the last batch decides the length of the next.
  let count = 50
  for (;;) {
    const { rows } = await sql.raw<{ row: Row }>(`fetch ${count} from copied`).execute(tx)
    for (const { row } of rows) yield row
    if (rows.length < count) break
    const characters = rows.reduce((sum, { row }) => sum + countCharacters(row), 0)
    const fitting = Math.floor((BATCH_CHARACTERS / Math.max(1, characters)) * count)
    count = Math.max(1, Math.min(BATCH_ROWS_MAX, count * 4, fitting))
  }
  await sql.raw('close copied').execute(tx)
}

/** Returns each column's type as the server writes it: `timestamp with time zone`, `vector`. */
async function readTypes(tx: Db, name: string): Promise<Record<string, string>> {
  const { rows } = await sql<{ column: string; type: string }>`
    select attname as column, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${quoteName(name)}::text::regclass and attnum > 0 and not attisdropped`.execute(
    tx,
  )
  return Object.fromEntries(rows.map(({ column, type }) => [column, type]))
}

function selectAsText(column: string, type: string): string {
  const name = quoteName(column)
  if (type === 'bytea') return `encode(${name}, 'hex')`
  if (type !== 'timestamp with time zone') return `${name}::text`
  return `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/** Inserts rows into an empty table, some megabytes per statement. */
export async function fillTable(tx: Db, table: Table, rows: AsyncIterable<Row>): Promise<void> {
  const types = await readTypes(tx, table.name)
  const missing = table.columns.filter((column) => types[column] === undefined)
  if (missing.length > 0)
    throw new Error(`the target's table ${table.name} has no column ${missing.join(', ')}`)
  const isJson = table.columns.map((column) => types[column] === 'jsonb')
  const names = table.columns.map((_, at) => `c${at}`)
  const values = table.columns.map((column, at) => castFromText(`c${at}`, types[column] ?? 'text'))
  const statement = `insert into ${quoteName(table.name)} (${table.columns.map(quoteName).join(', ')}) overriding system value
    select ${values.join(', ')} from unnest(${names.map((_, at) => `$${at + 1}::text[]`).join(', ')}) as rows (${names.join(', ')})`

  let batch: Row[] = []
  let characters = 0
  const flush = async () => {
    if (batch.length === 0) return
    const columns = names.map((_, at) => formatArray(batch.map((row) => row[at] ?? null)))
    await tx.executeQuery(CompiledQuery.raw(statement, columns))
    batch = []
    characters = 0
  }
  for await (const row of rows) {
    batch.push(
      row.map((text, at) =>
        text === null ? null : isJson[at] ? replaceUnstorable(text) : storable(text),
      ),
    )
    characters += countCharacters(row)
    if (batch.length >= BATCH_ROWS_MAX || characters >= BATCH_CHARACTERS) await flush()
  }
  await flush()
}

/** Replaces characters that SQLite accepts and jsonb rejects: NUL and unpaired surrogates. */
function replaceUnstorable(text: string): string {
  if (!/\\u0000|\\ud[89a-f]/i.test(text)) return storable(text)
  return JSON.stringify(
    JSON.parse(text, (_, part) => (typeof part === 'string' ? storable(part) : part)),
  )
}

function castFromText(name: string, type: string): string {
  return type === 'bytea' ? `decode(${name}, 'hex')` : `${name}::${type}`
}

/** Writes an array literal of PostgreSQL. */
function formatArray(texts: readonly (string | null)[]): string {
  const items = texts.map((text) =>
    text === null ? 'null' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}

/** Sets identity columns to continue after their highest value. */
export async function continueSequences(tx: Db): Promise<void> {
  const { rows } = await sql<{ name: string; column: string }>`
    select c.relname as name, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and a.attidentity <> '' and c.relkind in ('r', 'p')`.execute(
    tx,
  )
  for (const { name, column } of rows) {
    await sql`select setval(pg_get_serial_sequence(${quoteName(name)}::text, ${column}::text),
      greatest(1, (select max(${sql.ref(column)}) from ${sql.table(name)})),
      exists (select from ${sql.table(name)}))`.execute(tx)
  }
}

/**
 * Runs `work` without foreign keys, then adds them again, which checks every row. It needs no right
 * beyond the owner's, unlike `session_replication_role`.
 */
export async function withoutForeignKeys(tx: Db, work: () => Promise<void>): Promise<void> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and k.conparentid = 0 and c.relnamespace = current_schema()::regnamespace`.execute(
    tx,
  )
  for (const { table, name } of keys) {
    await sql.raw(`alter table ${quoteName(table)} drop constraint ${quoteName(name)}`).execute(tx)
  }
  await work()
  for (const { table, name, definition } of keys) {
    await sql
      .raw(`alter table ${quoteName(table)} add constraint ${quoteName(name)} ${definition}`)
      .execute(tx)
  }
}

const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`

const countCharacters = (row: Row) => row.reduce((sum, text) => sum + (text?.length ?? 0), 0)

/**
 * PostgreSQL's side of backups: every table of the schema as it was at one moment (one transaction that sees no later commit and blocks
 * nobody), and the way back in. As texts both ways: the server's own casts lose nothing, to the microsecond and the last digit.
 */
import { CompiledQuery, sql } from 'kysely'
import { type Db, transaction, withoutTimeLimit } from '#platform/db/db.ts'
import { storable } from '#platform/db/postgres.ts'
import type { Row, Snapshot, Table } from './rows.ts'

const BATCH_ROWS_MAX = 2_000
const BATCH_CHARACTERS = 4 * 1024 * 1024

/** What `work` reads is of one moment, however long it takes. */
export function snapshotOfPostgres<T>(
  db: Db,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  return transaction(db, async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx)
    await withoutTimeLimit(tx)
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    return work(snapshotIn(tx))
  })
}

/** As the transaction sees it. */
export const snapshotIn = (tx: Db): Snapshot => ({
  tables: () => tablesOf(tx),
  rows: (table) => rowsOf(tx, table),
})

/** Ordinary tables of the schema that the service uses; an extension's own are none of ours, a partition is part of its table. */
export async function tablesOf(tx: Db): Promise<Table[]> {
  const { rows } = await sql<{ name: string; columns: string[] }>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
    group by c.relname order by c.relname`.execute(tx)
  return rows
}

async function* rowsOf(tx: Db, { name, columns }: Table): AsyncGenerator<Row> {
  const types = await typesOf(tx, name)
  const texts = columns.map((column) => asText(column, types[column] ?? 'text'))
  await sql
    .raw(
      `declare copied no scroll cursor for select array[${texts.join(', ')}] as row from ${quoted(name)}`,
    )
    .execute(tx)
  // Rows may be of bytes or of megabytes: what comes at once follows what came before.
  let count = 50
  for (;;) {
    const { rows } = await sql.raw<{ row: Row }>(`fetch ${count} from copied`).execute(tx)
    for (const { row } of rows) yield row
    if (rows.length < count) break
    const characters = rows.reduce((sum, { row }) => sum + charactersOf(row), 0)
    const fitting = Math.floor((BATCH_CHARACTERS / Math.max(1, characters)) * count)
    count = Math.max(1, Math.min(BATCH_ROWS_MAX, count * 4, fitting))
  }
  await sql.raw('close copied').execute(tx)
}

/** What a column is, as the server writes it: `timestamp with time zone`, `vector`. */
async function typesOf(tx: Db, name: string): Promise<Record<string, string>> {
  const { rows } = await sql<{ column: string; type: string }>`
    select attname as column, format_type(atttypid, atttypmod) as type from pg_attribute
    where attrelid = ${quoted(name)}::text::regclass and attnum > 0 and not attisdropped`.execute(
    tx,
  )
  return Object.fromEntries(rows.map(({ column, type }) => [column, type]))
}

function asText(column: string, type: string): string {
  const name = quoted(column)
  if (type === 'bytea') return `encode(${name}, 'hex')`
  if (type !== 'timestamp with time zone') return `${name}::text`
  return `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

/** Puts rows into an empty table. @returns how many. */
export async function fillTable(tx: Db, table: Table, rows: AsyncIterable<Row>): Promise<number> {
  const types = await typesOf(tx, table.name)
  const missing = table.columns.filter((column) => types[column] === undefined)
  if (missing.length > 0) throw new Error(`${table.name} has no ${missing.join(', ')} here`)
  const isJson = table.columns.map((column) => types[column] === 'jsonb')
  const names = table.columns.map((_, at) => `c${at}`)
  const values = table.columns.map((column, at) => fromText(`c${at}`, types[column] ?? 'text'))
  const statement = `insert into ${quoted(table.name)} (${table.columns.map(quoted).join(', ')}) overriding system value
    select ${values.join(', ')} from unnest(${names.map((_, at) => `$${at + 1}::text[]`).join(', ')}) as rows (${names.join(', ')})`

  let batch: Row[] = []
  let characters = 0
  let count = 0
  const flush = async () => {
    if (batch.length === 0) return
    const columns = names.map((_, at) => arrayOf(batch.map((row) => row[at] ?? null)))
    await tx.executeQuery(CompiledQuery.raw(statement, columns))
    count += batch.length
    batch = []
    characters = 0
  }
  for await (const row of rows) {
    batch.push(
      row.map((text, at) =>
        text === null ? null : isJson[at] ? storableJson(text) : storable(text),
      ),
    )
    characters += charactersOf(row)
    if (batch.length >= BATCH_ROWS_MAX || characters >= BATCH_CHARACTERS) await flush()
  }
  await flush()
  return count
}

/** What SQLite keeps and jsonb does not: NUL, and halves of characters. */
function storableJson(text: string): string {
  if (!/\\u0000|\\ud[89a-f]/i.test(text)) return storable(text)
  return JSON.stringify(
    JSON.parse(text, (_, part) => (typeof part === 'string' ? storable(part) : part)),
  )
}

function fromText(name: string, type: string): string {
  return type === 'bytea' ? `decode(${name}, 'hex')` : `${name}::${type}`
}

/** An array as PostgreSQL reads it. */
function arrayOf(texts: readonly (string | null)[]): string {
  const items = texts.map((text) =>
    text === null ? 'null' : `"${text.replaceAll(/["\\]/g, '\\$&')}"`,
  )
  return `{${items.join(',')}}`
}

/** The next values of identity columns follow the highest that is there. */
export async function continueSequences(tx: Db): Promise<void> {
  const { rows } = await sql<{ name: string; column: string }>`
    select c.relname as name, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = current_schema()::regnamespace and a.attidentity <> '' and c.relkind in ('r', 'p')`.execute(
    tx,
  )
  for (const { name, column } of rows) {
    await sql`select setval(pg_get_serial_sequence(${quoted(name)}::text, ${column}::text),
      greatest(1, (select max(${sql.ref(column)}) from ${sql.table(name)})),
      exists (select from ${sql.table(name)}))`.execute(tx)
  }
}

/** Runs `work` without foreign keys, and makes them again: the server then looks at every row. */
export async function withoutForeignKeys(tx: Db, work: () => Promise<void>): Promise<void> {
  const { rows: keys } = await sql<{ table: string; name: string; definition: string }>`
    select c.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class c on c.oid = k.conrelid
    where k.contype = 'f' and k.conparentid = 0 and c.relnamespace = current_schema()::regnamespace`.execute(
    tx,
  )
  for (const { table, name } of keys) {
    await sql.raw(`alter table ${quoted(table)} drop constraint ${quoted(name)}`).execute(tx)
  }
  await work()
  for (const { table, name, definition } of keys) {
    await sql
      .raw(`alter table ${quoted(table)} add constraint ${quoted(name)} ${definition}`)
      .execute(tx)
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

const charactersOf = (row: Row) => row.reduce((sum, text) => sum + (text?.length ?? 0), 0)

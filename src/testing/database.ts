/**
 * Selects the database of a test: SQLite, unless TEST_DATABASE_URL names a PostgreSQL server or
 * TEST_ENGINE=pglite selects the embedded one. Migrations take longer than most tests, so they run
 * once per process: SQLite's file is then copied, the embedded engine's tables are emptied. Trap: a
 * test of the migrations needs an empty database.
 */
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { citusScript } from '#app/sharding.ts'
import { systemClock } from '#platform/clock.ts'
import { type Db, findDialect } from '#platform/db/db.ts'
import { type Migration, migrate } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import { openPgvector } from '#rag/search/stores/pgvector.ts'

/** Several connections at once, and a separate clock. */
export const ON_POSTGRES =
  Boolean(process.env.TEST_DATABASE_URL) || process.env.TEST_ENGINE === 'pglite'

/** One connection in the tests' process: tests that need several, or many, use a real server. */
export const ON_EMBEDDED =
  process.env.TEST_ENGINE === 'pglite' && 'asked of SQLite and of a real server'

export type FreshDatabase = { url: string | null; drop(): Promise<unknown> }

/** An empty place of the test's own; a null address means SQLite in the test's own folder. */
export async function freshDatabaseUrl(): Promise<FreshDatabase> {
  if (process.env.TEST_DATABASE_URL) return onServer(process.env.TEST_DATABASE_URL)
  if (process.env.TEST_ENGINE === 'pglite') return onPglite(({ empty }) => empty())
  return { url: null, drop: async () => {} }
}

/**
 * As a service leaves it that has started on an empty place and served nobody; `dataDir` is where
 * SQLite's file is put.
 */
export async function migratedDatabase(
  dataDir: string,
  migrations: Migration[],
): Promise<FreshDatabase> {
  if (process.env.TEST_DATABASE_URL) {
    if (process.env.TEST_COPIED)
      return copiedOnServer(process.env.TEST_DATABASE_URL, process.env.TEST_COPIED, dataDir)
    return migratedOnServer(process.env.TEST_DATABASE_URL, migrations)
  }
  if (process.env.TEST_ENGINE === 'pglite') return onPglite((engine) => engine.migrated(migrations))
  sqliteFile ??= migratedFile(migrations)
  writeFileSync(join(dataDir, 'latchkey.db'), await sqliteFile)
  return { url: null, drop: async () => {} }
}

let sqliteFile: Promise<Uint8Array> | null = null

async function migratedFile(migrations: Migration[]): Promise<Uint8Array> {
  const dataDir = mkdtempSync(join(tmpdir(), 'latchkey-migrated-'))
  const database = openDatabase({ databaseUrl: null, dataDir })
  await migrate(database.db, migrations, systemClock.now()).finally(() => database.close())
  const file = readFileSync(join(dataDir, 'latchkey.db'))
  rmSync(dataDir, { recursive: true, force: true })
  return file
}

/** Until one connection waits for another's lock; at once where there is only one connection. */
export async function untilOneWaits(db: Db): Promise<void> {
  if (!process.env.TEST_DATABASE_URL) return
  for (;;) {
    const { rows } = await sql`select 1 from pg_locks where not granted`.execute(db)
    if (rows.length > 0) return
    await setTimeout(10)
  }
}

/**
 * Returns the columns of each table of the test's own schema. Kysely's introspection reads all
 * schemas of the server, and fails when another test drops one meanwhile.
 */
export async function readTables(db: Db): Promise<Map<string, string[]>> {
  const { rows } = await (findDialect(db) === 'sqlite'
    ? sql<ColumnRow>`
          select t.name as "table", c.name as "column" from sqlite_schema as t, pragma_table_info(t.name) as c
          where t.type = 'table' and t.name not like 'sqlite_%'`
    : sql<ColumnRow>`
          select table_name as "table", column_name as "column" from information_schema.columns
          where table_schema = current_schema()`
  ).execute(db)
  const columns = Map.groupBy(rows, ({ table }) => table)
  return new Map([...columns].map(([table, of]) => [table, of.map(({ column }) => column)]))
}

type ColumnRow = { table: string; column: string }

/** A separate schema: quicker than a separate database, and equally isolated. */
async function onServer(
  serverUrl: string,
): Promise<{ schema: string; url: string; drop(): Promise<unknown> }> {
  const schema = `${process.env.TEST_SCHEMAS ?? 'test'}_${randomBytes(8).toString('hex')}`
  await withServer(serverUrl, (client) => client.query(`create schema ${schema}`))
  const url = new URL(serverUrl)
  url.searchParams.set('search_path', `${schema},public`)
  url.searchParams.set('max', '4')
  const drop = () =>
    withServer(serverUrl, (client) => client.query(dropping([schema, keptSchemaName(schema)])))
  return { schema, url: url.href, drop }
}

/** Creates an empty database on the server of `url`, with the same schema name. */
export async function createSiblingDatabase(url: string): Promise<FreshDatabase> {
  const name = `${process.env.TEST_SCHEMAS ?? 'test'}_${randomBytes(8).toString('hex')}`
  await withServer(url, (client) => client.query(`create database ${name}`))
  const fresh = new URL(url)
  fresh.pathname = `/${name}`
  const [schema = ''] = (fresh.searchParams.get('search_path') ?? '').split(',')
  if (schema) await withServer(fresh.href, (client) => client.query(`create schema ${schema}`))
  const drop = () => withServer(url, (client) => client.query(`drop database ${name} with (force)`))
  return { url: fresh.href, drop }
}

/**
 * TEST_COPIED, a data folder: as `db copy` left it, which filled the database of the run's and the
 * folder's name from the folder's SQLite (`npm test -- --copied`). A separate database for each
 * test, with the folder's other files beside it.
 */
async function copiedOnServer(
  serverUrl: string,
  folder: string,
  dataDir: string,
): Promise<FreshDatabase> {
  const run = process.env.TEST_SCHEMAS
  const name = `${run}_${randomBytes(8).toString('hex')}`
  await withServer(serverUrl, (client) =>
    client.query(`create database ${name} template ${run}_${basename(folder)}`),
  )
  cpSync(folder, dataDir, { recursive: true, filter: (path) => !/latchkey\.db|\.lock$/.test(path) })
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  url.searchParams.set('max', '4')
  const drop = () =>
    withServer(serverUrl, (client) => client.query(`drop database ${name} with (force)`))
  return { url: url.href, drop }
}

/**
 * Migrated schemas without a test, wiped: to make one costs the server a quarter of a second, all
 * in one line.
 */
const spare: (Awaited<ReturnType<typeof onServer>> & { known: Look })[] = []

/**
 * Under `npm test`, which names the schemas and drops the remaining ones, the next test reuses the
 * schema of the previous one.
 */
async function migratedOnServer(
  serverUrl: string,
  migrations: Migration[],
): Promise<FreshDatabase> {
  if (process.env.TEST_SCHEMAS === undefined && !ON_CITUS) return onServer(serverUrl)
  const place = spare.pop() ?? (await migratedPlace(serverUrl, migrations))
  const drop = async () => {
    if (await isWiped(serverUrl, place)) spare.push(place)
    else await place.drop()
  }
  return { url: place.url, drop }
}

async function migratedPlace(serverUrl: string, migrations: Migration[]) {
  const place = await onServer(serverUrl)
  const { schema } = place
  const database = openDatabase({ databaseUrl: place.url, dataDir: '' })
  await migrate(database.db, migrations, systemClock.now())
    .then(() => openPgvector(database))
    .then(() => (ON_CITUS ? distributeTables(database.db) : undefined))
    .finally(() => database.close())
  return withServer(serverUrl, async (client) => {
    await client.query(keepRows(schema, keptSchemaName(schema)))
    const { rows } = await client.query<Look>(look(schema))
    return { ...place, known: rows[0] as Look }
  })
}

/**
 * TEST_CITUS=1: the server of TEST_DATABASE_URL coordinates a cluster; the tables are distributed
 * with the script of `db citus`.
 */
export const ON_CITUS = Boolean(process.env.TEST_CITUS)

async function distributeTables(db: Db): Promise<void> {
  const script = await citusScript(db)
  await db.connection().execute(async (one) => {
    // Enough shards to have several, and quick to create.
    await sql`set citus.shard_count = 2`.execute(one)
    for (const statement of script.split('\n'))
      if (/^select /.test(statement)) await sql.raw(statement).execute(one)
  })
}

/**
 * Returns false when a test changed or created a table, left many rows or a lock, or when the user
 * may not wipe.
 */
function isWiped(
  serverUrl: string,
  { schema, known }: { schema: string; known: Look },
): Promise<boolean> {
  return withServer(serverUrl, async (client) => {
    try {
      await client.query(`set lock_timeout = '2s'; ${wipe(schema, keptSchemaName(schema))}`)
      const { rows } = await client.query<Look>(look(schema))
      return rows[0]?.shape === known.shape && rows[0].bytes - known.bytes < GROWN_BYTES
    } catch {
      return false
    }
  })
}

const keptSchemaName = (schema: string) => `${schema}_kept`

const dropping = (schemas: string[]) => `drop schema if exists ${schemas.join(', ')} cascade`

async function withServer<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

type Engine = {
  url: string
  empty(): Promise<void>
  migrated(migrations: Migration[]): Promise<void>
}

let pglite: Promise<Engine> | null = null

/** One engine per process, wiped between tests, because starting one takes seconds and 600 MB. */
async function onPglite(wipe: (engine: Engine) => Promise<void>): Promise<FreshDatabase> {
  pglite ??= startPglite()
  const engine = await pglite
  await wipe(engine)
  return { url: engine.url, drop: async () => {} }
}

async function startPglite(): Promise<Engine> {
  const [{ PGlite }, { PGLiteSocketServer }, { vector }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite-socket'),
    import('@electric-sql/pglite-pgvector'),
  ])
  const db = await PGlite.create({ extensions: { vector } })
  const server = new PGLiteSocketServer({ db, host: '127.0.0.1', port: 0, maxConnections: 8 })
  await server.start()
  const port = Number(server.getServerConn().split(':').at(-1))
  const url = `postgres://postgres:postgres@127.0.0.1:${port}/postgres?max=1`
  const lookAtAll = async () => (await db.query<Look>(look('public'))).rows[0]
  let known: Look | undefined
  let wipes = 0

  const engine: Engine = {
    url,
    // One backend serves every connection, so it would plan the thousands of prepared statements of
    // earlier tests again after each schema change.
    empty: async () =>
      void (await db.exec(
        'deallocate all; drop schema public cascade; create schema public; create extension if not exists vector with schema public',
      )),
    async migrated(migrations) {
      if (known && (await isAsKnown(known))) {
        await db.exec(`deallocate all; ${wipe('public', 'migrated')}`)
        return
      }
      await engine.empty()
      const database = openDatabase({ databaseUrl: url, dataDir: '' })
      await migrate(database.db, migrations, systemClock.now())
        .then(() => openPgvector(database))
        .finally(() => database.close())
      await db.exec(`${keepRows('public', 'migrated')}; ${NOTE_CHANGES}`)
      known = await lookAtAll()
    },
  }
  return engine

  /** But for its rows, and for tables that a test made, which are dropped. */
  async function isAsKnown({ shape, tables, bytes }: Look): Promise<boolean> {
    const { rows } = await db.query('select from migrated.changes limit 1')
    // Checking takes longer than wiping.
    if (rows.length === 0 && ++wipes % WIPES_A_LOOK > 0) return true
    const made = (await lookAtAll())?.tables?.filter((name) => !tables?.includes(name))
    if (made?.length) await db.exec(`drop table ${made.join(', ')} cascade`)
    await db.exec('delete from migrated.changes')
    const now = await lookAtAll()
    // Deleted rows still occupy space, so tables that have grown are rebuilt.
    return now !== undefined && now.shape === shape && now.bytes - bytes < GROWN_BYTES
  }
}

type Look = { shape: string; tables: string[] | null; bytes: number }

const WIPES_A_LOOK = 10
const GROWN_BYTES = 8 * 2 ** 20

/**
 * Changes with any change of a table, a column, an index, a constraint, a trigger or a function.
 */
const look = (schema: string) => `
  with tables as (select oid, xmin, relname, relkind from pg_class where relnamespace = '${schema}'::regnamespace),
  things as (
    select xmin from tables
    union all select xmin from pg_attribute where attrelid in (select oid from tables)
    union all select xmin from pg_constraint where connamespace = '${schema}'::regnamespace
    union all select xmin from pg_trigger where tgrelid in (select oid from tables)
    union all select xmin from pg_proc where pronamespace = '${schema}'::regnamespace
  )
  select
    (select count(*) || ' things, the latest of ' || max(xmin::text::bigint) from things) as shape,
    (select array_agg(relname) from tables where relkind = 'r') as tables,
    (select sum(pg_total_relation_size(oid)) from tables where relkind = 'r')::int as bytes`

/** The rows that migrations themselves write. */
const keepRows = (schema: string, kept: string) => `
  drop schema if exists ${kept} cascade;
  create schema ${kept};
  do $$ declare name text; has_rows boolean; begin
    for name in select tablename from pg_tables where schemaname = '${schema}' loop
      execute format('select exists (select 1 from ${schema}.%I)', name) into has_rows;
      if has_rows then execute format('create table ${kept}.%I as table ${schema}.%I', name, name); end if;
    end loop;
  end $$`

/** For every change of the schema from now on. */
const NOTE_CHANGES = `
  create table migrated.changes (command text);
  create function migrated.made() returns event_trigger language plpgsql as $$ begin
    insert into migrated.changes select command_tag from pg_event_trigger_ddl_commands();
  end $$;
  create function migrated.dropped() returns event_trigger language plpgsql as $$ begin
    insert into migrated.changes values (tg_tag);
  end $$;
  create event trigger made on ddl_command_end execute function migrated.made();
  create event trigger dropped on sql_drop execute function migrated.dropped()`

/**
 * Not truncate, which creates a new file for each table and index. In the replica role foreign keys
 * are not checked.
 */
const wipe = (schema: string, kept: string) => `
  set session_replication_role = replica;
  do $$ declare name text; begin
    for name in select tablename from pg_tables where schemaname = '${schema}' loop
      execute format('delete from ${schema}.%I', name);
    end loop;
    for name in
      select sequencename from pg_sequences s where schemaname = '${schema}' and last_value is not null
      and not exists (select from pg_tables where schemaname = '${kept}' and starts_with(s.sequencename, tablename || '_'))
    loop
      perform setval(format('${schema}.%I', name), 1, false);
    end loop;
    for name in select tablename from pg_tables where schemaname = '${kept}' and tablename <> 'changes' loop
      execute format('insert into ${schema}.%I overriding system value select * from ${kept}.%I', name, name);
    end loop;
  end $$;
  reset session_replication_role`

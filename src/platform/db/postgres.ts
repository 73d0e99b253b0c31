// Guards the server engine: postgres.js under Kysely. Outside transactions queries are pipelined on shared connections.
// One thing to know: the type parsers below make rows look exactly as SQLite's do (numbers, ISO strings, objects).
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import postgres from 'postgres'
import type { ShortWay } from './prepared.ts'
import type { SoonWay } from './soon.ts'

type Sql = postgres.Sql<Record<string, never>>

export type PostgresOptions = { connectionsMax: number; onNotice?: (message: string) => void }

/** Opens the pool; connections are made when they are first needed. */
export function openPostgres(url: string, { connectionsMax, onNotice }: PostgresOptions): Sql {
  return postgres(url, {
    max: connectionsMax,
    idle_timeout: 60,
    connect_timeout: 10,
    onnotice: (notice) => onNotice?.(String(notice.message)),
    connection: { application_name: 'latchkey' },
    types: {
      // int8 and numeric: counts, sums and amounts stay far below 2^53.
      bigint: { to: 20, from: [20, 1700], parse: Number, serialize: String },
      instant: {
        to: 1184,
        from: [1184],
        parse: (text: string) => new Date(text).toISOString(),
        serialize: (value: Date | string) => (typeof value === 'string' ? value : value.toISOString()),
      },
    } as never,
  }) as unknown as Sql
}

export function postgresDialect(sql: Sql): Dialect {
  return {
    createAdapter: () => new PipelinedPostgresAdapter(sql),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createDriver: () => postgresDriver(sql),
  }
}

/** `firstRow` is the short way for prepared reads (prepared.ts), `commitSoon` that of soon.ts. */
class PipelinedPostgresAdapter extends PostgresAdapter implements ShortWay, SoonWay {
  readonly firstRow: ShortWay['firstRow']
  readonly commitSoon: SoonWay['commitSoon']
  constructor(sql: Sql) {
    super()
    this.firstRow = (text, parameters) => firstRow(sql, text, parameters)
    this.commitSoon = (queries) => commitSoon(sql, queries)
  }
}

/** The server answers the commit before its disk has it, and flushes within some tenths of a second. */
async function commitSoon(sql: Sql, queries: CompiledQuery[]): Promise<void> {
  const reserved = await sql.reserve()
  try {
    await reserved.unsafe('begin; set local synchronous_commit = off')
    try {
      for (const query of queries) await run(reserved, query)
      await reserved.unsafe('commit')
    } catch (error) {
      await reserved.unsafe('rollback')
      throw error
    }
  } finally {
    reserved.release()
  }
}

function postgresDriver(sql: Sql): Driver {
  const reservations = new WeakMap<DatabaseConnection, postgres.ReservedSql>()

  return {
    async init() {},
    async acquireConnection() {
      return { executeQuery: (query) => run(sql, query), streamQuery: refuseStreaming }
    },
    async beginTransaction(connection) {
      const reserved = await sql.reserve()
      try {
        await reserved.unsafe('begin')
      } catch (error) {
        reserved.release()
        throw error
      }
      reservations.set(connection, reserved)
      connection.executeQuery = (query) => run(reserved, query)
    },
    async commitTransaction(connection) {
      await end(connection, 'commit')
    },
    async rollbackTransaction(connection) {
      await end(connection, 'rollback')
    },
    async releaseConnection() {},
    async destroy() {
      await sql.end({ timeout: 5 })
    },
  }

  async function end(connection: DatabaseConnection, statement: 'commit' | 'rollback') {
    const reserved = reservations.get(connection)
    // Kysely rolls back after a failed commit too; the connection is given back only once.
    if (!reserved) return
    reservations.delete(connection)
    try {
      await reserved.unsafe(statement)
    } finally {
      reserved.release()
    }
  }
}

async function run<R>(sql: Pick<Sql, 'unsafe' | 'json'>, query: CompiledQuery): Promise<QueryResult<R>> {
  const parameters = query.parameters.map((value) => encode(sql, value)) as never[]
  const rows = await sql.unsafe(query.sql, parameters, { prepare: true })
  return { rows: Array.from(rows) as R[], numAffectedRows: BigInt(rows.count ?? 0) }
}

async function firstRow<R>(sql: Sql, text: string, parameters: readonly unknown[]): Promise<R | undefined> {
  const rows = await sql.unsafe(text, parameters.map((value) => encode(sql, value)) as never[], { prepare: true })
  return rows[0] as R | undefined
}

/**
 * PostgreSQL's text takes no NUL, and its jsonb no half of a surrogate pair either: both become U+FFFD, so that what a
 * stranger types is an unknown address or an odd name, and never a failed statement.
 */
function encode(sql: Pick<Sql, 'json'>, value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string') return value.includes('\0') ? storable(value) : value
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array || value instanceof Date) return value
  const text = JSON.stringify(value)
  if (!UNSTORABLE.test(text)) return sql.json(value as never)
  return sql.json(JSON.parse(text, (_, part) => (typeof part === 'string' ? storable(part) : part)))
}

/** As JSON.stringify writes them. */
const UNSTORABLE = /\\u0000|\\ud[89a-f]/

const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')

function refuseStreaming(): never {
  throw new Error('rows are read whole: page through large results')
}

/**
 * The PostgreSQL dialect for Kysely, built on node-postgres with one pool. Each connection runs one
 * statement at a time, with a time limit. The type parsers return the same row values as SQLite's
 * (numbers, ISO strings, objects).
 */
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
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { lazyRequire } from '../lazy-require.ts'
import { type AsyncCommit, type FastRead, type Run, WITHOUT_TIME_LIMIT } from './adapter.ts'
import { DatabaseUnreachable, databaseFailure } from './failures.ts'
import { Liveness } from './postgres-liveness.ts'

const pg = lazyRequire<typeof import('pg')>('pg')

export type PostgresOptions = { connectionsMax: number; onNotice?: (message: string) => void }

/**
 * Maximum wait for a free connection, and for a new one. A request fails within five seconds,
 * including the check of a dead connection before.
 */
const CONNECT_MS = 3_500
/** The server cancels a statement after this time, including the time that it waits for a lock. */
const STATEMENT_MS = 10_000
/**
 * If the server or its network hangs, this process closes the connection this long after the
 * statement's limit.
 */
const ANSWER_GRACE_MS = 2_000
/**
 * The server ends a transaction that is idle for this long, so that a stopped process does not
 * block the others.
 */
const IDLE_IN_TRANSACTION_MS = 60_000
/**
 * Delay before a failed read is retried, so that the failure has closed all affected connections by
 * then.
 */
const READ_AGAIN_MS = 250
/**
 * Maximum of prepared statements per connection. Beyond it, statements are not prepared, because
 * the server stores each one and some texts vary (lists of ids).
 */
const STATEMENTS_MAX = 500

/** Opens the pool; connections are made when they are first needed. */
export function openPostgres(
  url: string,
  { connectionsMax, onNotice }: PostgresOptions,
): PostgresPool {
  const { types } = pg()
  const pool = new (pg().Pool)({
    ...readPoolConfig(url),
    max: connectionsMax,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        findParser(oid) ?? types.getTypeParser(oid, format)) as never,
    },
  })
  // An idle connection that ends leaves the pool. The user of a busy connection gets the error from
  // its next statement.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
    if (onNotice) client.on('notice', (notice) => onNotice(String(notice.message)))
  })
  return { pool, answerMs: readAnswerMs(url), namings: new WeakMap(), liveness: new Liveness() }
}

export type PostgresPool = {
  pool: Pool
  /** Milliseconds after which this process gives up on a statement; 0: no limit. */
  answerMs: number
  namings: WeakMap<PoolClient, Naming>
  liveness: Liveness
}

/**
 * Parameters of the address that configure the driver. All others are settings of the server, such
 * as `search_path`.
 */
const DRIVER_SETTINGS = new Set(['application_name', 'client_encoding', 'ssl', 'uselibpqcompat'])
const isDriverSetting = (name: string) => DRIVER_SETTINGS.has(name) || name.startsWith('ssl')

/** Returns the driver's options. @throws Error that names the wrong setting. */
export function readPoolConfig(url: string): PoolConfig {
  const address = new URL(url)
  const limits = readLimits(address)
  for (const name of Object.keys(limits)) address.searchParams.delete(name)
  const { searchParams } = address
  const options = searchParams.get('options') ? [searchParams.get('options')] : []
  for (const [name, value] of [...searchParams]) {
    if (isDriverSetting(name)) continue
    searchParams.delete(name)
    if (name !== 'max' && name !== 'options')
      options.push(`-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
  }
  // `require` and `verify-full` mean what PostgreSQL's documentation says.
  if (searchParams.has('sslmode')) searchParams.set('uselibpqcompat', 'true')
  return {
    application_name: searchParams.get('application_name') ?? 'latchkey',
    // Sent when the connection starts. 0 sends nothing, because a proxy such as PgBouncer rejects
    // unknown settings.
    ...limits,
    connectionString: address.href,
    ...(options.length > 0 ? { options: options.join(' ') } : {}),
  }
}

/** `?statement_timeout=30000` in the address sets another limit; 0 removes it. */
function readLimits({ searchParams }: URL) {
  const readMs = (name: string, fallback: number) => {
    const value = searchParams.get(name)
    if (value === null) return fallback
    if (/^\d{1,9}$/.test(value)) return Number(value)
    throw new Error(
      `DATABASE_URL is wrong: ${name} expects a whole number of milliseconds, got '${value}'`,
    )
  }
  return {
    statement_timeout: readMs('statement_timeout', STATEMENT_MS),
    idle_in_transaction_session_timeout: readMs(
      'idle_in_transaction_session_timeout',
      IDLE_IN_TRANSACTION_MS,
    ),
  }
}

function readAnswerMs(url: string): number {
  const statementMs = readLimits(new URL(url)).statement_timeout
  return statementMs === 0 ? 0 : statementMs + ANSWER_GRACE_MS
}

/**
 * int8 and numeric become numbers: counts, sums and amounts stay far below 2^53. timestamptz
 * becomes the ISO text that was written.
 */
function findParser(oid: number): ((text: string) => unknown) | undefined {
  if (oid === 20 || oid === 1700) return Number
  if (oid === 1184) return (text) => new Date(text).toISOString()
  return undefined
}

export function postgresDialect(server: PostgresPool): Dialect {
  return {
    createAdapter: () => new PooledPostgresAdapter(server),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createDriver: () => postgresDriver(server),
  }
}

/** `firstRow` serves prepared reads (prepared.ts). */
class PooledPostgresAdapter extends PostgresAdapter implements FastRead, AsyncCommit {
  readonly firstRow: FastRead['firstRow']
  readonly commitAsync: AsyncCommit['commitAsync']
  constructor(server: PostgresPool) {
    super()
    this.firstRow = (text, parameters) => firstRow(server, text, parameters)
    this.commitAsync = (work, committed) => commitAsync(server, work, committed)
  }
}

/**
 * Commits with `synchronous_commit = off`: the server answers before the commit is on disk, and
 * flushes within some tenths of a second.
 */
async function commitAsync<T>(
  server: PostgresPool,
  work: (run: Run) => Promise<T>,
  committed?: (result: T) => void,
): Promise<T> {
  const connection = await connect(server)
  try {
    await connection.run('begin; set local synchronous_commit = off')
    const result = await work(async (query) =>
      toQueryResult(await connection.run(query.sql, query.parameters)),
    )
    await connection.run('commit')
    committed?.(result)
    return result
  } catch (error) {
    await connection.rollBack()
    throw error
  } finally {
    connection.release()
  }
}

function postgresDriver(server: PostgresPool): Driver {
  const transactions = new WeakMap<DatabaseConnection, Connection>()

  return {
    async init() {},
    async acquireConnection() {
      return { executeQuery: (query) => runAlone(server, query), streamQuery: refuseStreaming }
    },
    async beginTransaction(kysely) {
      const connection = await connect(server)
      try {
        await connection.run('begin')
      } catch (error) {
        connection.release()
        throw error
      }
      transactions.set(kysely, connection)
      kysely.executeQuery = async (query) =>
        toQueryResult(await connection.run(query.sql, query.parameters))
    },
    async commitTransaction(kysely) {
      const connection = transactions.get(kysely)
      // After a failed commit, Kysely calls `rollbackTransaction`, which releases the connection.
      await connection?.run('commit')
      transactions.delete(kysely)
      connection?.release()
    },
    async rollbackTransaction(kysely) {
      const connection = transactions.get(kysely)
      if (!connection) return
      transactions.delete(kysely)
      await connection.rollBack()
      connection.release()
    },
    async releaseConnection() {},
    async destroy() {
      await Promise.race([
        server.pool.end(),
        new Promise((resolve) => setTimeout(resolve, CONNECT_MS).unref()),
      ])
    },
  }
}

/**
 * Runs a statement outside of a transaction. A read whose connection broke is retried once, because
 * it changes nothing.
 */
async function runAlone<R>(server: PostgresPool, query: CompiledQuery): Promise<QueryResult<R>> {
  const isRead = query.query.kind === 'SelectQueryNode'
  return toQueryResult(
    isRead
      ? await readAgain(() => runOnce(server, query.sql, query.parameters))
      : await runOnce(server, query.sql, query.parameters),
  )
}

async function firstRow<R>(
  server: PostgresPool,
  text: string,
  parameters: readonly unknown[],
): Promise<R | undefined> {
  const { rows } = await readAgain(() => runOnce(server, text, parameters))
  return rows[0] as R | undefined
}

async function readAgain<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    // Timeouts are not retried: the statement would wait for the full time again.
    if (
      databaseFailure(error) !== 'unreachable' ||
      (error instanceof DatabaseUnreachable && error.isTimeout)
    )
      throw error
    await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS))
    return await read()
  }
}

async function runOnce(
  server: PostgresPool,
  text: string,
  parameters: readonly unknown[],
): Promise<Rows> {
  const connection = await connect(server)
  try {
    return await connection.run(text, parameters)
  } catch (error) {
    if (!isStale(error)) throw error
    // The prepared statement is stale, for example after another node's migration. `run` forgot its
    // name, and a new name makes the server plan it again.
    return await connection.run(text, parameters)
  } finally {
    connection.release()
  }
}

type Rows = { rows: unknown[]; rowCount: number | null }

function toQueryResult<R>({ rows, rowCount }: Rows): QueryResult<R> {
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
}

type Connection = {
  /** Statements run in call order. @throws DatabaseUnreachable, or the server's error. */
  run(text: string, parameters?: readonly unknown[]): Promise<Rows>
  /** Never throws: a transaction whose connection is gone has been rolled back by the server. */
  rollBack(): Promise<void>
  /** Callable once. A broken connection does not return to the pool. */
  release(): void
}

/** @throws DatabaseUnreachable when no connection is free in time and none can be opened. */
async function connect(server: PostgresPool): Promise<Connection> {
  const { liveness } = server
  const client = await liveness.connect(server.pool).catch((error: Error) => {
    throw explained(error)
  })
  let failure: Error | null = null
  let limitMs = server.answerMs
  let last: Promise<unknown> | null = null

  const send = async (text: string, parameters: readonly unknown[] | undefined): Promise<Rows> => {
    if (failure) throw failure
    if (text === WITHOUT_TIME_LIMIT) limitMs = 0
    const naming = parameters && prepareNaming(server, client)
    const name = naming?.assignName(text)
    // A statement without a limit may be silent for long.
    if (limitMs !== 0) liveness.asked(client)
    try {
      const rows = await client.query({
        text,
        ...(parameters === undefined ? {} : { values: parameters.map(encode) }),
        ...(name === undefined ? {} : { name }),
        ...(limitMs === 0 ? {} : { query_timeout: limitMs }),
      } as never)
      liveness.settled(client, true)
      return rows
    } catch (error) {
      const known = explained(error as Error)
      liveness.settled(client, !(known instanceof DatabaseUnreachable))
      if (known instanceof DatabaseUnreachable || databaseFailure(known) === 'unreachable')
        failure = known
      else if (isStale(known)) naming?.forget(text)
      throw known
    }
  }

  const run: Connection['run'] = (text, parameters) => {
    // The driver has an internal queue and advises against using it.
    const ran = last === null ? send(text, parameters) : last.then(() => send(text, parameters))
    const settled = ran.then(
      () => {},
      () => {},
    )
    last = settled
    void settled.then(() => {
      if (last === settled) last = null
    })
    return ran
  }

  return {
    run,
    async rollBack() {
      if (failure === null) {
        await run('rollback').catch((error: Error) => {
          failure ??= error
        })
      }
    },
    release: () => client.release(failure ?? undefined),
  }
}

type Naming = { assignName(text: string): string | undefined; forget(text: string): void }

/**
 * Assigns names of prepared statements. They have a random prefix per connection, because several
 * connections may share one server session (a proxy, or the embedded server).
 */
function prepareNaming(server: PostgresPool, client: PoolClient): Naming {
  const known = server.namings.get(client)
  if (known) return known
  const prefix = crypto.randomUUID().slice(0, 13)
  const names = new Map<string, string>()
  let count = 0
  const naming: Naming = {
    assignName(text) {
      const name = names.get(text)
      if (name !== undefined || count >= STATEMENTS_MAX) return name
      const fresh = `${prefix}_${count++}`
      names.set(text, fresh)
      return fresh
    },
    forget: (text) => void names.delete(text),
  }
  server.namings.set(client, naming)
  return naming
}

/**
 * 0A000: "cached plan must not change result type". 26000: the proxy switched to a session that
 * does not have the prepared statement.
 */
function isStale(error: unknown): boolean {
  const { code, routine } = error as { code?: unknown; routine?: unknown }
  return (code === '0A000' && routine === 'RevalidateCachedQuery') || code === '26000'
}

/** Returns errors of the server unchanged, and any other as a failure of the connection. */
function explained(error: Error): Error {
  const isServers = typeof (error as { severity?: unknown }).severity === 'string'
  if (isServers || error instanceof TypeError || error instanceof RangeError) return error
  const isTimeout = /timeout/i.test(error.message)
  const reasons = error instanceof AggregateError ? (error.errors as Error[]) : [error]
  return new DatabaseUnreachable(reasons[0]?.message || error.message, { isTimeout, cause: error })
}

/**
 * PostgreSQL's text rejects NUL, and its jsonb rejects half a surrogate pair. Both become U+FFFD,
 * so that such input is stored or not found, but never fails the statement.
 */
function encode(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string') return value.includes('\0') ? storable(value) : value
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Date) return value.toISOString()
  const text = JSON.stringify(value)
  if (!UNSTORABLE.test(text)) return text
  return JSON.stringify(
    JSON.parse(text, (_, part) => (typeof part === 'string' ? storable(part) : part)),
  )
}

/** NUL and half surrogate pairs, as JSON.stringify writes them. */
const UNSTORABLE = /\\u0000|\\ud[89a-f]/

export const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd')

function refuseStreaming(): never {
  throw new Error('rows are read whole: page through large results')
}

/**
 * The SQLite dialect for Kysely, built on node:sqlite: one writer, and readers that never wait for
 * it. With WAL and synchronous=FULL, an acknowledged commit survives kill -9 and a power cut. An
 * asynchronous commit (async-commit.ts) survives kill -9 at once, and a power cut a moment later.
 */
import { open } from 'node:fs/promises'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { LRUCache } from 'lru-cache'
import type { AsyncCommit, FastRead } from './adapter.ts'
import { DatabaseBusy } from './failures.ts'

const STATEMENTS_MAX = 500
const LOCK_WAIT_MS = 30_000
/** The longest time that an asynchronous commit may stay unflushed. */
const FLUSH_DELAY_MS = 50

/** @param path a file; `:memory:` is refused, since the reader is a separate connection. */
export function sqliteDialect(path: string): Dialect {
  const writer = openHandle(path)
  const reader = openHandle(path)
  const lock = createLock()
  return {
    createAdapter: () =>
      new ParallelSqliteAdapter(reader.firstRow, createAsyncCommit(writer, lock, `${path}-wal`)),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createDriver: () => sqliteDriver(writer, reader, lock),
  }
}

/**
 * Kysely would guard all of SQLite with one mutex, including reads. This locking is finer, so
 * Kysely is configured for several connections. `firstRow` serves prepared reads (prepared.ts).
 */
class ParallelSqliteAdapter extends SqliteAdapter implements FastRead, AsyncCommit {
  readonly firstRow: FastRead['firstRow']
  readonly commitAsync: AsyncCommit['commitAsync']
  constructor(firstRow: FastRead['firstRow'], commitAsync: AsyncCommit['commitAsync']) {
    super()
    this.firstRow = firstRow
    this.commitAsync = commitAsync
  }
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

type Handle = ReturnType<typeof openHandle>
type Lock = ReturnType<typeof createLock>

/**
 * Commits with synchronous=NORMAL: the log is written but not flushed. Another thread flushes it a
 * moment later, so that nothing waits for the disk. Any ordinary commit also flushes all earlier
 * ones.
 */
function createAsyncCommit(
  writer: Handle,
  lock: Lock,
  logPath: string,
): AsyncCommit['commitAsync'] {
  let isFlushDue = false
  let isDiskWell = true

  const flush = async () => {
    isFlushDue = false
    try {
      const log = await open(logPath, 'r+')
      await log.datasync().finally(() => log.close())
      isDiskWell = true
    } catch (error) {
      // The log is missing after the last connection has closed; its rows are in the database by
      // then. After any other error the next commits wait for the disk.
      isDiskWell = (error as NodeJS.ErrnoException).code === 'ENOENT'
    }
  }

  return async (work, committed) => {
    const release = await lock.acquire()
    let result: Awaited<ReturnType<typeof work>>
    try {
      writer.waitForDisk(!isDiskWell)
      writer.exec('begin immediate')
      result = await work(writer.run)
      writer.exec('commit')
      committed?.(result)
    } catch (error) {
      if (writer.inTransaction()) writer.exec('rollback')
      throw error
    } finally {
      release()
    }
    if (!isFlushDue) {
      isFlushDue = true
      setTimeout(flush, FLUSH_DELAY_MS).unref()
    }
    return result
  }
}

function sqliteDriver(writer: Handle, reader: Handle, lock: Lock): Driver {
  const shared: DatabaseConnection = {
    // Outside a transaction a read needs no lock; a write locks the writer for one statement.
    // node:sqlite is synchronous, so a single statement can only run between the awaits of a
    // transaction. The lock prevents that.
    async executeQuery<R>(query: CompiledQuery) {
      if (isRead(query)) return reader.run<R>(query)
      const release = await lock.acquire()
      try {
        writer.waitForDisk(true)
        return writer.run<R>(query)
      } finally {
        release()
      }
    },
    streamQuery: refuseStreaming,
  }
  const releases = new WeakMap<DatabaseConnection, () => void>()

  return {
    async init() {},
    async acquireConnection() {
      // Kysely acquires a connection before it names the purpose; beginTransaction recognizes a
      // transaction.
      return { executeQuery: (query) => shared.executeQuery(query), streamQuery: refuseStreaming }
    },
    async beginTransaction(connection) {
      const release = await lock.acquire()
      try {
        writer.waitForDisk(true)
        writer.exec('begin immediate')
      } catch (error) {
        release()
        throw error
      }
      releases.set(connection, release)
      connection.executeQuery = async <R>(query: CompiledQuery) => writer.run<R>(query)
    },
    async commitTransaction(connection) {
      // A failed commit (disk full) leaves the transaction open; Kysely then calls
      // rollbackTransaction, which releases.
      writer.exec('commit')
      releases.get(connection)?.()
      releases.delete(connection)
    },
    async rollbackTransaction(connection) {
      try {
        if (writer.inTransaction()) writer.exec('rollback')
      } finally {
        releases.get(connection)?.()
        releases.delete(connection)
      }
    },
    async releaseConnection() {},
    async destroy() {
      const release = await lock.acquire()
      reader.close()
      writer.close()
      release()
    },
  }
}

function openHandle(path: string) {
  const database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: true })
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -8000; pragma temp_store = memory',
  )
  // A checkpoint every 16 MB. All queries wait during a checkpoint, which flushes both files. Fewer
  // checkpoints are cheaper, because each writes a changed page only once.
  database.exec('pragma wal_autocheckpoint = 4000')
  let waitsForDisk = true
  const statements = new LRUCache<string, { statement: StatementSync; columns: Column[] }>({
    max: STATEMENTS_MAX,
  })

  const prepare = (text: string) => {
    const known = statements.get(text)
    if (known) return known
    const statement = database.prepare(text)
    const columns = statement.columns().map(({ name }) => ({ name, kind: inferKind(name) }))
    // Row objects of node:sqlite have no prototype and are slow. Building a row from an array costs
    // half as much, including later reads.
    if (columns.length > 0) statement.setReturnArrays(true)
    const prepared = { statement, columns }
    statements.set(text, prepared)
    return prepared
  }

  return {
    run<R>(query: CompiledQuery): QueryResult<R> {
      const { statement, columns } = prepare(query.sql)
      const parameters = query.parameters.map(encode)
      if (columns.length === 0) {
        const { changes, lastInsertRowid } = statement.run(...parameters)
        return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
      }
      const rows = statement.all(...parameters) as unknown as unknown[][]
      return {
        rows: rows.map((values) => decodeRow(columns, values)) as R[],
        numAffectedRows: BigInt(rows.length),
      }
    },
    firstRow<R>(text: string, parameters: readonly unknown[]): R | undefined {
      const { statement, columns } = prepare(text)
      const values = statement.get(...parameters.map(encode)) as unknown[] | undefined
      return values && (decodeRow(columns, values) as R)
    },
    exec: (text: string) => database.exec(text),
    /** Sets the mode of the next commit; call it before its transaction begins. */
    waitForDisk(wanted: boolean) {
      if (wanted === waitsForDisk) return
      database.exec(wanted ? 'pragma synchronous = full' : 'pragma synchronous = normal')
      waitsForDisk = wanted
    },
    inTransaction: () => database.isTransaction,
    close: () => database.close(),
  }
}

type Column = { name: string; kind: 'boolean' | 'json' | 'plain' }

/** Column names carry the type that SQLite lacks: `is_…` is a boolean, `…_json` an object. */
function inferKind(name: string): Column['kind'] {
  return name.startsWith('is_') ? 'boolean' : name.endsWith('_json') ? 'json' : 'plain'
}

function decodeRow(
  columns: readonly Column[],
  values: readonly unknown[],
): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  let index = 0
  for (const { name, kind } of columns) {
    const value = values[index++]
    row[name] =
      kind === 'plain' || value === null
        ? value
        : kind === 'boolean'
          ? value === 1
          : decodeJson(value)
  }
  return row
}

function decodeJson(value: unknown): unknown {
  return typeof value === 'string' ? JSON.parse(value) : value
}

function encode(value: unknown): SQLInputValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array)
    return value as SQLInputValue
  if (value instanceof Date) return value.toISOString()
  return JSON.stringify(value)
}

function isRead(query: CompiledQuery): boolean {
  // In SQLite a select cannot contain a CTE that writes, so the root node is sufficient.
  return (
    query.query.kind === 'SelectQueryNode' ||
    (query.query.kind === 'RawNode' && /^\s*(select|with)\b/i.test(query.sql))
  )
}

/**
 * A fair lock. A long wait ends with an error, because its usual cause is a bug: code inside a
 * transaction writes with `db` instead of `tx` and would hang forever.
 */
function createLock() {
  const waiting: (() => void)[] = []
  let isHeld = false

  const release = () => {
    const next = waiting.shift()
    if (next) next()
    else isHeld = false
  }

  return {
    /** Resolves with the release function, which must be called once. */
    acquire(): Promise<() => void> {
      if (!isHeld) {
        isHeld = true
        return Promise.resolve(release)
      }
      return new Promise((resolve, reject) => {
        const enter = () => {
          clearTimeout(timer)
          resolve(release)
        }
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(enter), 1)
          reject(new DatabaseBusy('the write lock was not free within 30 s'))
        }, LOCK_WAIT_MS)
        waiting.push(enter)
      })
    },
  }
}

function refuseStreaming(): never {
  throw new Error('rows are read whole: page through large results')
}

/**
 * Forward-only migrations. Each runs once, under a lock, and its checksum is stored. Never edit a
 * released migration: a changed checksum stops the start. The previous release must still run on
 * the new schema, so that nodes can be replaced one by one and a release reverted. Only a
 * `contracts` migration prevents that.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, type Dialect, findDialect, transaction, withoutTimeLimit } from './db.ts'
import type { Generated } from './tables.ts'

export type Migration = {
  /** For example `identity/001-users`. */
  id: string
  /** Statements ending in `;` at a line's end, with the placeholders below. */
  sql: string
  /**
   * The migration removes something that the previous release reads or writes, so that release
   * refuses to start.
   */
  contracts?: true
}

type MigrationsTable = {
  id: string
  checksum: string
  is_contraction: boolean
  applied_at: string
  position: Generated<number>
}
declare module './tables.ts' {
  interface Tables {
    migrations: MigrationsTable
  }
}

const COLUMN_TYPES: Record<Dialect, Record<string, string>> = {
  sqlite: {
    id: 'text',
    boolean: 'integer',
    timestamp: 'text',
    json: 'text',
    bytes: 'blob',
    bigint: 'integer',
    real: 'real',
    serial: 'integer primary key autoincrement',
    prefixes: '',
  },
  postgres: {
    id: 'text',
    boolean: 'boolean',
    timestamp: 'timestamptz',
    json: 'jsonb',
    bytes: 'bytea',
    bigint: 'bigint',
    real: 'double precision',
    serial: 'bigint generated always as identity primary key',
    prefixes: 'text_pattern_ops',
  },
}

/** An arbitrary constant, the same on every node. */
const ADVISORY_LOCK = 7_205_981_443

/**
 * Applies the missing migrations in order, all or nothing, and returns their ids.
 * @throws Error when an applied migration has changed, or the database has an unknown migration
 */
export async function migrate(db: Db, migrations: Migration[], now: string): Promise<string[]> {
  const dialect = findDialect(db)

  return transaction(db, async (tx) => {
    await withoutTimeLimit(tx)
    // Two nodes may start at once: the second waits here, then finds everything applied.
    if (dialect === 'postgres')
      await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK)})`.execute(tx)
    await run(
      tx,
      dialect,
      'create table if not exists migrations (position {serial}, id text not null unique, checksum text not null, is_contraction {boolean} not null, applied_at {timestamp} not null);',
    )

    const applied = await appliedMigrations(tx)
    refuseForeign(applied, migrations)
    refuseChanged(applied, migrations)

    const fresh: string[] = []
    for (const migration of migrations) {
      if (applied.has(migration.id)) continue
      await run(tx, dialect, migration.sql)
      const { id, contracts = false } = migration
      const values = {
        id,
        checksum: computeChecksum(migration),
        is_contraction: contracts,
        applied_at: now,
      }
      await tx.insertInto('migrations').values(values).execute()
      fresh.push(migration.id)
    }
    return fresh
  })
}

/** The database lacks migrations of this version. */
export class Unmigrated extends Error {
  /** Returns the number of missing migrations; all of them for an empty database. */
  readonly missing: number
  constructor(missing: number, message: string) {
    super(message)
    this.missing = missing
  }
}

/**
 * Checks that all migrations are applied, and applies none. For commands, which only read a
 * service's database. @throws Unmigrated when something is missing; Error as `migrate` does.
 */
export async function requireMigrated(db: Db, migrations: Migration[]): Promise<void> {
  if (!(await hasMigrations(db)))
    throw new Unmigrated(migrations.length, 'it is empty: start the service once')
  const missing = (await planMigrations(db, migrations)).missing.length
  if (missing > 0) {
    throw new Unmigrated(
      missing,
      `it is of an older version (migrations missing: ${missing}): start the service of this one first`,
    )
  }
}

export type Plan = {
  /** The migrations that the next start applies on this engine. */
  missing: { id: string; statements: string[]; contracts: boolean }[]
  /** The migrations that a newer release has applied. */
  ahead: string[]
}

/**
 * Returns the missing and the unknown migrations, and applies none. @throws Error as `migrate`
 * does.
 */
export async function planMigrations(db: Db, migrations: Migration[]): Promise<Plan> {
  const applied = (await hasMigrations(db)) ? await appliedMigrations(db) : new Map()
  refuseForeign(applied, migrations)
  refuseChanged(applied, migrations)
  const missing = migrations.filter(({ id }) => !applied.has(id))
  return {
    missing: missing.map(({ id, sql: text, contracts = false }) => ({
      id,
      contracts,
      statements: splitStatements(text, findDialect(db)),
    })),
    ahead: findUnknownMigrations(applied, migrations),
  }
}

async function hasMigrations(db: Db): Promise<boolean> {
  const { rows } = await (findDialect(db) === 'postgres'
    ? sql`select 1 where to_regclass('migrations') is not null`
    : sql`select 1 from sqlite_master where type = 'table' and name = 'migrations'`
  ).execute(db)
  return rows.length > 0
}

type Applied = ReadonlyMap<string, Pick<MigrationsTable, 'checksum' | 'is_contraction'>>

async function appliedMigrations(db: Db): Promise<Applied> {
  const rows = await db
    .selectFrom('migrations')
    .select(['id', 'checksum', 'is_contraction'])
    .execute()
  return new Map(rows.map(({ id, ...row }) => [id, row]))
}

const computeChecksum = ({ sql: text }: Migration) =>
  createHash('sha256').update(text).digest('hex')

function refuseChanged(applied: Applied, migrations: Migration[]) {
  for (const migration of migrations) {
    const known = applied.get(migration.id)
    if (known !== undefined && known.checksum !== computeChecksum(migration)) {
      throw new Error(`migration ${migration.id} was changed after it had been applied`)
    }
  }
}

/**
 * A newer release keeps all migrations of this one and adds more. If some of this release's are not
 * applied but unknown ones are, the database has another history.
 */
function refuseForeign(applied: Applied, migrations: Migration[]) {
  const unknown = findUnknownMigrations(applied, migrations)
  if (unknown.length === 0) return
  const contractions = unknown.filter((id) => applied.get(id)?.is_contraction)
  if (contractions.length > 0) {
    throw new Error(
      `it was changed by a newer version of Latchkey in a way that this one cannot follow (${contractions.join(', ')}). Start that version`,
    )
  }
  if (migrations.some(({ id }) => !applied.has(id))) {
    throw new Error(
      `the database was made by another version of Latchkey: it has ${unknown.join(', ')}. Start that version`,
    )
  }
}

function findUnknownMigrations(applied: Applied, migrations: Migration[]): string[] {
  const known = new Set(migrations.map(({ id }) => id))
  return [...applied.keys()].filter((id) => !known.has(id))
}

async function run(tx: Db, dialect: Dialect, text: string) {
  for (const statement of splitStatements(text, dialect)) await sql.raw(statement).execute(tx)
}

function splitStatements(text: string, dialect: Dialect): string[] {
  const statements = text.split(/;\s*$/m).map((part) => part.trim())
  return statements.filter((part) => part !== '').map((statement) => forDialect(statement, dialect))
}

function forDialect(statement: string, dialect: Dialect): string {
  return statement.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const type = COLUMN_TYPES[dialect][name]
    if (type === undefined) throw new Error(`unknown column type ${placeholder} in a migration`)
    return type
  })
}

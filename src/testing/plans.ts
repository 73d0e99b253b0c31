// How the database means to run the statements of some work: a test asks which of them read a table
// from end to end.
import { join } from 'node:path'
import { type CompiledQuery, Kysely, sql } from 'kysely'
import { keyAudit } from '#audit/audit.ts'
import { type Db, transaction } from '#platform/db/db.ts'
import { openPostgres, postgresDialect } from '#platform/db/postgres.ts'
import { sqliteDialect } from '#platform/db/sqlite.ts'
import type { Tables } from '#platform/db/tables.ts'
import type { TestApp } from './app.ts'

/** Does `work`, and gives the statements of it that no index serves, with their plans. */
export async function findScans(
  app: TestApp,
  work: (db: Db) => Promise<unknown>,
): Promise<string[]> {
  const isScan = (line: string, plan: string[]) =>
    app.config.databaseUrl === null
      ? // What a subquery gives is no table.
        /^SCAN /.test(line) &&
        !/ INDEX /.test(line) &&
        !plan.includes(line.replace('SCAN', 'CO-ROUTINE'))
      : /Seq Scan/.test(line)
  return (await readPlans(app, work))
    .filter(({ plan }) => plan.some((line) => isScan(line, plan)))
    .map(({ sql, plan }) => `${sql}\n${plan.join('\n')}`)
}

/** Does `work`, and gives its statements with the lines of their plans. */
export async function readPlans(
  app: TestApp,
  work: (db: Db) => Promise<unknown>,
): Promise<{ sql: string; plan: string[] }[]> {
  const { databaseUrl, dataDir } = app.config
  const statements: CompiledQuery[] = []
  const db = new Kysely<Tables>({
    dialect:
      databaseUrl === null
        ? sqliteDialect(join(dataDir, 'latchkey.db'))
        : postgresDialect(openPostgres(databaseUrl, { connectionsMax: 1 })),
    log: ({ query }) => void statements.push(query),
  })
  keyAudit(db, app.platform.secrets.key('audit'))
  try {
    await work(db)
    const plans: { sql: string; plan: string[] }[] = []
    for (const query of [...statements].filter(({ sql }) => /^(select|update|delete)/.test(sql))) {
      const plan =
        databaseUrl === null ? await planOfSqlite(db, query) : await planOfPostgres(db, query)
      plans.push({ sql: query.sql, plan })
    }
    return plans
  } finally {
    await db.destroy()
  }
}

async function planOfSqlite(db: Db, query: CompiledQuery): Promise<string[]> {
  const { rows } = await db.executeQuery<{ detail: string }>({
    ...query,
    sql: `explain query plan ${query.sql}`,
  } as never)
  return rows.map(({ detail }) => detail)
}

/** Of a table with a few rows PostgreSQL would rather read all. */
async function planOfPostgres(db: Db, query: CompiledQuery): Promise<string[]> {
  return transaction(db, async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx)
    const { rows } = await tx.executeQuery<Record<'QUERY PLAN', string>>({
      ...query,
      sql: `explain ${query.sql}`,
    } as never)
    return rows.map((row) => row['QUERY PLAN'])
  })
}

// Measures the ledger's reservations in this process, and bare conditional updates that do not wait
// for the disk either: on the budget of one user, and on those of many users.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { pino } from 'pino'
import { migrations } from '#app/migrations.ts'
import { readConfig } from '#config/config.ts'
import { systemClock } from '#platform/clock.ts'
import { migrate } from '#platform/db/migrate.ts'
import { openDatabase } from '#platform/db/open.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { migratedDatabase } from '../../src/testing/database.ts'
import { USAGE_NEEDS } from '../../src/testing/spend.ts'
import type { Reservation } from '../../src/usage/ledger.ts'
import { createUsage } from '../../src/usage/usage.ts'
import { withOwnPool } from '../lib/service.ts'
import { quantile } from '../lib/table.ts'

const ROUNDS = 5
const COUNT = 4_000
const AT_ONCE = 64
/** The size of the service's own pool. */
const CONNECTIONS = 10
const SHAPES = [
  { name: 'of one user', users: 1 },
  { name: 'of 64 users', users: 64 },
]

type Measured = { aSecond: number; cpuMs: number }
export type Shape = { name: string; bare: Measured; ledger: Measured; ratio: number }

export async function measureReservations(server: string | null): Promise<Shape[]> {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-reservations-'))
  const place = await migratedDatabase(folder, migrations)
  const url = place.url === null ? null : withOwnPool(place.url)
  const database = openDatabase({ databaseUrl: url, dataDir: folder })
  await migrate(database.db, migrations, systemClock.now())
  const usage = createLedger(database.db, folder, url)
  const bare = server === null ? bareSqlite(folder) : await barePostgres(server)
  try {
    const shapes: Shape[] = []
    for (const { name, users } of SHAPES) {
      const rounds: { bare: Measured; ledger: Measured }[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        const held: Reservation[] = []
        const result = {
          bare: await measured((index) => bare.update(`user-${index % users}`)),
          ledger: await measured(async (index) =>
            held.push(await usage.ledger.reserve(buildCall(index, users))),
          ),
        }
        await Promise.all(held.map((one) => usage.ledger.release(one)))
        // The first round warms up.
        if (round > 0) rounds.push(result)
      }
      const median = (of: (round: (typeof rounds)[number]) => number) =>
        quantile(
          rounds.map(of).sort((a, b) => a - b),
          0.5,
        )
      const computeMedians = (which: 'bare' | 'ledger') => ({
        aSecond: median((round) => round[which].aSecond),
        cpuMs: median((round) => round[which].cpuMs),
      })
      const ratio = median((round) => round.ledger.aSecond / round.bare.aSecond)
      shapes.push({ name, bare: computeMedians('bare'), ledger: computeMedians('ledger'), ratio })
    }
    return shapes
  } finally {
    await bare.end()
    await usage.close()
    await database.close()
    await place.drop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function createLedger(
  db: ReturnType<typeof openDatabase>['db'],
  folder: string,
  url: string | null,
) {
  const config = readConfig({ DATA_DIR: folder, DATABASE_URL: url ?? '' })
  const plans = config.catalogue.plans.map((plan) => ({ ...plan, allowanceUsd: 1_000_000 }))
  return createUsage(
    {
      db,
      clock: systemClock,
      log: pino({ level: 'error' }),
      metrics: createMetrics(),
      config: { ...config, catalogue: { ...config.catalogue, plans } },
    },
    USAGE_NEEDS,
  )
}

/** Spreads the calls over a thousand keys. */
const buildCall = (index: number, users: number) => ({
  userId: `user-${index % users}`,
  keyId: `key-${index % 1_000}`,
  tier: 'pro',
  slices: null,
  promptTokens: 10,
  completionTokens: 90,
  promptNanos: 1_000,
  tokenNanos: 500,
})

async function measured(one: (index: number) => unknown): Promise<Measured> {
  const [begun, cpuBegun] = [performance.now(), process.cpuUsage()]
  let next = 0
  const worker = async () => {
    while (next < COUNT) await one(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const { user, system } = process.cpuUsage(cpuBegun)
  return {
    aSecond: (COUNT * 1_000) / (performance.now() - begun),
    cpuMs: (user + system) / 1_000 / COUNT,
  }
}

type Bare = { update(user: string): unknown; end(): Promise<void> }

const TABLE =
  'create table bare_budgets (name text primary key, used bigint not null, reserved bigint not null)'
const [AMOUNT, LIMIT] = [46_000, 1e15]
const USERS = Array.from(
  { length: Math.max(...SHAPES.map(({ users }) => users)) },
  (_, index) => `user-${index}`,
)

function bareSqlite(folder: string): Bare {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec(`pragma journal_mode = wal; pragma synchronous = normal; ${TABLE}`)
  for (const user of USERS) db.prepare('insert into bare_budgets values (?, 0, 0)').run(user)
  const update = db.prepare(
    'update bare_budgets set reserved = reserved + ? where name = ? and used + reserved + ? <= ?',
  )
  return { update: (user) => update.run(AMOUNT, user, AMOUNT, LIMIT), end: async () => db.close() }
}

async function barePostgres(connectionString: string): Promise<Bare> {
  const pool = new pg.Pool({
    connectionString,
    max: CONNECTIONS,
    options: '-c synchronous_commit=off',
  })
  await pool.query(`drop table if exists bare_budgets; ${TABLE}`)
  await pool.query('insert into bare_budgets select unnest($1::text[]), 0, 0', [USERS])
  const text =
    'update bare_budgets set reserved = reserved + $1 where name = $2 and used + reserved + $1 <= $3'
  return {
    update: (user) => pool.query({ name: 'bare', text, values: [AMOUNT, user, LIMIT] }),
    async end() {
      await pool.query('drop table bare_budgets')
      await pool.end()
    },
  }
}

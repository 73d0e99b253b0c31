import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import pg from 'pg'
import { type Reply, type TestApp, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { type TcpProxy, tcpProxy } from '#testing/tcp-proxy.ts'
import { transaction, withoutTimeLimit } from './db.ts'
import { DatabaseUnreachable, databaseFailure } from './failures.ts'
import { openPostgres, readPoolConfig } from './postgres.ts'

const ON_SERVER = Boolean(process.env.TEST_DATABASE_URL)
/** The embedded one knows neither backends to end nor `pg_sleep` that can be cancelled. */
const NEEDS_SERVER = !ON_SERVER && 'needs a PostgreSQL server: set TEST_DATABASE_URL'

/**
 * The settings sent when the connection begins: PgBouncer refuses to connect for what it does not
 * know of it.
 */
function startOf(url: string): Record<string, string> {
  const client = new pg.Client(readPoolConfig(url)) as unknown as {
    getStartupConf(): Record<string, string>
  }
  return client.getStartupConf()
}

test('the database’s address sets the limits, takes them off, and stops the start where they are no numbers', () => {
  const base = 'postgres://me:secret@db.example/latchkey'
  const known = { user: 'me', database: 'latchkey', application_name: 'latchkey' }
  const limits = { statement_timeout: '10000', idle_in_transaction_session_timeout: '60000' }
  const answerMs = (url: string) => openPostgres(url, { connectionsMax: 1 }).answerMs

  assert.deepEqual(startOf(base), { ...known, ...limits })
  assert.equal(answerMs(base), 12_000)
  const longer = `${base}?statement_timeout=30000&idle_in_transaction_session_timeout=5000&max=3&search_path=a,b`
  assert.deepEqual(startOf(longer), {
    ...known,
    statement_timeout: '30000',
    idle_in_transaction_session_timeout: '5000',
    options: '-c search_path=a,b',
  })
  assert.equal(answerMs(longer), 32_000)
  // As PgBouncer wants it.
  const off = `${base}?statement_timeout=0&idle_in_transaction_session_timeout=0`
  assert.deepEqual(startOf(off), known)
  assert.equal(answerMs(off), 0)
  assert.deepEqual(startOf(`${base}?idle_in_transaction_session_timeout=0`), {
    ...known,
    statement_timeout: '10000',
  })

  for (const name of ['statement_timeout', 'idle_in_transaction_session_timeout']) {
    for (const value of ['30s', '-1', '1e3', '']) {
      assert.throws(
        () => readPoolConfig(`${base}?${name}=${value}`),
        (error: Error) =>
          error.message.includes(`DATABASE_URL is wrong: ${name} `) &&
          !error.message.includes('secret'),
        `${name}=${value}`,
      )
    }
  }
})

/** A service whose way to its database a test can break. */
async function appBehindProxy(t: Parameters<typeof testApp>[0]) {
  let proxy: TcpProxy | null = null
  const app = await testApp(t, {
    databaseThrough: async (url) => {
      proxy = await tcpProxy(t, url)
      return proxy.url
    },
  })
  assert.ok(proxy)
  return { app, proxy: proxy as TcpProxy }
}

/**
 * Reads and writes in sequence, from several clients, until stopped; every call must get an answer.
 */
function load(app: TestApp, tokens: { get(path: string): Promise<Reply> }, sides: number) {
  const statuses = new Map<number, number>()
  let going = true
  const asked = Promise.all(
    Array.from({ length: sides }, async (_, side) => {
      for (let turn = 0; going; turn++) {
        const reply =
          (turn + side) % 3 === 0
            ? await app.post('/api/auth/register', {
                email: `p${side}-${turn}@example.com`,
                password: 'correct horse 9',
              })
            : await tokens.get(turn % 2 === 0 ? '/api/users/me' : '/api/users/me/sessions')
        statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
      }
    }),
  )
  return {
    async stop() {
      going = false
      await asked
      return statuses
    },
  }
}

const SOUND = new Set([200, 201, 503])

test('connections cut under load crash no process and leave no request waiting', {
  skip: !ON_POSTGRES,
}, async (t) => {
  const { app, proxy } = await appBehindProxy(t)
  const ada = await app.as('ada')
  const running = load(app, ada, 6)
  for (let cuts = 0; cuts < 8; cuts++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    proxy.cut()
  }
  const statuses = await running.stop()

  assert.deepEqual(
    [...statuses.keys()].filter((status) => !SOUND.has(status)),
    [],
    `only answers and 503: ${[...statuses]}`,
  )
  // Every place in the pool is still there: more at once than it has.
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => ada.get('/api/users/me/sessions')),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
})

test('a server that closes its connections under load crashes no process', {
  skip: NEEDS_SERVER,
}, async (t) => {
  const name = `latchkey_${crypto.randomUUID().slice(0, 8)}`
  const app = await testApp(t, {
    databaseThrough: async (url) => `${url}&application_name=${name}`,
  })
  const ada = await app.as('ada')
  const running = load(app, ada, 12)
  let ended = 0
  for (let turn = 0; turn < 8; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { rows } = await sql<{ n: number }>`
      select count(pg_terminate_backend(pid)) as n from pg_stat_activity
      where application_name = ${name} and pid <> pg_backend_pid()`.execute(app.platform.db)
    ended += Number(rows[0]?.n ?? 0)
  }
  const statuses = await running.stop()

  assert.ok(ended > 0, 'connections were ended')
  assert.deepEqual(
    [...statuses.keys()].filter((status) => !SOUND.has(status)),
    [],
    `only answers and 503: ${[...statuses]}`,
  )
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => ada.get('/api/users/me/sessions')),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
})

test('a read that loses its connection is retried once, a write is not', {
  skip: !ON_POSTGRES,
}, async (t) => {
  const { app, proxy } = await appBehindProxy(t)
  const { db, clock } = app.platform
  const secret = { name: 'n', value: new Uint8Array([1]), created_at: clock.now() }

  proxy.cutAtNext()
  assert.ok((await db.selectFrom('secrets').select('name').execute()).length > 0)
  proxy.cutAtNext()
  await assert.rejects(db.insertInto('secrets').values(secret).execute(), DatabaseUnreachable)
  proxy.cutAtNext()
  await assert.rejects(
    transaction(db, (tx) => tx.selectFrom('secrets').select('name').execute()),
    DatabaseUnreachable,
    'in a transaction nothing is asked again',
  )
  await db.insertInto('secrets').values(secret).execute()
})

test('a table that another node’s migration changes is read on', {
  skip: !ON_POSTGRES,
}, async (t) => {
  const { db } = (await testApp(t)).platform
  const shapes = db as unknown as Kysely<{ shapes: { id: string; size?: number } }>
  await sql`create table shapes (id text)`.execute(db)
  await shapes.insertInto('shapes').values({ id: 'a' }).execute()
  const read = () => shapes.selectFrom('shapes').selectAll().execute()
  assert.deepEqual(await read(), [{ id: 'a' }])
  await sql`alter table shapes add column size bigint default 7`.execute(db)
  assert.deepEqual(await read(), [{ id: 'a', size: 7 }])
  await sql`drop table shapes`.execute(db)
})

test('a statement over the time limit is cancelled, except in a migration', {
  skip: NEEDS_SERVER,
}, async (t) => {
  const app = await testApp(t, { databaseThrough: async (url) => `${url}&statement_timeout=100` })
  const { db } = app.platform
  await assert.rejects(
    sql`select pg_sleep(5)`.execute(db),
    (error) => databaseFailure(error) === 'busy',
  )
  await transaction(db, async (tx) => {
    await withoutTimeLimit(tx)
    await sql`select pg_sleep(0.3)`.execute(tx)
  })
})

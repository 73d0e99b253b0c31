// Statements on hot paths name the user, so that users' rows can lie on many servers
// (docs/scaling.md).
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { type Db, findDialect } from '#platform/db/db.ts'
import { readPoolConfig } from '#platform/db/postgres.ts'
import { createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { converse } from '#testing/conversations.ts'
import { ON_CITUS, ON_POSTGRES } from '#testing/database.ts'
import { createShop } from '#testing/shop.ts'
import { citusScript, placements, refusals } from './sharding.ts'

/** Statements of hot paths that ask all servers, and why. */
const CROSSING: [statement: RegExp, why: string][] = []

test('what a table keeps unique, and what it refers to, can be kept over many servers', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform

  assert.deepEqual(await refusals(db), [])
  const placed = await placements(db)
  const spread = placed.filter((one) => one.isSpread)
  const ofUsers = spread.filter(({ group }) => group === 'users').map(({ table }) => table)
  for (const { name } of await sql<{
    name: string
  }>`select name from (${columnsNamed(db, 'user_id')}) as c`
    .execute(db)
    .then(({ rows }) => rows)) {
    assert.ok(
      ofUsers.includes(name) || name in ELSEWHERE,
      `${name} has a user, and does not lie by them`,
    )
  }
  for (const table of Object.keys(ELSEWHERE))
    assert.ok(!ofUsers.includes(table), `${table} needs no excuse`)

  // Finds keys and references that Citus would refuse.
  await sql`create table bad_notes (user_id text not null, id text not null, slug text not null unique,
    primary key (user_id, id))`.execute(db)
  await sql`create table bad_marks (user_id text not null, note_id text not null, author text references users (id),
    primary key (user_id, note_id))`.execute(db)
  try {
    assert.deepEqual(await refusals(db), [
      'bad_notes: (slug) is unique without user_id',
      'bad_marks: (author) refers to users, which lies elsewhere',
    ])
  } finally {
    await sql`drop table bad_marks`.execute(db)
    await sql`drop table bad_notes`.execute(db)
  }
})

test('the script for Citus places each table once, after those that it refers to', async (t) => {
  const app = await testApp(t)
  const script = await citusScript(app.platform.db)
  const placed = await placements(app.platform.db)
  for (const { table, isSpread } of placed) {
    assert.equal(
      script.split(`create_distributed_table('${table}',`).length - 1,
      isSpread ? 1 : 0,
      table,
    )
    assert.equal(script.includes(`\n-- ${table}: `), !isSpread, table)
  }
  const at = (table: string) => script.indexOf(`('${table}',`)
  assert.ok(at('users') < at('sessions') && at('sessions') < at('session_tokens'))
  assert.match(
    script,
    /create_distributed_table\('api_keys', 'user_id', colocate_with => 'users'\);/,
  )
})

/** Tables with a user that lie by something else. */
const ELSEWHERE: Record<string, string> = {
  ...Object.fromEntries(
    ['billing_customers', 'deals', 'cancellations'].map((table) => [
      table,
      'found by the processor’s id when it tells of it; some outlive the user',
    ]),
  ),
  ...Object.fromEntries(
    ['payments', 'invoices'].map((table) => [table, 'the books are whole on one server']),
  ),
  switches: 'each process holds them all in memory',
}

function columnsNamed(db: Db, column: string) {
  return findDialect(db) === 'sqlite'
    ? sql`select t.name from sqlite_schema as t, pragma_table_info(t.name) as c where t.type = 'table' and c.name = ${column}`
    : sql`select table_name as name from information_schema.columns
        where table_schema = current_schema() and column_name = ${column}`
}

test('no statement of a hot path goes to the rows of several users', {
  skip:
    ON_POSTGRES &&
    'a cluster is asked the same, but for how the texts of what is found are read by their keys',
}, async (t) => {
  const app = await testApp(t)
  const walk = await hotPaths(app)
  const asked = new Set<string>()
  for (const method of ['run', 'all', 'get', 'iterate'] as const) {
    const real = StatementSync.prototype[method] as (...given: unknown[]) => unknown
    t.mock.method(
      StatementSync.prototype,
      method,
      function (this: StatementSync, ...given: unknown[]) {
        asked.add(this.sourceSQL)
        return real.apply(this, given)
      },
    )
  }
  await walk()
  t.mock.restoreAll()

  const spread = new Map(
    (await placements(app.platform.db)).flatMap((one) =>
      one.isSpread ? [[one.table, one.column]] : [],
    ),
  )
  const crossing = [...asked].filter((statement) => crosses(spread, statement))
  const excused = new Set<RegExp>()
  const wrong = crossing.filter((statement) => {
    const known = CROSSING.find(([pattern]) => pattern.test(statement))
    if (known) excused.add(known[0])
    return known === undefined
  })
  assert.deepEqual(wrong, [])
  assert.equal(excused.size, CROSSING.length, 'an excuse that nothing needs')
  assert.ok(asked.size > 40, `${asked.size} statements were seen`)
})

test('the cluster’s own planner sends each statement of a hot path to one shard', {
  skip: !ON_CITUS && 'TEST_CITUS=1 and a coordinator are wanted',
}, async (t) => {
  const app = await testApp(t)
  const walk = await hotPaths(app)
  const asked = new Map<string, unknown[]>()
  const real = pg.Client.prototype.query as (...given: unknown[]) => unknown
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...given: unknown[]) {
    const { text = '', values = [] } = given[0] as { text?: string; values?: unknown[] }
    if (/^(select|insert|update|delete|with)\b/i.test(text)) asked.set(text, values)
    return real.apply(this, given)
  })
  await walk()
  t.mock.restoreAll()

  const client = new pg.Client(readPoolConfig(app.config.databaseUrl ?? ''))
  await client.connect()
  t.after(() => client.end())
  /** Excludes reference tables. A separate step whose rows are forwarded counts too. */
  const tasksOf = async (text: string, values: unknown[] = []) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>({
      text: `explain ${text}`,
      values,
    })
    return rows.reduce(
      (sum, row) => sum + Number(/Task Count: (\d+)/.exec(row['QUERY PLAN'])?.[1] ?? 0),
      0,
    )
  }
  assert.equal(await tasksOf('select id from users'), 2, 'what asks all is told')
  const wrong: string[] = []
  let spread = 0
  for (const [text, values] of asked) {
    const tasks = await tasksOf(text, values)
    if (tasks > 1) wrong.push(`${tasks} tasks: ${text}`)
    spread += tasks
  }
  assert.deepEqual(wrong, [])
  assert.ok(spread > 40, `${spread} statements went to a shard`)
})

/** Typical calls of a user, an API key and a buyer, with the setup that they need. */
async function hotPaths(app: TestApp): Promise<() => Promise<void>> {
  const shop = createShop(app)
  const ada = await app.as('ada', { tier: 'pro' })
  const key = createClient(
    app.url,
    (await ada.post('/api/api-keys', { name: 'one' })).body.key,
    ada,
  )
  const session = await app.store('POST', '/api/session', {
    body: { email: ada.email, password: PASSWORD },
  })
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const hosted = await app.store('GET', '/api/checkout?tier=basic', { headers: { cookie } })
  await shop.pay(hosted.headers.get('location') ?? '')
  await app.settle()
  const license = (await app.store('GET', '/api/download', { headers: { cookie } })).headers.get(
    'x-license-key',
  )
  app.clock.advance(2 * 60_000)
  const refreshed = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  const messages = [{ role: 'user', content: 'Hello' }]
  const { body: collection } = await ada.post('/api/rag/collections', { name: 'Lamps' })
  const { body: conversation } = await ada.post('/api/conversations', { title: 'Lamps' })
  await converse(app, ada, conversation.id, null, 'How many lamps?')
  return async () => {
    const replies = [
      await app.post('/api/auth/register', { email: 'grace@example.com', password: PASSWORD }),
      await app.post('/api/auth/login', { email: ada.email, password: PASSWORD }),
      await app.post('/api/auth/refresh', { refresh_token: refreshed.body.refresh_token }),
      await ada.get('/api/auth/me'),
      await ada.post('/api/ai/chat', { messages }),
      await key.post('/api/ai/chat', { messages }),
      await key.post('/v1/chat/completions', { model: 'gpt-6-luna', messages }),
      await ada.post('/api/ai/chat', { messages, stream: true }),
      await key.post('/v1/messages', { model: 'claude-sonnet-5-5', max_tokens: 100, messages }),
      await ada.get('/api/users/me/sessions'),
      await ada.get('/api/usage'),
      await ada.get('/api/usage/calls'),
      await ada.get('/api/usage/allowance'),
      await ada.post('/api/rag/ingest/text', {
        content: 'The lighthouse was lit by forty-one lamps.',
        collections: [collection.id],
      }),
      await key.post('/api/rag/search', { query: 'how many lamps' }),
      await key.post('/api/rag/search', { query: 'how many lamps', collections: [collection.id] }),
      await ada.get('/api/library/collections'),
      await ada.get(`/api/library/documents?collection=${collection.id}&sort=name`),
      await ada.post('/api/rag/query', { question: 'How many lamps?' }),
      await ada.get('/api/rag/documents'),
      await ada.get('/api/conversations'),
      await ada.get('/api/conversations?q=lamps'),
      await ada.get(`/api/conversations/${conversation.id}`),
      await app.store('GET', '/api/purchases', { headers: { cookie } }),
      await app.store('GET', '/api/download', { headers: { cookie } }),
      await app.store('POST', '/api/license/verify', { body: { license_key: license } }),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status).filter((status) => status >= 300),
      [],
      JSON.stringify(replies.map(({ status, text }) => [status, text.slice(0, 100)])),
    )
  }
}

/** Whether a statement reads or joins a table without its shard key, or changes that key. */
function crosses(spread: ReadonlyMap<string, string>, statement: string): boolean {
  for (const [, table = '', alias = table, condition = ''] of statement.matchAll(
    /join "(\w+)"(?: as "(\w+)")? on (.*?)(?= (?:inner|left) join | where |$)/g,
  )) {
    const column = spread.get(table)
    if (
      column &&
      !new RegExp(`"${alias}"\\."${column}" = |= "${alias}"\\."${column}"`).test(condition)
    )
      return true
  }
  const [, written = ''] = /do update set (.*?)(?= where | returning |$)/.exec(statement) ?? []
  const [, into = ''] = /insert into "(\w+)"/.exec(statement) ?? []
  if (spread.has(into) && written.includes(`"${spread.get(into)}" =`)) return true
  const tables = [...statement.matchAll(/(?:from|join|update|into) "(\w+)"/g)].map(
    ([, table = '']) => table,
  )
  return tables.some((table) => {
    const column = spread.get(table)
    if (column === undefined) return false
    if (new RegExp(`insert into "${table}" \\([^)]*"${column}"`).test(statement)) return false
    return !new RegExp(`"${column}" (= \\?|in \\(\\?\\)|= "\\w+"\\.)`).test(statement)
  })
}

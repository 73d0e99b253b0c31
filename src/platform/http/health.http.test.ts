import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { type Reply, type TestApp, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { type TcpProxy, tcpProxy } from '#testing/tcp-proxy.ts'
import { createReadiness } from '../readiness.ts'

const METRICS = { METRICS_TOKEN: 'for-metrics' }
const AS_SCRAPER = { headers: { authorization: 'Bearer for-metrics' } }

/** Far above what is promised, far below for ever. */
const within5s = () => ({ signal: AbortSignal.timeout(5_000) })

/** Busy, for all that one look can tell: the first answers may be of what was known before. */
async function unready(app: TestApp): Promise<Reply> {
  for (let tries = 0; ; tries++) {
    const reply = await app.get('/readyz', { signal: AbortSignal.timeout(2_000) })
    if (reply.status !== 200 || tries === 20) return reply
    await wait(200)
  }
}

async function appBehindProxy(t: Parameters<typeof testApp>[0]) {
  const proxies: TcpProxy[] = []
  const app = await testApp(t, {
    env: METRICS,
    databaseThrough: async (url) => {
      const proxy = await tcpProxy(t, `${url}&statement_timeout=500`)
      proxies.push(proxy)
      return proxy.url
    },
  })
  const [proxy] = proxies
  assert.ok(proxy)
  return { app, proxy }
}

test('ready means that the database can be read and written', async (t) => {
  const app = await testApp(t)
  const { status, body } = await app.get('/readyz')
  assert.equal(status, 200)
  assert.equal(body.status, 'ready')
  assert.equal(body.checks.database, true)
  assert.equal(body.checks.writable, true)
})

test('a read-only database makes /readyz fail, and requests return 503 with a reason', {
  skip: ON_POSTGRES,
}, async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  await sql.raw('pragma query_only = on').execute(app.platform.db)

  const ready = await app.get('/readyz')
  assert.equal(ready.status, 503)
  assert.equal(ready.body.status, 'not ready')
  assert.equal(ready.body.checks.database, true)
  assert.equal(ready.body.checks.writable, false)

  const refused = await app.post('/api/auth/register', {
    email: 'eve@example.com',
    password: 'correct horse 9',
  })
  assert.equal(refused.status, 503)
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  assert.match(refused.body.detail, /^Nothing can be stored at the moment/)
  assert.equal((await ada.get('/api/auth/me')).status, 200, 'reading goes on')
})

test('a full database answers 503 with a sentence, not 500', { skip: ON_POSTGRES }, async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(app.platform.db)
  await sql.raw(`pragma max_page_count = ${rows[0]?.page_count}`).execute(app.platform.db)

  const refused = await ada.post('/api/rag/ingest/text', {
    content: 'Room is needed for this. '.repeat(20_000),
  })
  assert.equal(refused.status, 503)
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  assert.match(refused.body.detail, /the disk is full/)
})

test('while the database refuses connections, every request fails at once', {
  skip: !ON_POSTGRES,
}, async (t) => {
  const { app, proxy } = await appBehindProxy(t)
  const ada = await app.as('ada')
  await proxy.close()

  for (const reply of [
    await ada.get('/api/users/me/sessions', within5s()),
    await app.post(
      '/api/auth/login',
      { email: 'ada@example.com', password: 'correct horse 9' },
      within5s(),
    ),
  ]) {
    assert.equal(reply.status, 503)
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/)
    assert.match(reply.body.detail, /^The database cannot be reached/)
  }
  const ready = await app.get('/readyz', within5s())
  assert.equal(ready.status, 503)
  assert.equal(ready.body.checks.database, false)

  await proxy.open()
  assert.equal((await ada.get('/api/users/me/sessions', within5s())).status, 200)
})

test('while the database hangs, no request hangs', { skip: !ON_POSTGRES }, async (t) => {
  const { app, proxy } = await appBehindProxy(t)
  const ada = await app.as('ada')
  proxy.freeze()

  const asked = Promise.all([
    unready(app),
    app.get('/metrics', { ...AS_SCRAPER, signal: AbortSignal.timeout(3_000) }),
    ...Array.from({ length: 8 }, () =>
      ada.get('/api/users/me/sessions', { signal: AbortSignal.timeout(20_000) }),
    ),
  ])
  const [ready, metrics, ...replies] = await asked
  assert.equal(ready.status, 503)
  assert.equal(metrics.status, 200)
  assert.match(metrics.text, /latchkey_http_request_seconds/)
  assert.doesNotMatch(metrics.text, /latchkey_jobs\{/, 'what cannot be read is left out')
  for (const { status, headers } of replies) {
    assert.equal(status, 503)
    assert.match(headers.get('retry-after') ?? '', /^\d+$/)
  }

  proxy.thaw()
  let last = 0
  for (let tries = 0; tries < 40 && last !== 200; tries++) {
    last = (await ada.get('/api/users/me/sessions', { signal: AbortSignal.timeout(20_000) })).status
  }
  assert.equal(last, 200, 'it recovers by itself')
})

test('when all database connections die silently, requests end within 5 s and the next ones work', {
  skip: !process.env.TEST_DATABASE_URL,
}, async (t) => {
  const proxies: TcpProxy[] = []
  const app = await testApp(t, {
    databaseThrough: async (url) => {
      const proxy = await tcpProxy(t, url)
      proxies.push(proxy)
      return proxy.url
    },
  })
  const ada = await app.as('ada')
  const list = async () => {
    const begun = performance.now()
    const { status } = await ada.get('/api/users/me/sessions', {
      signal: AbortSignal.timeout(20_000),
    })
    return { status, ms: performance.now() - begun }
  }
  // Idle connections are found out when they are needed.
  assert.ok(
    (await Promise.all(Array.from({ length: 8 }, list))).every(({ status }) => status === 200),
  )
  await wait(1_100)
  proxies[0]!.blackHole()
  for (const { status, ms } of await Promise.all(Array.from({ length: 8 }, list))) {
    assert.equal(status, 200)
    assert.ok(ms < 5_000, `${ms} ms`)
  }

  // Those that were in use a moment ago are given up with the first that is found out.
  proxies[0]!.blackHole()
  const underWay = Array.from({ length: 3 }, list)
  await wait(1_500)
  const later = Array.from({ length: 8 }, list)
  for (const { status, ms } of await Promise.all([...underWay, ...later])) {
    assert.ok(status === 200 || status === 503, `${status}`)
    assert.ok(ms < 5_000, `${ms} ms`)
  }
  assert.equal((await list()).status, 200)
})

test('a clock that differs from the database’s is reported', { skip: !ON_POSTGRES }, async (t) => {
  const app = await testApp(t)
  const lines: string[] = []
  const { db, dialect, clock } = app.platform
  const off = createReadiness({
    db,
    dialect,
    dataDir: app.dataDir,
    clock: { ms: () => clock.ms() - 60_000, now: clock.now },
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
  })
  const skew = (await off.state()).clockSkewMs ?? 0
  assert.ok(skew < -55_000 && skew > -65_000, String(skew))
  assert.match(lines.join(''), /the clocks of this machine and of the database differ/)

  app.clock.advance(3_600_000)
  const { checks } = (await app.get('/readyz')).body
  assert.ok(Math.abs(checks.clock_skew_ms) < 2_000, 'a clock that a test has moved is not wrong')
})

test('a superuser reads the metrics, on both servers; other people do not', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const atStore = () =>
    app.store('GET', '/metrics', { headers: { authorization: `Bearer ${ada.token}` } })
  assert.deepEqual([(await ada.get('/metrics')).status, (await atStore()).status], [401, 401])
  assert.equal((await app.get('/metrics')).status, 401)
  await sql`update users set is_superuser = ${true} where email = ${ada.email}`.execute(
    app.platform.db,
  )
  assert.deepEqual([(await ada.get('/metrics')).status, (await atStore()).status], [200, 200])
  await sql`update users set is_active = ${false} where email = ${ada.email}`.execute(
    app.platform.db,
  )
  assert.deepEqual([(await ada.get('/metrics')).status, (await atStore()).status], [401, 401])
})

test('a database that is busy is ready; one that is silent for longer is not', async (t) => {
  const { platform, dataDir } = await testApp(t)
  const realNow = performance.now.bind(performance)
  let laterMs = 0
  t.mock.method(performance, 'now', () => realNow() + laterMs)
  const readiness = createReadiness({ ...platform, dataDir })
  const well = { isReachable: true, isWritable: true }
  const look = async () => {
    const { isReachable, isWritable } = await readiness.state()
    return { isReachable, isWritable }
  }
  assert.deepEqual(await look(), well)

  // Holds SQLite's lock, or the one connection of the embedded PostgreSQL, past what a look waits
  // for.
  const [isHeld, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  t.after(() => end.resolve())
  const held = platform.db.transaction().execute(async (tx) => {
    await sql`update write_probe set written_at = written_at`.execute(tx)
    isHeld.resolve()
    await end.promise
  })
  await isHeld.promise
  laterMs = 11_000
  assert.deepEqual(await look(), well)
  laterMs += 3_000
  assert.deepEqual(await look(), well)
  laterMs += 3_000
  const { isWritable } = await look()
  assert.equal(isWritable, false)
  end.resolve()
  await held
  for (let tries = 0; tries < 40 && !(await look()).isWritable; tries++) laterMs += 1_001
  assert.deepEqual(await look(), well)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { type Reply, type TestApp, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { type TcpProxy, tcpProxy } from '#testing/tcp-proxy.ts'

const ON_SERVER = Boolean(process.env.TEST_DATABASE_URL)

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

/** Reads and writes, one after the other, from several sides, until told to stop; every one must be answered. */
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

test('connections cut under load kill nothing and strand nobody', { skip: !ON_POSTGRES }, async (t) => {
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
  const replies = await Promise.all(Array.from({ length: 20 }, () => ada.get('/api/users/me/sessions')))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
})

test('a server that ends its connections under load kills nothing', { skip: !ON_SERVER }, async (t) => {
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
  const replies = await Promise.all(Array.from({ length: 20 }, () => ada.get('/api/users/me/sessions')))
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
})

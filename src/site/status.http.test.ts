import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { MINUTE_MS } from '#platform/clock.ts'
import { Heartbeat } from '#platform/uptime/heartbeat.ts'
import { openShop } from '#testing/buyer.ts'
import { ON_POSTGRES } from '#testing/database.ts'

const STATE = /<li><span>([^<]+)<\/span><span class="badge[^"]*">([^<]+)</g

test('everyone reads what works, without secrets; pauses and late jobs appear within 15 seconds', async (t) => {
  const shop = await openShop(t)
  const { app, store } = shop
  const read = async () => {
    app.clock.advance(15_000)
    const { status, text } = await store('GET', '/status')
    assert.equal(status, 200)
    return { text, states: Object.fromEntries([...text.matchAll(STATE)].map(([, a, b]) => [a, b])) }
  }
  const before = await read()
  assert.match(before.text, /<h1>Everything works<\/h1>/)
  assert.match(before.text, /None in the last 24 hours/)
  assert.deepEqual(
    ['Website and shop', 'App and API', 'Saving changes', 'Emails', 'Payments', 'OpenAI'].filter(
      (name) => before.states[name] !== 'Works',
    ),
    [],
  )

  const root = await app.as('root', { superuser: true })
  for (const [kind, subject] of [
    ['vendor', 'openai'],
    ['model', 'claude-haiku-4-5'],
    ['user', root.userId],
  ])
    await root.post('/api/admin/switches', { kind, subject, reason: 'a private reason' })
  const paused = await read()
  assert.match(paused.text, /<h1>Some parts work only partly<\/h1>/)
  assert.equal(paused.states.OpenAI, 'Paused')
  assert.match(paused.text, /<strong>OpenAI<\/strong> is paused/)
  assert.match(paused.text, /<strong>claude-haiku-4-5<\/strong> is paused/)
  assert.ok(!/private reason/.test(paused.text) && !paused.text.includes(root.userId))

  await app.settle()
  await app.post('/api/auth/forgot-password', { email: root.email })
  app.clock.advance(6 * MINUTE_MS)
  assert.equal((await read()).states.Emails, 'Partly')
  await app.settle()
  assert.equal((await read()).states.Emails, 'Works')
})

test('a part that was killed is down, and an incident with start and end afterwards', async (t) => {
  const { app, store } = await openShop(t)
  const { db } = app.platform
  const read = async () => {
    app.clock.advance(15_000)
    return (await store('GET', '/status')).text
  }
  const row = { part: 'worker', seen_at: app.clock.now(), is_ended: false }
  await db.insertInto('service_parts').values(row).execute()
  assert.match(await read(), /<h1>Everything works<\/h1>/)
  app.clock.advance(10 * MINUTE_MS)
  const away = await read()
  assert.match(away, /<span>Emails<\/span><span class="badge bad">Does not work</)
  assert.match(away, /<strong>Background jobs<\/strong>: not available\.<\/span><span[^>]*>Since </)

  const config = { ...app.platform.config, serve: new Set(['worker'] as const) }
  const heartbeat = new Heartbeat({ ...app.platform, config })
  await heartbeat.start()
  await heartbeat.stop()
  const after = await read()
  assert.match(after, /<h1>Everything works<\/h1>/)
  assert.match(after, /<strong>Background jobs<\/strong>: not available\.<\/span><span[^>]*><time/)
})

test('the page appears while nothing can be saved', { skip: ON_POSTGRES }, async (t) => {
  const { app, store } = await openShop(t)
  await sql.raw('pragma query_only = on').execute(app.platform.db)
  const { status, text } = await store('GET', '/status')
  assert.equal(status, 200)
  assert.match(text, /<h1>Some parts do not work<\/h1>/)
  assert.match(text, /<span>Saving changes<\/span><span class="badge bad">Does not work</)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { agedRows } from '#app/retention.ts'
import { removeAged } from '#platform/retention.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { begin, converse, createConversation, say } from '#testing/conversations.ts'
import { findScans } from '#testing/plans.ts'
import { openJson, sealJson } from './sealing.ts'

const DAY_MS = 86_400_000
const PHRASE = 'The lighthouse of Westkapelle'

test('the rows contain no title, setting or text in plain', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada, {
    title: `${PHRASE} title`,
    settings: { instructions: `${PHRASE} setting` },
  })
  const { answerId } = await converse(app, ada, id, null, `${PHRASE} question`, `${PHRASE} answer`)
  await begin(app, ada.userId, id, { parentId: answerId, question: `${PHRASE} again` })
  assert.equal(
    JSON.stringify((await ada.get(`/api/conversations/${id}`)).body).includes(PHRASE),
    true,
  )
  for (const table of ['conversations', 'conversation_messages', 'conversation_settings']) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(
      app.platform.db,
    )
    assert.ok(rows.length > 0)
    for (const row of rows) {
      const text = JSON.stringify(row, (_, value) =>
        value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
      )
      const bytes = Object.values(row).filter((value) => value instanceof Uint8Array)
      assert.equal(
        [text, ...bytes.map((one) => Buffer.from(one).toString('latin1'))]
          .join()
          .includes('lighthouse'),
        false,
        table,
      )
    }
  }
})

test('a sealed value opens only in its place', async (t) => {
  const {
    platform: { secrets },
  } = await testApp(t)
  const place = { userId: 'ada', name: 'message 1 of 2' }
  const sealed = sealJson(secrets, place, { text: 'hers' })
  assert.deepEqual(openJson(secrets, place, sealed), { text: 'hers' })
  assert.throws(() => openJson(secrets, { ...place, userId: 'eve' }, sealed))
  assert.throws(() => openJson(secrets, { ...place, name: 'message 2 of 2' }, sealed))
  sealed[40] = (sealed[40] ?? 0) ^ 1
  assert.throws(() => openJson(secrets, place, sealed))
})

test('a user who does not keep conversations stores no new ones', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada)
  assert.deepEqual((await ada.get('/api/conversations/settings')).body, {
    keeps_conversations: true,
    kept_days: null,
  })
  const off = await ada.request('PUT', '/api/conversations/settings', {
    body: { keeps_conversations: false },
  })
  assert.deepEqual([off.status, off.body.keeps_conversations], [200, false])
  assert.equal((await ada.post('/api/conversations', {})).body.code, 'conversations_not_kept')
  await assert.rejects(begin(app, ada.userId, id, { question: 'one' }), {
    code: 'conversations_not_kept',
  })
  assert.equal((await ada.get(`/api/conversations/${id}`)).status, 200, 'existing ones stay')
  const eve = await app.as('eve', { tier: 'pro' })
  assert.equal((await eve.get('/api/conversations/settings')).body.keeps_conversations, true)
})

test('CONVERSATIONS=off: the routes are 404', async (t) => {
  const app = await testApp(t, { env: { CONVERSATIONS: 'off' } })
  const ada = await app.as('ada', { tier: 'pro' })
  for (const path of ['/api/conversations', '/api/conversations/settings'])
    assert.equal((await ada.get(path)).status, 404, path)
  assert.equal((await ada.post('/api/conversations', {})).status, 404)
})

test('API keys cannot read conversations, and plans without home neither', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'laptop' })).body
  const withKey = { headers: { authorization: `Bearer ${key}` } }
  assert.equal((await app.get('/api/conversations', withKey)).status, 401)
  assert.equal((await app.get('/api/conversations')).status, 401)
  const gone = await app.as('gone', { tier: 'dropped' })
  assert.equal((await gone.get('/api/conversations')).status, 403)
})

test('conversations go after the set days without a message, in slices by an index', async (t) => {
  const app = await testApp(t, { env: { RETENTION_DAYS: 'conversations=30' } })
  const ada = await app.as('ada', { tier: 'pro' })
  assert.equal((await ada.get('/api/conversations/settings')).body.kept_days, 30)
  const old = await createConversation(ada, { title: 'Old lamps' })
  const { answerId } = await converse(app, ada, old, null, 'one')
  const continued = await createConversation(ada, { title: 'Continued lamps' })
  const { answerId: last } = await converse(app, ada, continued, null, 'one')
  assert.equal((await ada.get('/api/conversations?q=lamps')).body.conversations.length, 2)
  app.clock.advance(31 * DAY_MS)
  const again = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  const headers = { authorization: `Bearer ${again.body.access_token}` }
  await converse(app, ada, continued, last, 'two')

  const { db, clock, config } = app.platform
  const scans = await findScans(app, (scanned) =>
    removeAged({ db: scanned, clock }, agedRows(config)),
  )
  assert.deepEqual(scans, [])
  assert.equal((await app.get(`/api/conversations/${old}`, { headers })).status, 404)
  assert.equal(
    (await app.get(`/api/conversations/${continued}`, { headers })).body.messages.length,
    4,
  )
  assert.equal(
    (await app.get('/api/conversations?q=lamps', { headers })).body.conversations.length,
    1,
  )
  const rows = await db.selectFrom('conversation_messages').select('id').execute()
  assert.equal(rows.length, 4)
  assert.ok(!rows.some(({ id }) => id === answerId))
})

test('a deleted account leaves no conversation, and its running answer writes nothing more', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  for (const person of [ada, eve])
    await converse(app, person, await createConversation(person), null, 'one')
  const id = await createConversation(ada)
  await begin(app, ada.userId, id, { question: 'two' })
  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()
  const { db } = app.platform
  for (const table of [
    'conversations',
    'conversation_messages',
    'conversation_settings',
  ] as const) {
    const rows = await db.selectFrom(table).select('user_id').execute()
    assert.deepEqual([...new Set(rows.map((row) => row.user_id))], [eve.userId], table)
  }
})

test('long answers and pages of many images are read in bounded pages', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada)
  let parent: string | null = null
  for (let turn = 0; turn < 30; turn++)
    parent = (await converse(app, ada, id, parent, `question ${turn}`)).answerId
  const first = (await ada.get(`/api/conversations/${id}`)).body
  assert.equal(first.messages.length, 50)
  assert.equal(first.before, first.messages[0].id)
  const earlier = (await ada.get(`/api/conversations/${id}?before=${first.before}`)).body
  assert.equal(earlier.messages.length, 10)
  assert.equal(earlier.before, null)
  assert.equal(earlier.messages[0].parts[0].text, 'question 0')
  assert.equal(earlier.messages.at(-1).id, first.messages[0].parent_id)

  const large = 'x'.repeat(5_000_000)
  for (let turn = 0; turn < 2; turn++)
    parent = (await converse(app, ada, id, parent, 'large', large)).answerId
  const heavy = (await ada.get(`/api/conversations/${id}`)).body
  assert.equal(heavy.messages.length, 2, 'one large answer and its question')
  assert.deepEqual(heavy.messages[1].parts, say(large).parts)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { begin, converse, createConversation, say, USAGE } from '#testing/conversations.ts'
import { finishAnswer } from '../messages.ts'
import { removeMarks } from './frozen.ts'
import { createShareToken, readShareToken } from './token.ts'

const SECRET = 'The rest of the handbook is secret.'
const TEXT = 'Forty-one lamps lit it [2]. Nobody counts more [1].'

async function openCited(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const id = await createConversation(ada)
  const { questionId, answerId } = await begin(app, ada.userId, id, { question: 'How many lamps?' })
  const source = { document_id: 'doc_0', score: 1, chunk_ids: [], content: SECRET }
  const quote = { text: 'It was lit by forty-one lamps.', start: 3, end: 33, page: 7 }
  const citation = { start: 0, end: 26 }
  const content = {
    ...say(TEXT),
    sources: [
      { ...source, name: 'unused.pdf', page: 1 },
      { ...source, name: 'handbook.pdf', page: 7 },
    ],
    citations: [
      { ...citation, source: 2, supported: true, quote },
      { ...citation, source: 1, supported: false, quote: null },
    ],
    tools: [{ name: 'search', input: { query: SECRET }, state: 'done' as const, found: 2 }],
  }
  const key = { userId: ada.userId, conversationId: id, id: answerId }
  await finishAnswer(app.platform, key, { outcome: 'ok', model: 'test/one', usage: USAGE, content })
  const share = async (body: object) => {
    const reply = await ada.post(`/api/conversations/${id}/shares`, body)
    assert.equal(reply.status, 201, reply.text)
    return reply.body
  }
  return { app, ada, eve, id, questionId, answerId, share }
}

const open = (app: TestApp, { token }: { token: string }) => app.get(`/api/shared/${token}`)

test('a link shows the texts of a branch and the cited sentences, and nothing else', async (t) => {
  const { app, ada, id, answerId, share } = await openCited(t)
  const shared = await share({ leaf_id: answerId, with_sources: true })
  assert.ok(shared.url.endsWith(`/s/${shared.token}`))
  const reply = await open(app, shared)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers.get('cache-control'), 'no-store')
  assert.equal(reply.headers.get('x-robots-tag'), 'noindex')
  const [question, answer] = reply.body.messages
  assert.equal(question.text, 'How many lamps?')
  assert.equal(answer.text, TEXT)
  assert.deepEqual(answer.sources, [{ number: 2, name: 'handbook.pdf', page: 7 }])
  assert.deepEqual(answer.citations, [
    { source: 2, start: 0, end: 26, quote: { text: 'It was lit by forty-one lamps.', page: 7 } },
  ])
  for (const secret of [SECRET, 'unused.pdf', 'doc_0', ada.userId, ada.email, id, answerId])
    assert.equal(reply.text.includes(secret), false, secret)

  const without = (await open(app, await share({ leaf_id: answerId, with_sources: false }))).body
  assert.equal(without.messages[1].text, 'Forty-one lamps lit it. Nobody counts more.')
  assert.deepEqual([without.messages[1].sources, without.messages[1].citations], [[], []])
})

test('newer messages appear only when they are published', async (t) => {
  const { app, ada, id, questionId, answerId, share } = await openCited(t)
  const shared = await share({ leaf_id: questionId, with_sources: true })
  assert.equal((await open(app, shared)).body.messages.length, 1)
  await converse(app, ada, id, answerId, 'And now?')
  await ada.patch(`/api/conversations/${id}`, { title: 'Renamed' })
  assert.equal((await open(app, shared)).body.messages.length, 1)
  assert.equal((await ada.get('/api/shares')).body.shares[0].has_newer, true)
  const path = `/api/shares/${shared.id}`
  const later = new Date(app.clock.ms() + 3_600_000).toISOString()
  const ending = await ada.request('PUT', path, { body: { expires_at: later } })
  assert.deepEqual([ending.body.expires_at, ending.body.has_newer], [later, true])

  const put = await ada.request('PUT', path, { body: {} })
  assert.deepEqual([put.status, put.body.token, put.body.has_newer], [200, shared.token, false])
  const { body } = await open(app, shared)
  assert.deepEqual([body.messages.length, body.title], [4, 'Renamed'])

  const running = await begin(app, ada.userId, id, { question: 'more' })
  const early = { leaf_id: running.answerId, with_sources: false }
  assert.equal(
    (await ada.post(`/api/conversations/${id}/shares`, early)).body.code,
    'answer_running',
  )
})

test('an ended link is 410: ended, expired, or its conversation, account or owner is gone', async (t) => {
  const { app, ada, id, answerId, share } = await openCited(t)
  const wanted = { leaf_id: answerId, with_sources: true }
  const expect410 = async (shared: { token: string }) => {
    const reply = await open(app, shared)
    assert.deepEqual([reply.status, reply.body.code], [410, 'share_ended'])
  }
  const ended = await share(wanted)
  assert.equal((await ada.delete(`/api/shares/${ended.id}`)).status, 204)
  await expect410(ended)
  assert.equal((await ada.delete(`/api/shares/${ended.id}`)).status, 404)

  const expires_at = new Date(app.clock.ms() + 60_000).toISOString().replace('Z', '+00:00')
  const expiring = await share({ ...wanted, expires_at })
  assert.equal((await open(app, expiring)).status, 200)
  app.clock.advance(61_000)
  await expect410(expiring)
  const past = await ada.post(`/api/conversations/${id}/shares`, { ...wanted, expires_at })
  assert.equal(past.status, 422)

  const other = await share(wanted)
  const suspend = (isActive: boolean) =>
    sql`update users set is_active = ${isActive} where id = ${ada.userId}`.execute(app.platform.db)
  await suspend(false)
  await expect410(other)
  await suspend(true)
  assert.equal((await open(app, other)).status, 200)
  await ada.delete(`/api/conversations/${id}`)
  await expect410(other)
  assert.deepEqual((await ada.get('/api/shares')).body.shares, [])

  const again = await createConversation(ada)
  const { answerId: last } = await converse(app, ada, again, null, 'one')
  const reply = await ada.post(`/api/conversations/${again}/shares`, { ...wanted, leaf_id: last })
  assert.equal((await ada.delete('/api/users/me', { password: PASSWORD })).status, 200)
  await expect410(reply.body)
  assert.equal((await open(app, { token: 'A'.repeat(80) })).status, 404, 'never was a link')
  assert.equal((await open(app, { token: 'short' })).status, 404)
})

test('a copy is the own conversation of the person who makes it, once per state', async (t) => {
  const { app, ada, eve, id, answerId, share } = await openCited(t)
  const shared = await share({ leaf_id: answerId, with_sources: true })
  const copy = await eve.post(`/api/shared/${shared.token}/copy`)
  assert.equal(copy.status, 201, copy.text)
  assert.notEqual(copy.body.id, id)
  const { messages } = (await eve.get(`/api/conversations/${copy.body.id}`)).body
  assert.equal(messages[1].parts[0].text, 'Forty-one lamps lit it. Nobody counts more.')
  assert.deepEqual([messages[1].sources, messages[1].usage], [[], null])
  assert.equal((await eve.post(`/api/shared/${shared.token}/copy`)).body.id, copy.body.id)
  const bob = await app.as('bob', { tier: 'pro' })
  const copies = [0, 1].map(() => bob.post(`/api/shared/${shared.token}/copy`))
  const [first, second] = (await Promise.all(copies)).map(({ body }) => body.id)
  assert.equal(first, second, 'another person has another copy')
  assert.notEqual(first, copy.body.id)
  await converse(app, eve, copy.body.id, messages[1].id, 'And now?')
  assert.equal((await ada.get(`/api/conversations/${id}`)).body.messages.length, 2)

  assert.equal((await app.post(`/api/shared/${shared.token}/copy`)).status, 401)
  await eve.request('PUT', '/api/conversations/settings', { body: { keeps_conversations: false } })
  await ada.request('PUT', `/api/shares/${shared.id}`, { body: {} })
  const refused = await eve.post(`/api/shared/${shared.token}/copy`)
  assert.equal(refused.body.code, 'conversations_not_kept')
})

test('a token names its share, and no other token opens', async (t) => {
  const { platform } = await testApp(t)
  const key = { userId: crypto.randomUUID(), id: crypto.randomUUID() }
  const token = createShareToken(platform.secrets, key)
  assert.equal(token, createShareToken(platform.secrets, key))
  assert.deepEqual(readShareToken(platform.secrets, token), key)
  for (let at = 0; at < token.length; at++) {
    const changed = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
    assert.equal(readShareToken(platform.secrets, changed), null)
  }
})

test('marks of sources are removed, and links stay', () => {
  assert.equal(
    removeMarks('One [1]. Two [2, 13], [a] [1](https://x.y)'),
    'One. Two, [a] [1](https://x.y)',
  )
})

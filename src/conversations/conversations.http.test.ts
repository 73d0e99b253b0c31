import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, PASSWORD, testApp } from '#testing/app.ts'
import { begin, converse, createConversation, say, USAGE } from '#testing/conversations.ts'
import { insertMessages } from './message-store.ts'
import {
  BRANCH_MESSAGES_MAX,
  finishAnswer,
  interruptAnswers,
  readBranch,
  readMessage,
  saveAnswer,
  setTitle,
} from './messages.ts'

test('a conversation is created, read, changed, listed and deleted', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada, {
    title: 'Lamps',
    settings: { instructions: 'Be brief.' },
  })
  const collection = '0190a6a8-0000-7000-8000-000000000000'

  const changed = await ada.patch(`/api/conversations/${id}`, {
    title: 'Forty lamps',
    is_pinned: true,
    model: 'openai/gpt',
    collection_ids: [collection],
  })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(changed.body.title, 'Forty lamps')
  assert.equal(changed.body.title_by, 'person')
  assert.deepEqual(changed.body.settings, { instructions: 'Be brief.' })

  const other = await createConversation(ada)
  const { body } = await ada.get('/api/conversations')
  assert.deepEqual(
    body.conversations.map((one: { id: string }) => one.id),
    [id, other],
    'the pinned one comes first',
  )
  assert.deepEqual(
    (await ada.get(`/api/conversations?collection=${collection}`)).body.conversations.length,
    1,
  )
  assert.deepEqual((await ada.get(`/api/conversations/${id}`)).body.messages, [])

  await ada.patch(`/api/conversations/${id}`, { is_archived: true })
  assert.deepEqual((await ada.get('/api/conversations')).body.conversations.length, 1)
  assert.deepEqual((await ada.get('/api/conversations?archived=true')).body.conversations[0].id, id)

  assert.equal((await ada.delete(`/api/conversations/${id}`)).status, 204)
  assert.equal((await ada.get(`/api/conversations/${id}`)).status, 404)
  assert.equal((await ada.delete('/api/conversations', { confirm: true })).status, 204)
  assert.deepEqual((await ada.get('/api/conversations')).body.conversations, [])
})

test('an answer runs, is saved and ends once; a second question meanwhile is 409', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada)
  const { answerId, questionId } = await begin(app, ada.userId, id, {
    question: 'How many lamps are there?',
  })
  const key = { userId: ada.userId, conversationId: id, id: answerId }

  await assert.rejects(begin(app, ada.userId, id, { question: 'And now?' }), {
    code: 'answer_running',
  })
  assert.equal(await saveAnswer(app.platform, key, say('Forty')), true)
  const running = (await ada.get(`/api/conversations/${id}`)).body
  assert.equal(running.conversation.is_running, true)
  assert.equal(running.conversation.title, 'How many lamps are there?')
  assert.equal(running.messages[1].parts[0].text, 'Forty')
  assert.equal(running.messages[1].outcome, 'running')

  const end = {
    outcome: 'ok' as const,
    model: 'test/one',
    usage: USAGE,
    content: say('Forty-one.'),
  }
  assert.equal(await finishAnswer(app.platform, key, end), true)
  assert.equal(await finishAnswer(app.platform, key, { ...end, outcome: 'stopped' }), false)
  assert.equal(await saveAnswer(app.platform, key, say('too late')), false)
  const { messages, conversation } = (await ada.get(`/api/conversations/${id}`)).body
  assert.deepEqual(
    messages.map((message: { id: string }) => message.id),
    [questionId, answerId],
  )
  assert.equal(messages[1].parts[0].text, 'Forty-one.')
  assert.deepEqual(messages[1].usage, USAGE)
  assert.equal(conversation.leaf_id, answerId)
  assert.equal((await readMessage(app.platform, key))?.outcome, 'ok')
  assert.equal(await readMessage(app.platform, { ...key, userId: crypto.randomUUID() }), null)

  assert.equal(await setTitle(app.platform, ada.userId, id, { text: 'Lamps', by: 'model' }), true)
  await ada.patch(`/api/conversations/${id}`, { title: 'Mine' })
  assert.equal(await setTitle(app.platform, ada.userId, id, { text: 'Lights', by: 'model' }), false)
  assert.equal((await ada.get(`/api/conversations/${id}`)).body.conversation.title, 'Mine')
})

test('another answer and an edited question are siblings, and any branch can be shown', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada)
  const first = await converse(app, ada, id, null, 'one')
  const second = await converse(app, ada, id, first.answerId, 'two')
  const again = await begin(app, ada.userId, id, { replaces: first.answerId })
  assert.equal(again.questionId, first.questionId)
  const end = { outcome: 'ok' as const, model: null, usage: null, content: say('better') }
  await finishAnswer(
    app.platform,
    { userId: ada.userId, conversationId: id, id: again.answerId },
    end,
  )

  const shown = async () => (await ada.get(`/api/conversations/${id}`)).body.messages
  assert.deepEqual(
    (await shown()).map((one: { id: string }) => one.id),
    [first.questionId, again.answerId],
  )
  assert.deepEqual((await shown())[1].sibling_ids, [first.answerId, again.answerId])

  // The branch of the first answer continues to its end.
  const { body } = await ada.patch(`/api/conversations/${id}`, { leaf_id: first.answerId })
  assert.equal(body.leaf_id, second.answerId)
  assert.equal((await shown()).length, 4)

  const edited = await begin(app, ada.userId, id, {
    replaces: second.questionId,
    question: 'two, please',
  })
  const branch = await readBranch(app.platform, ada.userId, id, edited.questionId)
  assert.deepEqual(
    branch.map((one) => one.id),
    [first.questionId, first.answerId, edited.questionId],
  )
  assert.deepEqual((await shown())[2].sibling_ids, [second.questionId, edited.questionId])
  assert.equal(
    (await ada.patch(`/api/conversations/${id}`, { leaf_id: crypto.randomUUID() })).status,
    404,
  )
})

test('a branch is read from its newest messages up to the limit', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const conversationId = await createConversation(ada)
  const messages = Array.from({ length: BRANCH_MESSAGES_MAX + 1 }, (_, at) => ({
    id: `m${at}`,
    parent_id: at === 0 ? null : `m${at - 1}`,
    role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
    model: null,
    outcome: 'ok' as const,
    usage: null,
    created_at: app.clock.now(),
    ...say(`${at}`),
  }))
  const { platform } = app
  await insertMessages(platform.db, platform, { userId: ada.userId, conversationId }, messages)
  const last = `m${BRANCH_MESSAGES_MAX}`
  const branch = await readBranch(platform, ada.userId, conversationId, last)
  assert.equal(branch.length, BRANCH_MESSAGES_MAX)
  assert.deepEqual([branch[0]?.id, branch.at(-1)?.id], ['m1', last])
})

test('answers of dead nodes become interrupted; those of live nodes do not', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const dead = await createConversation(ada)
  const live = await createConversation(ada)
  await begin(app, ada.userId, dead, { question: 'one' })
  const { answerId } = await begin(app, ada.userId, live, { question: 'two' })
  app.clock.advance(61_000)
  await saveAnswer(
    app.platform,
    { userId: ada.userId, conversationId: live, id: answerId },
    say('So far'),
  )

  assert.equal(await interruptAnswers(app.platform, 60_000), 1)
  const outcome = async (id: string) =>
    (await ada.get(`/api/conversations/${id}`)).body.messages[1].outcome
  assert.equal(await outcome(dead), 'interrupted')
  assert.equal(await outcome(live), 'running')
})

test('two devices never overwrite each other: a stale parent branches, and one question wins', async (t) => {
  const app = await testApp(t)
  const laptop = await app.as('ada', { tier: 'pro' })
  const session = await app.post('/api/auth/login', { email: laptop.email, password: PASSWORD })
  const phone = createClient(app.url, session.body.access_token, laptop)
  const id = await createConversation(laptop)
  const first = await converse(app, laptop, id, null, 'one')
  const read = async () => (await phone.get(`/api/conversations/${id}`)).body
  assert.equal((await read()).messages.length, 2)

  // Both saw the first answer only.
  await converse(app, laptop, id, first.answerId, 'from the laptop')
  const stale = await converse(app, laptop, id, first.answerId, 'from the phone')
  const { messages, conversation } = await read()
  assert.equal(conversation.leaf_id, stale.answerId)
  assert.equal(messages[2].sibling_ids.length, 2, 'the laptop’s question is a sibling')

  const ask = (question: string) =>
    begin(app, laptop.userId, id, { parentId: stale.answerId, question })
  const both = await Promise.allSettled([ask('a'), ask('b')])
  assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const refused = both.find((one) => one.status === 'rejected')
  assert.equal(refused?.reason.code, 'answer_running')
  assert.equal((await read()).messages.length, 6)
})

test('changes of one conversation at the same time all take effect', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const id = await createConversation(ada)
  await Promise.all([
    ada.patch(`/api/conversations/${id}`, { title: 'Lamps' }),
    ada.patch(`/api/conversations/${id}`, { is_pinned: true }),
    ada.patch(`/api/conversations/${id}`, { model: 'a/b' }),
    converse(app, ada, id, null, 'one'),
  ])
  const { title, pinned_at, leaf_id } = (await ada.get(`/api/conversations/${id}`)).body
    .conversation
  assert.equal(title, 'Lamps')
  assert.ok(pinned_at !== null && leaf_id !== null)
  assert.equal((await ada.get('/api/conversations?q=lamps')).body.conversations[0].id, id)
})

test('at most a hundred conversations are pinned', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  for (let count = 0; count < 100; count++) {
    const id = await createConversation(ada)
    assert.equal((await ada.patch(`/api/conversations/${id}`, { is_pinned: true })).status, 200)
  }
  const more = [await createConversation(ada), await createConversation(ada)]
  const reply = await ada.patch(`/api/conversations/${more[0]}`, { is_pinned: true })
  assert.deepEqual([reply.status, reply.body.code], [409, 'pin_limit_reached'])
  const first = (await ada.get('/api/conversations')).body
  assert.equal(first.conversations.length, 102)
  assert.equal(first.next_cursor, null)
})

test('the list continues by cursor without gaps', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const ids: string[] = []
  for (let count = 0; count < 60; count++) ids.push(await createConversation(ada))
  await ada.patch(`/api/conversations/${ids[5]}`, { is_pinned: true })
  const first = (await ada.get('/api/conversations')).body
  const second = (await ada.get(`/api/conversations?cursor=${first.next_cursor}`)).body
  const listed = [...first.conversations, ...second.conversations].map(({ id }) => id)
  assert.equal(listed[0], ids[5])
  assert.deepEqual([...listed].sort(), [...ids].sort())
  assert.equal(new Set(listed).size, 60)
  assert.equal(second.next_cursor, null)
  assert.equal((await ada.get('/api/conversations?cursor=nonsense')).status, 422)
})

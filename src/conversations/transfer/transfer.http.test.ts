import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, testApp } from '#testing/app.ts'
import { begin, converse, createConversation, say, USAGE } from '#testing/conversations.ts'
import { finishAnswer } from '../messages.ts'

const IMPORT = '/api/conversations/import'

const message = (id: string, parent_id: string | null, role: string, text: string) => ({
  id,
  parent_id,
  role,
  parts: [{ type: 'text', text }],
})

const SOURCE = {
  document_id: 'doc_0',
  name: 'a.pdf',
  page: 2,
  score: 0.9,
  content: 'It has 41.',
  chunk_ids: ['doc_0_0'],
}

async function readOnly(client: Client) {
  const { conversations } = (await client.get('/api/conversations')).body
  assert.equal(conversations.length, 1)
  return (await client.get(`/api/conversations/${conversations[0].id}`)).body
}

test('an export is imported into another account with all branches, once', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const id = await createConversation(ada, {
    title: 'Lamps',
    settings: { instructions: 'Be brief.' },
  })
  const first = await converse(app, ada, id, null, 'How many?', 'Forty.')
  const again = await begin(app, ada.userId, id, { replaces: first.answerId })
  const quote = { text: 'It has 41.', start: 0, end: 10, page: 2 }
  const content = {
    ...say('Forty-one [1].'),
    sources: [SOURCE],
    citations: [{ source: 1, start: 0, end: 14, supported: true, quote }],
  }
  const key = { userId: ada.userId, conversationId: id, id: again.answerId }
  await finishAnswer(app.platform, key, { outcome: 'stopped', model: 'a/b', usage: USAGE, content })
  await createConversation(ada, { title: 'Empty' })

  const file = await ada.get('/api/conversations/export')
  assert.equal(file.status, 200)
  assert.match(
    file.headers.get('content-disposition') ?? '',
    /attachment; filename="conversations-/,
  )
  assert.equal(file.text.includes(ada.userId), false)
  const result = await eve.post(IMPORT, file.text, {
    headers: { 'content-type': 'application/json' },
  })
  assert.deepEqual(result.body, { imported: 1, skipped: [{ title: 'Empty', reason: 'empty' }] })

  const mine = (await ada.get(`/api/conversations/${id}`)).body
  const copy = await readOnly(eve)
  assert.notEqual(copy.conversation.id, id)
  assert.deepEqual(copy.conversation.settings, mine.conversation.settings)
  const withoutIds = ({ id, parent_id, sibling_ids, ...rest }: Record<string, unknown>) => rest
  assert.deepEqual(copy.messages.map(withoutIds), mine.messages.map(withoutIds))
  assert.equal(copy.messages[1].sibling_ids.length, 2)

  assert.deepEqual(
    (await eve.post(IMPORT, file.body)).body.skipped
      .map((one: { reason: string }) => one.reason)
      .sort(),
    ['already_imported', 'empty'],
  )
  await eve.delete(`/api/conversations/${copy.conversation.id}`)
  assert.equal((await eve.post(IMPORT, file.body)).body.imported, 1, 'a deleted one comes back')
})

test('a conversation of 10,000 messages is exported and imported, and a long one of ChatGPT', async (t) => {
  const app = await testApp(t)
  const [ada, eve] = [await app.as('ada', { tier: 'pro' }), await app.as('eve', { tier: 'pro' })]
  const messages = Array.from({ length: 10_000 }, (_, at) => {
    const role = at % 2 === 0 ? 'user' : 'assistant'
    return { ...message(`m${at}`, at === 0 ? null : `m${at - 1}`, role, `${at}`), usage: USAGE }
  })
  await ada.post(IMPORT, { conversations: [{ id: 'long', title: 'Long', messages }] })
  const file = await ada.get('/api/conversations/export')
  const headers = { 'content-type': 'application/json' }
  const copied = await eve.post(IMPORT, file.text, { headers })
  assert.deepEqual(copied.body, { imported: 1, skipped: [] })
  const copy = await readOnly(eve)
  assert.deepEqual([copy.messages.length, copy.messages.at(-1).parts[0].text], [50, '9999'])
  const stored = await app.platform.db
    .selectFrom('conversation_messages')
    .select((e) => [e.fn.countAll().as('all'), e.fn.count('parent_id').distinct().as('parents')])
    .where('user_id', '=', eve.userId)
    .executeTakeFirstOrThrow()
  assert.deepEqual([Number(stored.all), Number(stored.parents)], [10_000, 9_999])

  const nodes = messages
    .slice(0, 4_000)
    .map(({ id, parent_id, role }) => node(id, parent_id, role, [id]))
  const mapping = Object.assign({}, ...nodes)
  const chatgpt = { conversation_id: 'c', title: 'ChatGPT', current_node: 'm3999', mapping }
  assert.equal((await ada.post(IMPORT, { conversations: [chatgpt] })).body.imported, 1)
})

test('the export streams branches of many conversations and no running answer', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const ids: string[] = []
  for (let index = 0; index < 3; index++) {
    const id = await createConversation(ada, { title: `Talk ${index}` })
    const { answerId } = await converse(app, ada, id, null, `one ${index}`)
    await begin(app, ada.userId, id, { parentId: answerId, question: `two ${index}` })
    ids.push(id)
  }
  const { conversations } = (await ada.get('/api/conversations/export')).body
  assert.deepEqual(conversations.map(({ id }: { id: string }) => id).sort(), ids.sort())
  for (const { messages } of conversations) assert.equal(messages.length, 3)
})

const node = (
  id: string,
  parent: string | null,
  role: string,
  parts: unknown[],
  more: object = {},
) => ({
  [id]: {
    id,
    parent,
    children: [],
    message: {
      id,
      author: { role },
      create_time: 1_700_000_000.5,
      content: { content_type: 'text', parts },
      metadata: { model_slug: 'gpt-4o' },
      recipient: 'all',
      ...more,
    },
  },
})

const CHATGPT = {
  conversation_id: 'c-1',
  title: 'Lamps of Malo',
  create_time: 1_700_000_000,
  update_time: 1_700_000_100,
  default_model_slug: 'gpt-4o',
  current_node: 'again',
  mapping: {
    root: { id: 'root', message: null, parent: null, children: ['hidden'] },
    ...node('hidden', 'root', 'system', ['Be nice.']),
    ...node('question', 'hidden', 'user', ['How many lamps?']),
    ...node('call', 'question', 'assistant', ['search("lamps")'], { recipient: 'browser' }),
    ...node('tool', 'call', 'tool', ['a page']),
    ...node('answer', 'tool', 'assistant', ['Forty \ue200cite\ue202turn0\ue201lamps.']),
    ...node('again', 'call', 'assistant', ['Forty-one.']),
    ...node('picture', 'answer', 'user', [{ content_type: 'image_asset_pointer' }, 'And this?'], {
      content: {
        content_type: 'multimodal_text',
        parts: [{ content_type: 'image_asset_pointer' }, 'And this?'],
      },
    }),
  },
}

test('ChatGPT’s export is imported without hidden messages and tools, with its branches', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  assert.deepEqual((await ada.post(IMPORT, [CHATGPT])).body, { imported: 1, skipped: [] })
  const { conversation, messages } = await readOnly(ada)
  assert.equal(conversation.title, 'Lamps of Malo')
  assert.equal(conversation.updated_at, '2023-11-14T22:15:00.000Z')
  const texts = (list: { parts: { text: string }[] }[]) => list.map(({ parts }) => parts[0]?.text)
  assert.deepEqual(texts(messages), ['How many lamps?', 'Forty-one.'])
  assert.equal(messages[1].model, 'gpt-4o')
  const other = messages[1].sibling_ids.find((id: string) => id !== messages[1].id)
  await ada.patch(`/api/conversations/${conversation.id}`, { leaf_id: other })
  const shown = (await ada.get(`/api/conversations/${conversation.id}`)).body.messages
  assert.deepEqual(texts(shown), ['How many lamps?', 'Forty lamps.', '[Image]\n\nAnd this?'])
  assert.equal((await ada.get('/api/conversations?q=malo')).body.conversations.length, 1)
})

const hostile: [name: string, conversation: object, reason: string | null][] = [
  [
    'a large member that no format has',
    { messages: [message('a', null, 'user', 'x')], more: Array(400_000).fill(0) },
    null,
  ],
  [
    'a circle of messages',
    { messages: [message('a', 'b', 'user', 'x'), message('b', 'a', 'assistant', 'y')] },
    'empty',
  ],
  ['a message that is its own parent', { messages: [message('a', 'a', 'user', 'x')] }, 'empty'],
  ['a missing parent', { messages: [message('a', 'gone', 'user', 'x')] }, null],
  [
    'the same id twice',
    { messages: [message('a', null, 'user', 'x'), message('a', null, 'user', 'y')] },
    null,
  ],
  ['an unknown role', { messages: [message('a', null, 'system', 'x')] }, 'invalid'],
  ['messages that are no list', { messages: { length: 3 } }, 'invalid'],
  ['no messages', {}, 'invalid'],
  [
    'a message over the limit',
    { messages: [message('a', null, 'user', 'x'.repeat(400_001))] },
    'too_long',
  ],
  [
    'reasoning, tools and sources of more characters than stored answers have',
    {
      messages: [
        {
          ...message('a', null, 'assistant', 'x'),
          tools: [{ name: 'search', input: { query: 'x'.repeat(1_000_001) }, state: 'done' }],
        },
      ],
    },
    'too_long',
  ],
  [
    'a message of too many values',
    { messages: [{ ...message('a', null, 'user', 'x'), sources: Array(400_000).fill(0) }] },
    'too_long',
  ],
  [
    'messages of too many values in sum',
    {
      messages: ['a', 'b', 'c'].map((id) => ({
        ...message(id, null, 'user', 'x'),
        more: Array(190_000).fill({}),
      })),
    },
    'too_long',
  ],
  [
    'more messages than the limit',
    { messages: Array.from({ length: 10_001 }, (_, at) => message(`${at}`, null, 'user', 'x')) },
    'too_long',
  ],
  [
    'an image with script',
    {
      messages: [
        {
          ...message('a', null, 'user', ''),
          parts: [{ type: 'image', media_type: 'image/svg+xml', data: 'AAAA' }],
        },
      ],
    },
    'invalid',
  ],
  [
    'a circle in a mapping',
    { mapping: { ...node('a', 'b', 'user', ['x']), ...node('b', 'a', 'assistant', ['y']) } },
    'empty',
  ],
  [
    'a circle of left out nodes',
    {
      mapping: {
        ...node('a', 'b', 'tool', ['x']),
        ...node('b', 'a', 'tool', ['x']),
        ...node('c', 'b', 'user', ['y']),
      },
    },
    null,
  ],
  [
    'names of prototypes',
    JSON.parse(
      '{"mapping":{"__proto__":{"parent":"constructor","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["x"]}}}}}',
    ),
    null,
  ],
  [
    'a mapping of nonsense',
    { mapping: { a: 1, b: null, c: [], d: { message: 7 }, e: { message: { author: [] } } } },
    'empty',
  ],
  [
    'times of another world',
    {
      created_at: { toString: [] },
      updated_at: '9999-01-01T00:00:00Z',
      pinned_at: 'x',
      messages: [message('a', null, 'user', 'x')],
    },
    null,
  ],
  [
    'text with NUL and half characters',
    { title: 'a\0\ud800', messages: [message('a', null, 'user', 'x\0\ud800')] },
    null,
  ],
  [
    'sources of another shape',
    {
      messages: [
        {
          ...message('a', null, 'assistant', 'x'),
          sources: [{ name: 7 }],
          citations: [{}],
          tools: 'x',
          usage: { prompt_tokens: 'x' },
        },
      ],
    },
    null,
  ],
  ...[{ text: 'x'.repeat(400_001) }, { ms: -1 }, { more: 'x' }].map(
    (change): (typeof hostile)[number] => [
      `reasoning with ${Object.keys(change)} of another shape`,
      {
        messages: [
          {
            ...message('a', null, 'assistant', 'x'),
            reasoning: { text: 'Hm.', ms: 1, ...change },
          },
        ],
      },
      null,
    ],
  ),
  ...[{ content: 'x'.repeat(400_001) }, { name: 'x'.repeat(501) }].map(
    (change): (typeof hostile)[number] => [
      `a source with a long ${Object.keys(change)}`,
      {
        messages: [
          { ...message('a', null, 'assistant', 'x'), sources: [{ ...SOURCE, ...change }] },
        ],
      },
      null,
    ],
  ),
]

test('hostile conversations are skipped with a reason, and the others are imported', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const conversations = hostile.map(([title, conversation], at) => ({
    title,
    ...conversation,
    id: `h-${at}`,
  }))
  const { status, body } = await ada.post(IMPORT, { conversations })
  assert.equal(status, 200)
  const reasons = (body.skipped as { reason: string }[]).map(({ reason }) => reason)
  assert.deepEqual(
    reasons,
    hostile.flatMap(([, , reason]) => reason ?? []),
  )
  assert.equal(body.imported, hostile.filter(([, , reason]) => reason === null).length)
  const listed = (await ada.get('/api/conversations')).body.conversations
  assert.equal(listed.length, body.imported)
  for (const { id } of listed) {
    const { messages } = (await ada.get(`/api/conversations/${id}`)).body
    assert.ok(messages.length > 0)
    assert.deepEqual(
      messages.flatMap((one: { sources: object[] }) => one.sources),
      [],
    )
    for (const { reasoning } of messages) assert.equal(reasoning, null)
  }
})

test('files that are no export are refused with one clear error', async (t) => {
  const app = await testApp(t, { env: { MAX_FILE_MB: '1' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const headers = { 'content-type': 'application/json' }
  const send = async (text: string | Uint8Array) => {
    const { status, body } = await ada.post(IMPORT, text, { headers })
    return [status, body.code]
  }
  for (const text of ['', '7', '"x"', '{', '[', '[{]', '{"conversations":[', '{"a":', '[{}', '[,]'])
    assert.deepEqual((await send(text))[0], 422, text)
  assert.deepEqual(await send('{"users":[]}'), [422, 'validation_failed'])
  assert.deepEqual(await send(`[${'{},'.repeat(1_000)}{}]`), [413, 'import_too_large'])
  assert.deepEqual(await send(`[${' '.repeat(1_100_000)}]`), [413, 'body_too_large'])
  const nested = (
    await ada.post(IMPORT, `[${'['.repeat(90_000)}${']'.repeat(90_000)},7,null]`, { headers })
  ).body
  assert.deepEqual(
    nested.skipped.map((one: { reason: string }) => one.reason),
    ['invalid', 'invalid', 'invalid'],
  )
  const messages = JSON.stringify([message('a', null, 'user', 'x')])
  for (const text of [
    `{"messages":${messages} "title":"t"}`,
    `{"messages":${messages},}`,
    `{"messages":${messages},,"title":"t"}`,
    `{"more":,"messages":${messages}}`,
  ])
    assert.deepEqual((await ada.post(IMPORT, `[${text}]`, { headers })).body, {
      imported: 0,
      skipped: [{ title: '', reason: 'invalid' }],
    })
  const broken = Buffer.concat([
    Buffer.from('[{"title":"'),
    Buffer.from([0xff]),
    Buffer.from('"}]'),
  ])
  assert.deepEqual((await ada.post(IMPORT, broken, { headers })).body.skipped, [
    { title: '', reason: 'invalid' },
  ])
  assert.deepEqual((await ada.post(IMPORT, '[]', { headers })).body, { imported: 0, skipped: [] })
  await ada.request('PUT', '/api/conversations/settings', { body: { keeps_conversations: false } })
  assert.deepEqual(await send('[]'), [409, 'conversations_not_kept'])
})

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { buildDocx, paragraph } from '#testing/office-samples.ts'
import { NOTHING_FOUND } from './answer/prompt.ts'
import { buildPdf, drawLines } from './ingest/parsers/samples.ts'
import type { FoundChunk } from './search/search.ts'

const text = `The lighthouse of Porto Calvo was built in 1882 by the engineer Amélie Duroc. Its lamp burned whale oil at first.

Bread rises because yeast turns sugar into carbon dioxide. Bakers call the second rise proofing.

Die Hauptstadt von Norwegen ist Oslo. Dort wohnen siebenhunderttausend Menschen.`
const question = 'Who built the lighthouse?'

const found = async (client: Client, query: string, more: object = {}): Promise<FoundChunk[]> => {
  const reply = await client.post('/api/rag/search', { query, ...more })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.results
}

const rowsOf = async (
  { platform: { db } }: TestApp,
  table: 'rag_chunks' | 'rag_documents' | 'rag_external_ids' | 'rag_stores',
) => (await db.selectFrom(table).select('user_id').execute()).length

function formOf(
  name: string,
  content: string | Uint8Array,
  fields: Record<string, string> = {},
  late: Record<string, string> = {},
) {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.append(key, value)
  form.append('file', new Blob([content as never]), name)
  for (const [key, value] of Object.entries(late)) form.append(key, value)
  return form
}

const UNANSWERED = {
  warnings: [],
  answer: NOTHING_FOUND,
  sources: [],
  nearest: [],
  searched_as: null,
  overview: false,
  citations: [],
  model: null,
  usage: null,
}

test('stores, finds, answers from, lists and deletes a text', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const stored = await ada.post('/api/rag/ingest/text', {
    content: text,
    metadata: { topic: 'mixed' },
    chunk_size: 130,
  })
  assert.equal(stored.status, 200, stored.text)
  assert.equal(stored.body.chunks_created, stored.body.document_ids.length)
  for (const [i, id] of stored.body.document_ids.entries())
    assert.match(id, new RegExp(`^[0-9a-f]{12}_${i}$`))

  const results = await found(ada, question, { top_k: 2 })
  assert.equal(results.length, 2)
  assert.match(results[0]?.content ?? '', /Duroc/)
  assert.ok((results[0]?.score ?? 0) >= 0.5)
  assert.ok((results[0]?.score ?? 0) >= (results[1]?.score ?? 1))
  assert.deepEqual(results[0]?.metadata, {
    topic: 'mixed',
    user_id: ada.userId,
    chunk_index: 0,
    total_chunks: stored.body.chunks_created,
  })

  const answered = await ada.post('/api/rag/query', { question })
  assert.equal(answered.status, 200, answered.text)
  assert.match(answered.body.answer, /Duroc/)
  assert.ok(answered.body.sources.length > 0)
  assert.ok(answered.body.usage.total_tokens > 0)

  const listed = await ada.get('/api/rag/documents')
  assert.equal(listed.headers.get('x-total-count'), '1')
  const [document] = listed.body
  assert.equal(document.id, stored.body.document_ids[0].slice(0, 12))
  assert.equal(document.chunks, stored.body.chunks_created)
  assert.equal(document.characters, text.length)
  assert.deepEqual(document.metadata, { topic: 'mixed' })

  const gone = await ada.delete(`/api/rag/documents/${stored.body.document_ids[0]}`)
  assert.deepEqual(gone.body, { status: 'deleted', document_id: stored.body.document_ids[0] })
  assert.equal((await ada.delete(`/api/rag/documents/${stored.body.document_ids[0]}`)).status, 404)
  assert.ok((await found(ada, question)).every(({ content }) => !content.includes('Duroc')))

  assert.equal((await ada.delete(`/api/rag/documents/${document.id}`)).status, 200)
  assert.equal((await ada.get('/api/rag/documents')).headers.get('x-total-count'), '0')
  assert.equal(await rowsOf(app, 'rag_chunks'), 0)
})

test('access requires a token and a paid tier; an API key is accepted', async (t) => {
  const app = await testApp(t)
  const routes: [string, string, object | undefined][] = [
    ['POST', '/api/rag/ingest/text', { content: text }],
    ['POST', '/api/rag/ingest/file', undefined],
    ['POST', '/api/rag/search', { query: 'x' }],
    ['POST', '/api/rag/query', { question: 'x' }],
    ['GET', '/api/rag/documents', undefined],
    ['DELETE', '/api/rag/documents/0123456789ab', undefined],
    ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
  ]
  const free = await app.as('fred')
  for (const [method, path, body] of routes) {
    assert.equal((await app.request(method, path, { body })).status, 401, path)
    const refused = await free.request(method, path, { body })
    assert.equal(refused.status, 403, path)
    assert.equal(refused.body.detail, 'This feature requires a Pro or Enterprise subscription')
  }

  const ada = await app.as('ada', { tier: 'enterprise' })
  const { key } = (await ada.post('/api/api-keys', { name: 'rag' })).body
  const headers = { authorization: `Bearer ${key}` }
  assert.equal((await app.post('/api/rag/ingest/text', { content: text }, { headers })).status, 200)
  assert.equal((await found(ada, question)).length, 1)
})

test('an invalid value is refused with 422 that names the field', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const cases: [string, object, string][] = [
    ['/api/rag/ingest/text', {}, 'content'],
    ['/api/rag/ingest/text', { content: '' }, 'content'],
    ['/api/rag/ingest/text', { content: ' \n\t ' }, 'content'],
    ['/api/rag/ingest/text', { content: 'a\0b' }, 'content'],
    ['/api/rag/ingest/text', { content: 'a', chunk_size: 99 }, 'chunk_size'],
    ['/api/rag/ingest/text', { content: 'a', chunk_size: 10_001 }, 'chunk_size'],
    ['/api/rag/ingest/text', { content: 'a', chunk_overlap: -1 }, 'chunk_overlap'],
    ['/api/rag/ingest/text', { content: 'a', chunk_overlap: 2_001 }, 'chunk_overlap'],
    [
      '/api/rag/ingest/text',
      { content: 'a', chunk_size: 200, chunk_overlap: 200 },
      'chunk_overlap',
    ],
    ['/api/rag/ingest/text', { content: 'a', metadata: [] }, 'metadata'],
    ['/api/rag/ingest/text', { content: 'a', metadata: { x: 'y'.repeat(70_000) } }, 'metadata'],
    ['/api/rag/ingest/text', { content: 'a', metadata: { x: '\0' } }, 'metadata'],
    [
      '/api/rag/ingest/text',
      { content: 'a', metadata: JSON.parse(`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`) },
      'metadata',
    ],
    ['/api/rag/search', { query: '' }, 'query'],
    ['/api/rag/search', { query: 'a', top_k: 0 }, 'top_k'],
    ['/api/rag/search', { query: 'a', top_k: 51 }, 'top_k'],
    ['/api/rag/search', { query: 'a', filter: { a: { $regex: 'x' } } }, 'filter'],
    ['/api/rag/search', { query: 'a', filter: { a: { b: 1 } } }, 'filter'],
    ['/api/rag/search', { query: 'a', min_score: -0.1 }, 'min_score'],
    ['/api/rag/query', { question: 'a', min_score: 1.1 }, 'min_score'],
    [
      '/api/rag/query',
      { question: 'a', chat_history: [{ role: 'system', content: 'x' }] },
      'chat_history',
    ],
  ]
  for (const [path, body, field] of cases) {
    const reply = await ada.post(path, body)
    assert.equal(reply.status, 422, `${path} ${JSON.stringify(body).slice(0, 80)}: ${reply.text}`)
    assert.deepEqual(reply.body.detail[0].loc.slice(0, 2), ['body', field])
  }
  assert.equal(await rowsOf(app, 'rag_documents'), 0)
})

test('the default overlap is the smaller of 200 and a fifth of the size', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const words = Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ')

  const { document_ids } = (
    await ada.post('/api/rag/ingest/text', { content: words, chunk_size: 100 })
  ).body
  const results = await found(ada, 'word1', { top_k: 50, filter: { chunk_index: { $lt: 40 } } })

  assert.ok(document_ids.length > 0)
  const inOrder = results.toSorted(
    (a, b) => Number(a.metadata.chunk_index) - Number(b.metadata.chunk_index),
  )
  for (const [i, { content }] of inOrder.entries()) {
    assert.ok(content.length <= 100)
    const before = inOrder[i - 1]?.content.split(' ') ?? []
    const repeated = content.split(' ').filter((word) => before.includes(word))
    if (i > 0) assert.ok(repeated.length > 0 && repeated.join(' ').length <= 20, repeated.join(' '))
  }
})

test('two users with the same text never see each other’s data', async (t) => {
  const app = await testApp(t)
  const [ada, eve] = [await app.as('ada', { tier: 'pro' }), await app.as('eve', { tier: 'pro' })]
  const mine = await ada.post('/api/rag/ingest/text', { content: text, metadata: { owner: 'ada' } })
  const hers = await eve.post('/api/rag/ingest/text', {
    content: text,
    metadata: { owner: 'eve', user_id: ada.userId },
  })
  assert.deepEqual(mine.body, hers.body, 'ids are made of the text alone')

  for (const filter of [undefined, { user_id: eve.userId }]) {
    const results = await found(eve, question, { filter, top_k: 50 })
    assert.equal(results.length, 1)
    assert.deepEqual(results[0]?.metadata, {
      owner: 'eve',
      user_id: eve.userId,
      chunk_index: 0,
      total_chunks: 1,
    })
  }
  for (const filter of [
    { user_id: ada.userId },
    { user_id: { $in: [ada.userId] } },
    { user_id: { $ne: eve.userId } },
    { owner: 'ada' },
  ]) {
    assert.deepEqual(await found(eve, question, { filter }), [])
    const asked = await eve.post('/api/rag/query', { question, filter })
    assert.deepEqual(asked.body, UNANSWERED)
  }

  assert.equal((await eve.delete(`/api/rag/documents/${hers.body.document_ids[0]}`)).status, 200)
  assert.equal((await found(ada, question)).length, 1)
  assert.equal((await eve.delete(`/api/rag/documents/${mine.body.document_ids[0]}`)).status, 404)
  assert.equal(
    (await eve.delete(`/api/rag/documents/${mine.body.document_ids[0].slice(0, 12)}`)).status,
    404,
  )
  assert.equal((await ada.get('/api/rag/documents')).body.length, 1)
})

test('ids of other shapes return 404 and change nothing', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const [id] = (await ada.post('/api/rag/ingest/text', { content: text })).body.document_ids
  const forged = [
    'x',
    `${id}0`,
    `${id}_0`,
    id.toUpperCase().replace('_0', '_00'),
    '%25',
    `${id}%20`,
    "' or 1=1 --",
    `${id.slice(0, 12)}_-1`,
    `${id.slice(0, 12)}_99999999999`,
  ]

  for (const path of forged) {
    assert.equal(
      (await ada.delete(`/api/rag/documents/${encodeURIComponent(path)}`)).status,
      404,
      path,
    )
  }
  assert.equal((await found(ada, question)).length, 1)
})

test('the same text again replaces its chunks, also with other sizes and metadata', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text, chunk_size: 100, metadata: { draft: 1 } })
  const again = await ada.post('/api/rag/ingest/text', { content: text, metadata: { draft: 2 } })

  assert.equal(again.body.chunks_created, 1)
  assert.equal(await rowsOf(app, 'rag_chunks'), 1)
  const results = await found(ada, question, { top_k: 50 })
  assert.deepEqual(
    results.map(({ metadata }) => metadata.draft),
    [2],
  )
})

test('a large text is replaced without a gap, and leaves no old chunks behind', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const large = `${text}\n\n${Array.from({ length: 1_200 }, (_, i) => `Paragraph number ${i} says that item ${i * 7} is kept in drawer ${i % 13}.`).join('\n\n')}`
  const put = (chunk_size: number) =>
    ada.post('/api/rag/ingest/text', { content: large, chunk_size, chunk_overlap: 0 })
  assert.ok((await put(100)).body.chunks_created > 600)

  const replaced = put(150)
  let isDone = false
  void replaced.then(() => {
    isDone = true
  })
  let looks = 0
  while (!isDone) {
    const results = await found(ada, question, { top_k: 50, filter: { chunk_index: { $lte: 3 } } })
    const totals = new Set(results.map(({ metadata }) => metadata.total_chunks))
    assert.equal(totals.size, 1, 'one version at a time')
    assert.match(results[0]?.content ?? '', /Duroc/)
    looks++
  }
  assert.ok(looks > 0)
  const { chunks_created } = (await replaced).body

  await app.settle()
  assert.equal(await rowsOf(app, 'rag_chunks'), chunks_created)
  const [hit] = await found(ada, 'In which drawer is item 7777 kept?')
  assert.match(hit?.content ?? '', /item 7777 /)
})

test('an external id names one document: the same id with any text replaces it', async (t) => {
  const app = await testApp(t)
  const [ada, eve] = [await app.as('ada', { tier: 'pro' }), await app.as('eve', { tier: 'pro' })]
  const put = async (client: Client, content: string, external_id?: string) => {
    const reply = await client.post('/api/rag/ingest/text', {
      content,
      external_id,
      metadata: { source: 'price.md' },
    })
    assert.equal(reply.status, 200, reply.text)
    return String(reply.body.document_ids[0]).slice(0, 12)
  }
  const listed = async (client: Client): Promise<[string, string[]][]> =>
    (await client.get('/api/rag/documents')).body.map(
      ({
        id,
        external_id,
        external_ids,
      }: {
        id: string
        external_id: string | null
        external_ids: string[]
      }) => {
        assert.equal(external_id, external_ids[0] ?? null)
        return [id, external_ids.toSorted()]
      },
    )

  await put(ada, 'The price is 10 euros.', 'drive/7')
  const hers = await put(eve, 'The price is 10 euros.', 'drive/7')
  const long = Array.from(
    { length: 900 },
    (_, i) => `The price of item ${i} is ${i} euros, all taxes included.`,
  ).join('\n')
  const large = await put(ada, long, 'drive/7')
  assert.deepEqual(await listed(ada), [[large, ['drive/7']]])
  const second = await put(ada, 'The price is 12 euros.', 'drive/7')

  await app.settle()
  assert.deepEqual(await listed(ada), [[second, ['drive/7']]])
  assert.deepEqual(await listed(eve), [[hers, ['drive/7']]], 'another user’s stays')
  assert.equal(await rowsOf(app, 'rag_chunks'), 2, 'nothing is left of what was replaced')
  assert.deepEqual(
    (await found(ada, 'What is the price?')).map(({ content }) => content),
    ['The price is 12 euros.'],
  )

  // The same text is one document under all its names; it is deleted when its last name moves to
  // another text.
  await put(ada, 'The price is 12 euros.', 'wiki/3')
  assert.deepEqual(await listed(ada), [[second, ['drive/7', 'wiki/3']]])
  const third = await put(ada, 'The price is 13 euros.', 'drive/7')
  assert.deepEqual(
    (await listed(ada)).toSorted(),
    [
      [second, ['wiki/3']],
      [third, ['drive/7']],
    ].toSorted(),
  )
  await put(ada, 'The price is 13 euros.', 'wiki/3')
  assert.deepEqual(await listed(ada), [[third, ['drive/7', 'wiki/3']]])

  // Without an id the text keeps its name, and a text without a name gets its first one.
  await put(ada, 'The price is 13 euros.')
  assert.deepEqual(await listed(ada), [[third, ['drive/7', 'wiki/3']]])
  await put(ada, 'Nameless.')
  await put(ada, 'Nameless.', 'late/1')
  await put(ada, 'Named.', 'late/1')
  assert.ok((await found(ada, 'Nameless')).every(({ content }) => content !== 'Nameless.'))

  assert.equal((await ada.delete(`/api/rag/documents/${third}`)).status, 200)
  const anew = await put(ada, 'The price is 14 euros.', 'drive/7')
  assert.ok((await listed(ada)).some(([id, names]) => id === anew && names.join() === 'drive/7'))
})

test('files accept an external id, and replace=source replaces by name', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const send = async (path: string, form: FormData) => ada.post(`/api/rag/ingest/file${path}`, form)
  const contents = async () =>
    (await found(ada, 'price in euros', { top_k: 50 })).map(({ content }) => content).toSorted()

  await send('', formOf('price.md', 'The price is 10 euros.', { external_id: 'drive/7' }))
  await send('', formOf('other.md', 'The price is 99 euros.'))
  await send('', formOf('price.md', 'The price is 11 euros.', {}, { replace: 'source' }))
  assert.deepEqual(await contents(), ['The price is 11 euros.', 'The price is 99 euros.'])
  const [newest] = (await ada.get('/api/rag/documents')).body
  assert.equal(newest.external_id, 'drive/7', 'the name stays with what took its place')

  await send('?replace=source', formOf('price.md', 'The price is 12 euros.'))
  assert.deepEqual(await contents(), ['The price is 12 euros.', 'The price is 99 euros.'])
  await send('', formOf('price.md', 'The price is 13 euros.', { external_id: 'drive/7' }))
  assert.deepEqual(await contents(), ['The price is 13 euros.', 'The price is 99 euros.'])
  await ada.post('/api/rag/ingest/text', {
    content: 'The price is 14 euros.',
    metadata: { source: 'price.md' },
    replace: 'source',
  })
  assert.deepEqual(await contents(), ['The price is 14 euros.', 'The price is 99 euros.'])

  for (const [path, fields] of [
    ['', { replace: 'name' }],
    ['?replace=name', {}],
    ['', { external_id: 'x'.repeat(513) }],
  ] as const) {
    assert.equal(
      (await send(path, formOf('a.md', 'text', fields))).status,
      422,
      JSON.stringify(fields),
    )
  }
  const bodies = [
    { replace: 'source' },
    { replace: 'id' },
    { external_id: '' },
    { external_id: 'a\0' },
    { external_id: 7 },
  ]
  for (const body of bodies) {
    assert.equal((await ada.post('/api/rag/ingest/text', { content: 'text', ...body })).status, 422)
  }
  assert.equal((await contents()).length, 2)
})

test('parallel ingests under one external id end in one document', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, i) =>
      ada.post('/api/rag/ingest/text', {
        content: `Version ${i}. ${text}`,
        external_id: 'one',
        chunk_size: 100,
      }),
    ),
  )

  for (const reply of replies) assert.equal(reply.status, 200, reply.text)
  const listed = (await ada.get('/api/rag/documents')).body
  assert.equal(listed.length, 1)
  assert.equal(listed[0].external_id, 'one')
  assert.equal(await rowsOf(app, 'rag_chunks'), listed[0].chunks)
})

test('parallel ingests of one text end in one document', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const replies = await Promise.all(
    [100, 120, 140, 160, 180].map((chunk_size) =>
      ada.post('/api/rag/ingest/text', { content: text, chunk_size }),
    ),
  )

  for (const reply of replies) assert.equal(reply.status, 200, reply.text)
  const listed = await ada.get('/api/rag/documents')
  assert.equal(listed.body.length, 1)
  assert.equal(await rowsOf(app, 'rag_chunks'), listed.body[0].chunks)
})

test('filters apply before the ranking, so a narrow filter still fills the results', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await Promise.all(
    Array.from({ length: 90 }, (_, i) =>
      ada.post('/api/rag/ingest/text', {
        content: `Lighthouse report ${i}: the lighthouse shone all night.`,
        metadata: { year: 1900 + i, kind: 'report' },
      }),
    ),
  )
  await ada.post('/api/rag/ingest/text', {
    content: 'Soup recipe: boil water, add leeks.',
    metadata: { year: 2000, kind: 'recipe', final: true },
  })

  const ids = async (filter: object) =>
    (await found(ada, 'lighthouse', { filter, top_k: 50 })).map(({ metadata }) => metadata.year)
  assert.deepEqual(await ids({ kind: 'recipe' }), [2000])
  assert.deepEqual(await ids({ final: true }), [2000])
  assert.deepEqual((await ids({ year: { $gte: 1985, $lt: 1988 } })).sort(), [1985, 1986, 1987])
  assert.deepEqual((await ids({ year: { $in: [1901, 1902, 3000] } })).sort(), [1901, 1902])
  assert.deepEqual(await ids({ final: { $ne: true }, year: { $gt: 1988 } }), [1989])
  assert.deepEqual(await ids({ chunk_index: 1 }), [])
  assert.deepEqual(await ids({ chunk_index: 0, kind: 'recipe' }), [2000])
  assert.deepEqual(
    await ids({ chunk_index: { $in: [0, 5] }, total_chunks: 1, kind: 'recipe' }),
    [2000],
  )
  assert.equal((await ids({ kind: 'report' })).length, 50)
})

test('without a near chunk no vendor is called, and the answer reports it', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text })

  const reply = await ada.post('/api/rag/query', {
    question: 'Which gas giant has the Great Red Spot?',
  })
  assert.deepEqual(reply.body, UNANSWERED)

  const everything = await ada.post('/api/rag/query', {
    question: 'Which gas giant has the Great Red Spot?',
    min_score: 0,
  })
  assert.equal(everything.body.sources.length, 1, 'equal stays')

  const stream = await ada.post('/api/rag/query', {
    question: 'Which gas giant?',
    stream: true,
    include_sources: true,
  })
  assert.equal(
    stream.text,
    `event: sources\ndata: {"sources":[],"nearest":[],"searched_as":null,"overview":false,"warnings":[]}\n\ndata: ${JSON.stringify({ token: NOTHING_FOUND })}\n\nevent: usage\ndata: null\n\ndata: [DONE]\n\n`,
  )
})

const handbook = [
  'Parental leave lasts 16 weeks and is compensated at full salary. Send the request for parental leave to the people team, two months ahead.',
  'Sick leave is paid for six weeks. A doctor’s note is needed from the third day on.',
  'Hotels are paid by the company up to 150 euros a night. In Zurich the limit is 220 euros.',
  'The cafeteria opens at eight. Lunch costs five euros, and there is soup every day.',
  'Laptops are replaced every three years. Send broken ones to the service desk.',
]
const ask = async (
  client: Client,
  question: string,
  said: string[] = [],
  more: object = {},
): Promise<FoundChunk[]> => {
  const chat_history = said.flatMap((content) => [
    { role: 'user', content },
    { role: 'assistant', content: 'It lasts 16 weeks [1].' },
  ])
  const reply = await client.post('/api/rag/query', { question, chat_history, ...more })
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.body.answer === NOTHING_FOUND, reply.body.sources.length === 0)
  return reply.body.sources
}

test('without an embedder a mode that needs one is refused', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text })

  const plain = await found(ada, question)
  for (const mode of ['auto', 'lexical'])
    assert.deepEqual(await found(ada, question, { mode }), plain)
  for (const mode of ['dense', 'hybrid', 'fuzzy', null]) {
    const refused = await ada.post('/api/rag/search', { query: question, mode })
    assert.equal(refused.status, 422, String(mode))
    assert.deepEqual(refused.body.detail[0].loc, ['body', 'mode'])
  }
})

test('a follow-up is searched together with the earlier question', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  for (const content of handbook) await ada.post('/api/rag/ingest/text', { content })
  const first = 'How long is parental leave?'
  const isParental = ({ content }: FoundChunk) => content.startsWith('Parental leave')

  assert.ok(
    !(await ask(ada, 'Is it paid?')).some(isParental),
    'cannot be answered without the history',
  )
  for (const said of [[first], ['Which hotels are there?', first], [first, 'Is it paid?']]) {
    for (const question of ['And who do I send the request to?', 'Is it paid?', 'By whom?']) {
      const sources = await ask(ada, question, said)
      assert.ok(
        sources.some(isParental),
        `${said.join(' ')} ${question}: ${JSON.stringify(sources)}`,
      )
      for (const { score } of sources) assert.ok(score >= 0.5 && score <= 1)
    }
  }
  assert.ok(
    isParental((await ask(ada, 'And who do I send the request to?', [first]))[0] as FoundChunk),
  )

  // A new subject is found despite the old one.
  assert.match(
    (await ask(ada, 'What is the limit for hotels in Zurich?', [first]))[0]?.content ?? '',
    /^Hotels/,
  )
  assert.equal((await ask(ada, 'Is it paid?', [first], { top_k: 1 })).length, 1)
  const everything = await ask(ada, 'Is it paid?', [first], { min_score: 0, top_k: 50 })
  assert.equal(everything.length, handbook.length)
  assert.equal(new Set(everything.map(({ id }) => id)).size, handbook.length)
})

test('a search leaves out chunks below the requested share of the best score', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  for (const content of [
    'Parental leave lasts 26 weeks.',
    'Leave the keys at the desk.',
    'Bread rises because of yeast.',
  ]) {
    await ada.post('/api/rag/ingest/text', { content })
  }
  const scores = async (more: object) => {
    const { results } = (
      await ada.post('/api/rag/search', { query: 'How long is parental leave?', ...more })
    ).body
    return (results as { score: number }[]).map(({ score }) => score)
  }
  const [best = 0, second = 0, ...rest] = await scores({})
  assert.ok(best > second && second > 0 && rest.length === 1)
  assert.deepEqual(await scores({ min_relative_score: 0.01 }), [best, second])
  assert.deepEqual(await scores({ min_relative_score: (second / best) * 0.99 }), [best, second])
  assert.deepEqual(await scores({ min_relative_score: (second / best) * 1.01 }), [best])
  assert.deepEqual(await scores({ min_relative_score: 1 }), [best], 'the best is never below')
  assert.deepEqual(await scores({ min_relative_score: 0.01, min_score: best + 0.01 }), [])
  assert.deepEqual(
    await scores({ query: 'zzz qqq', min_relative_score: 1 }),
    [0, 0, 0],
    'of nothing, none has less',
  )
  const refused = await ada.post('/api/rag/search', { query: 'a', min_relative_score: 1.1 })
  assert.equal(refused.status, 422)
})

test('a search leaves out chunks below min_score, which is 0 by default', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  for (const content of handbook) await ada.post('/api/rag/ingest/text', { content })

  const gibberish = 'quantum chromodynamics of gluons'
  assert.equal((await found(ada, gibberish)).length, handbook.length)
  assert.deepEqual(await found(ada, gibberish, { min_score: 0.1 }), [])
  const [best] = await found(ada, 'parental leave')
  assert.equal(
    (await found(ada, 'parental leave', { min_score: best?.score })).length,
    1,
    'equal stays',
  )
})

test('streams an answer like chat, with its sources on request', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text })

  const plain = await ada.post('/api/rag/query', { question, stream: true })
  assert.match(plain.headers.get('content-type') ?? '', /^text\/event-stream/)
  const lines = plain.text.split('\n\n').filter((line) => line !== '')
  assert.equal(lines.pop(), 'data: [DONE]')
  const said = lines.map((line) => {
    const { token, ...rest } = JSON.parse(line.replace(/^data: /, ''))
    assert.deepEqual(rest, {})
    return token
  })
  assert.match(said.join(''), /Duroc/)

  const sourced = await ada.post('/api/rag/query', {
    question,
    stream: true,
    include_sources: true,
  })
  const events = sourced.text.split('\n\n').filter((line) => line !== '')
  assert.match(events[0] ?? '', /^event: sources\ndata: \{"sources":\[\{"id":"[0-9a-f]{12}_0"/)
  assert.match(events.at(-2) ?? '', /^event: usage\ndata: \{"prompt_tokens":\d+/)
  assert.equal(events.at(-1), 'data: [DONE]')
})

test('records every call, also when the client left', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text })
  await found(ada, question)
  await ada.post('/api/rag/query', { question })
  await ada.post('/api/rag/query', { question: 'Which gas giant?' })

  const leaving = new AbortController()
  const left = fetch(`${app.url}/api/rag/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ question, stream: true }),
    signal: leaving.signal,
  }).then((reply) => reply.body?.getReader().read())
  await left
  leaving.abort()

  const totals = async () => (await ada.get('/api/usage')).body.totals
  for (let tries = 0; (await totals()).requests < 5 && tries < 100; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.equal((await totals()).requests, 5)
})

test('reads a file, chunks it as its fields say, and names it in the metadata', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const send = (form: FormData) => ada.post('/api/rag/ingest/file', form)

  const plain = await send(formOf('notes.txt', text))
  assert.equal(plain.status, 200, plain.text)
  assert.equal(plain.body.chunks_created, 1)
  const before = await send(formOf('notes.txt', text, { chunk_size: '100', chunk_overlap: '0' }))
  const after = await send(formOf('notes.md', text, {}, { chunk_size: '100', chunk_overlap: '0' }))
  assert.ok(before.body.chunks_created > 1)
  assert.deepEqual(after.body, before.body)

  const [first] = await found(ada, question)
  assert.equal(first?.metadata.source, 'notes.md', 'one text is one document: the later name stays')
  assert.equal((await ada.get('/api/rag/documents')).body[0].source, 'notes.md')
  const asText = await ada.post('/api/rag/ingest/text', { content: text })
  assert.equal(asText.body.document_ids[0], plain.body.document_ids[0])
})

test('the reply names the parts of a file that are left out', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const send = async (name: string, bytes: Uint8Array) => {
    const reply = await ada.post('/api/rag/ingest/file', formOf(name, bytes))
    assert.equal(reply.status, 200, reply.text)
    return reply.body.warnings
  }

  const scanned = await send(
    'a.pdf',
    buildPdf([drawLines(['The harbour opens at six.']), '0 0 m 9 9 l S']),
  )
  assert.equal(scanned.length, 1)
  assert.equal(scanned[0].page, 2)
  assert.match(scanned[0].reason, /no text.*OCR/)
  const [picture] = await send(
    'a.docx',
    buildDocx(paragraph('text'), { 'word/media/image1.png': 'x' }),
  )
  assert.equal(picture.page, null)
  assert.deepEqual(await send('b.pdf', buildPdf([drawLines(['All is read.'])])), [])
  assert.deepEqual((await ada.post('/api/rag/ingest/text', { content: text })).body.warnings, [])

  const none = await ada.post('/api/rag/ingest/file', formOf('a.pdf', buildPdf(['0 0 m 9 9 l S'])))
  assert.equal(none.status, 422)
})

test('refuses a text file in an ambiguous encoding, and asks for UTF-8', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const unsure = await ada.post(
    '/api/rag/ingest/file',
    formOf('a.txt', Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5])),
  )

  assert.equal(unsure.status, 422)
  assert.match(unsure.body.detail[0].msg, /UTF-8/)
  assert.equal(await rowsOf(app, 'rag_documents'), 0)

  // "Замок стоит на высоком берегу реки", as windows-1251 has it.
  const cyrillic = Buffer.from(
    'c7e0eceeea20f1f2eee8f220ede020e2fbf1eeeaeeec20e1e5f0e5e3f320f0e5eae8',
    'hex',
  )
  const told = await ada.post('/api/rag/ingest/file', formOf('b.txt', cyrillic))
  assert.equal(told.status, 200, told.text)
  assert.match(
    (await found(ada, 'замок'))[0]?.content ?? '',
    /^Замок стоит на высоком берегу реки$/,
  )
})

test('refuses unsupported files with a reason', async (t) => {
  const app = await testApp(t, { env: { MAX_FILE_MB: '1', MAX_TEXT_MB: '1' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const send = (form: FormData) => ada.post('/api/rag/ingest/file', form)
  const twice = formOf('a.txt', 'one')
  twice.append('file', new Blob(['two']), 'b.txt')
  const elsewhere = new FormData()
  elsewhere.append('document', new Blob(['x']), 'a.txt')

  const cases: [FormData, number, RegExp][] = [
    [formOf('a.exe', 'MZ'), 415, /Unsupported file type/],
    [formOf('a.pdf', 'no pdf'), 422, /not a PDF/],
    [formOf('a.txt', ''), 422, /empty/],
    [formOf('a.txt', 'x'.repeat(1_100_000)), 413, /larger than 1 MB/],
    [formOf('a.txt', 'x', { chunk_size: '50' }), 422, /chunk_size/],
    [formOf('a.txt', 'x', {}, { chunk_size: 'many' }), 422, /whole number/],
    [formOf('a.txt', 'x', { chunk_size: '200', chunk_overlap: '200' }), 422, /chunk_overlap/],
    [new FormData(), 422, /file/],
    [elsewhere, 422, /file/],
    [twice, 422, /one file/],
  ]
  for (const [form, status, reason] of cases) {
    const reply = await send(form)
    assert.equal(reply.status, status, reply.text)
    assert.match(reply.text, reason)
  }
  assert.equal((await ada.post('/api/rag/ingest/file', { file: 'x' })).status, 415)
  const broken = await ada.request('POST', '/api/rag/ingest/file', {
    body: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ncut',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  assert.equal(broken.status, 422, broken.text)
  const large = await ada.post('/api/rag/ingest/text', { content: 'x'.repeat(2_200_000) })
  assert.equal(large.status, 413)
  assert.equal(await rowsOf(app, 'rag_documents'), 0)
})

test('the size limit applies to the text, however JSON escapes it', async (t) => {
  const app = await testApp(t, { env: { MAX_TEXT_MB: '1', MAX_FILE_MB: '2' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const limit = 1024 * 1024
  const send = (body: string | Uint8Array) =>
    ada.request('POST', '/api/rag/ingest/text', {
      body,
      headers: { 'content-type': 'application/json' },
    })
  const bodyOf = (content: string) => `{"chunk_size": 10000, "content": "${content}"}`
  const plain = 'word '.repeat(limit / 5).padEnd(limit, '.')
  const escaped = String.raw`\u00e9 `.repeat(limit / 3).concat('x'.repeat(limit % 3))

  for (const [content, status] of [
    [plain, 200],
    [`${plain}.`, 413],
    [`${plain}é`, 413],
    [escaped, 200],
    [`${escaped}.`, 413],
    [String.raw`\n"`.replace('"', String.raw`\"`).repeat(limit / 2), 200],
  ] as const) {
    const reply = await send(bodyOf(content))
    assert.equal(reply.status, status, `${content.slice(0, 20)}: ${reply.text.slice(0, 200)}`)
    if (status === 413) assert.equal(reply.body.detail, 'The text is larger than 1 MB')
  }
  assert.equal(
    (await ada.post('/api/rag/ingest/file', formOf('a.txt', plain, { chunk_size: '10000' })))
      .status,
    200,
  )
  assert.equal((await ada.post('/api/rag/ingest/file', formOf('a.txt', `${plain}.`))).status, 413)

  for (const padding of ['', ' '.repeat(600_000)]) {
    const latin = Buffer.from(`{"content": "na\xefve"${padding}}`, 'latin1')
    const reply = await send(new Uint8Array(latin))
    assert.equal(reply.status, 422, 'JSON is UTF-8')
  }
})

test('refuses endlessly nested metadata also in a long body, and ignores an unknown field', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const deep = '{"a":'.repeat(200_000).concat('1', '}'.repeat(200_000))
  const send = (body: string) =>
    ada.request('POST', '/api/rag/ingest/text', {
      body,
      headers: { 'content-type': 'application/json' },
    })

  const refused = await send(`{"content": "text", "metadata": ${deep}}`)
  assert.deepEqual([refused.status, refused.body.code], [422, 'json_too_deep'], refused.text)
  const within = '{"a":'.repeat(200).concat('1', '}'.repeat(200))
  assert.deepEqual((await send(`{"content": "text", "metadata": ${within}}`)).body.detail[0].loc, [
    'body',
    'metadata',
  ])
  assert.equal((await send(`{"content": "text", "other": ${within}}`)).status, 200)

  const lower = '{"a":'.repeat(70_000).concat('1', '}'.repeat(70_000))
  assert.equal((await send(`{"content": "text", "metadata": ${lower}}`)).status, 422)
  const headers = { 'content-type': 'application/json' }
  const searched = await ada.request('POST', '/api/rag/search', {
    body: `{"query": "x", "filter": ${lower}}`,
    headers,
  })
  assert.equal(searched.status, 422)
  for (const [name, inputOf] of [
    ['ingest', (nested: string) => `{"content": "x", "metadata": ${nested}}`],
    ['search', (nested: string) => `{"query": "x", "filter": ${nested}}`],
    ['list_documents', (nested: string) => nested],
  ] as const) {
    const call = (nested: string) =>
      ada.request('POST', '/mcp', {
        body: `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "${name}", "arguments": ${inputOf(nested)}}}`,
        headers,
      })
    assert.equal((await call(lower)).body.error.code, -32_700, name)
    const reply = await call(within)
    assert.equal(reply.status, 200, `${name}: ${reply.text.slice(0, 200)}`)
    assert.equal(reply.body.result.isError, name !== 'list_documents', name)
  }
})

test('a hostile file name is only a name', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const names: [string, string][] = [
    ['../../etc/passwd.txt', 'passwd.txt'],
    ['C:\\Users\\eve\\plan.txt', 'plan.txt'],
    ['<script>alert(1)</script>.txt', 'script>.txt'],
    ['日本語の文書.txt', '日本語の文書.txt'],
    ["'; drop table users; --.txt", "'; drop table users; --.txt"],
    [`${'a'.repeat(400)}.txt`, `${'a'.repeat(251)}.txt`],
    ['\u202etxt.exe.txt', 'txt.exe.txt'],
  ]
  for (const [i, [name, source]] of names.entries()) {
    const reply = await ada.post('/api/rag/ingest/file', formOf(name, `content ${i}`))
    assert.equal(reply.status, 200, `${name}: ${reply.text}`)
    const [hit] = await found(ada, `content ${i}`, { filter: { source } })
    assert.equal(hit?.content, `content ${i}`, name)
  }
})

test('deleting the account deletes every row of its store', async (t) => {
  const app = await testApp(t)
  const [ada, eve] = [await app.as('ada', { tier: 'pro' }), await app.as('eve', { tier: 'pro' })]
  await ada.post('/api/rag/ingest/text', { content: text, chunk_size: 100, external_id: 'a' })
  await eve.post('/api/rag/ingest/text', { content: text, external_id: 'a' })

  const gone = await ada.delete('/api/users/me', { password: 'correct horse battery' })

  assert.equal(gone.status, 200, gone.text)
  await app.settle()
  for (const table of ['rag_chunks', 'rag_documents', 'rag_external_ids', 'rag_stores'] as const)
    assert.equal(await rowsOf(app, table), 1, table)
  assert.equal((await found(eve, question)).length, 1)
})

test('stored documents survive a restart', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text })
  await app.restart()

  assert.match((await found(ada, question))[0]?.content ?? '', /Duroc/)
})

test('the next search sees what another process stores, replaces and deletes', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: text })
  assert.match((await found(ada, question))[0]?.content ?? '', /Duroc/)
  // As a process with separate memory: rows and the revision, nothing else.
  const { db } = app.platform
  const { user_id } = await db
    .selectFrom('rag_documents')
    .select('user_id')
    .executeTakeFirstOrThrow()
  const changed = () =>
    db
      .updateTable('rag_stores')
      .set((e) => ({ revision: e('revision', '+', 1) }))
      .execute()

  await db
    .updateTable('rag_chunks')
    .set({ content: 'The pier was built by Mallory.', version: 'next' })
    .execute()
  await db.updateTable('rag_documents').set({ version: 'next' }).execute()
  await changed()
  const [replaced] = await found(ada, question)
  assert.match(replaced?.content ?? '', /Mallory/)
  assert.ok(
    (await found(ada, 'yeast turns sugar', { min_score: 0.1 })).length === 0,
    'the old words are gone',
  )

  await db.deleteFrom('rag_documents').where('user_id', '=', user_id).execute()
  await changed()
  assert.deepEqual(await found(ada, question), [])
})

test('treats a body too long for the main thread like any other', {
  skip: process.env.TEST_ENGINE === 'pglite' && 'of long bodies no database knows',
}, async (t) => {
  const app = await testApp(t, { env: { MAX_FILE_MB: '3' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const long = Array.from(
    { length: 12_000 },
    (_, i) => `Entry ${i} – the ledger “${i * 31}” was closed by clerk ${i % 17}.`,
  ).join('\n')
  assert.ok(long.length > 600_000)
  const send = (body: string) =>
    ada.request('POST', '/api/rag/ingest/text', {
      body,
      headers: { 'content-type': 'application/json' },
    })

  const stored = await ada.post('/api/rag/ingest/text', {
    content: long,
    metadata: { kind: 'ledger' },
    chunk_size: 2_000,
  })
  assert.equal(stored.status, 200, stored.text)
  assert.equal(
    stored.body.document_ids[0],
    `${createHash('md5').update(long).digest('hex').slice(0, 12)}_0`,
  )
  const [hit] = await found(ada, 'Who closed ledger 99231?', { filter: { kind: 'ledger' } })
  assert.match(hit?.content ?? '', /“99231” was closed by clerk 5/)

  const asFile = await ada.post(
    '/api/rag/ingest/file',
    formOf('ledger.txt', long, { chunk_size: '2000' }),
  )
  assert.deepEqual(asFile.body, stored.body)
  assert.equal((await ada.get('/api/rag/documents')).body[0].source, 'ledger.txt')

  const padding = ' '.repeat(600_000)
  const refused: [string, string][] = [
    [`{"content": "${long.slice(0, 10)}${padding}`, 'body'],
    [`[1${padding}]`, 'body'],
    [`{"content": 5${padding}}`, 'content'],
    [`{"metadata": {}${padding}}`, 'content'],
    [`{"content": ""${padding}}`, 'content'],
    [`{"content": "${padding}"}`, 'content'],
    [`{"content": "${'a'.repeat(600_000)}\\u0000"}`, 'content'],
    [`{"content": "${'a'.repeat(600_000)}", "chunk_size": 1}`, 'chunk_size'],
    [`{"content": "a", "metadata": {"x": "${'y'.repeat(600_000)}"}}`, 'metadata'],
    [`{"content": "a", "metadata": {"x": "${'y'.repeat(1_600_000)}"}}`, 'metadata'],
  ]
  for (const [body, field] of refused) {
    const reply = await send(body)
    assert.equal(reply.status, 422, `${body.slice(0, 40)}: ${reply.text}`)
    assert.equal(reply.body.detail[0].loc.at(-1), field, reply.text)
  }
  assert.equal((await ada.get('/api/rag/documents')).body.length, 1)

  const leaving = new AbortController()
  const left = fetch(`${app.url}/api/rag/ingest/text`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: `${long}${long}${long}`, chunk_size: 100 }),
    signal: leaving.signal,
  })
  setTimeout(() => leaving.abort(), 150)
  await left.then((reply) => reply.text()).catch(() => undefined)
  assert.equal((await ada.get('/api/rag/documents')).status, 200)
  assert.equal(
    (await send(JSON.stringify({ content: long, chunk_size: 1_000 }))).status,
    200,
    'its worker is free again',
  )
})

test('lists, finds and deletes documents by external id and by source, for each user alone', async (t) => {
  const app = await testApp(t, { env: { EMBEDDER: 'local' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const put = (client: Client, content: string, external_id: string, source: string) =>
    client.post('/api/rag/ingest/text', {
      content,
      external_id,
      metadata: { source, tags: ['ships', source] },
    })
  await put(ada, 'The ferry leaves the harbour at nine.', 'crm/1', 'ferry.md')
  await put(ada, 'The ferry is not at the harbour on Sunday.', 'crm/2', 'ferry.md')
  await put(ada, 'The lighthouse at the harbour is white.', 'crm/3', 'light.md')
  await put(ada, 'The lighthouse at the harbour is white.', 'crm/4', 'light.md')
  await put(eve, 'Eve waits at the harbour.', 'crm/1', 'ferry.md')

  const listed = async (client: Client, query: string) => {
    const { status, body, headers } = await client.get(`/api/rag/documents?${query}`)
    assert.equal(status, 200)
    assert.equal(headers.get('x-total-count'), String(body.length))
    return body
      .map(({ external_ids }: { external_ids: string[] }) => external_ids.toSorted().join('+'))
      .toSorted()
  }
  assert.deepEqual(await listed(ada, 'external_id=crm/1'), ['crm/1'])
  assert.deepEqual(await listed(ada, 'external_id=crm/3'), ['crm/3+crm/4'])
  assert.deepEqual(await listed(ada, 'source=ferry.md'), ['crm/1', 'crm/2'])
  assert.deepEqual(await listed(ada, 'source=light.md&external_id=crm/1'), [])
  assert.deepEqual(await listed(eve, 'external_id=crm/2'), [])

  const found = async (client: Client, filter: object) => {
    const { body } = await client.post('/api/rag/search', { query: 'harbour', filter, top_k: 50 })
    return body.results.map(({ content }: { content: string }) => content).toSorted()
  }
  assert.deepEqual(await found(ada, { external_id: 'crm/1' }), [
    'The ferry leaves the harbour at nine.',
  ])
  assert.deepEqual(await found(ada, { external_id: { $in: ['crm/4', 'none', 'a\0'] } }), [
    'The lighthouse at the harbour is white.',
  ])
  assert.equal((await found(ada, { external_id: { $ne: 'crm/1' } })).length, 2)
  assert.equal((await found(ada, { source: 'ferry.md' })).length, 2)
  assert.equal((await found(ada, { tags: 'ships' })).length, 3)
  assert.deepEqual(await found(eve, { external_id: 'crm/3' }), [])
  const { body } = await ada.post('/api/rag/query', {
    question: 'Where is the ferry?',
    filter: { external_id: 'crm/2' },
  })
  assert.deepEqual(
    body.sources.map(({ content }: { content: string }) => content),
    ['The ferry is not at the harbour on Sunday.'],
  )

  const deleted = async (client: Client, query: string) => {
    const { status, body } = await client.delete(`/api/rag/documents${query}`)
    return status === 200 ? body.deleted : status
  }
  for (const query of [
    '',
    '?',
    '?limit=1',
    '?external_id=crm/1&source=ferry.md',
    '?external_id=',
    '?source=a%00',
  ])
    assert.equal(await deleted(ada, query), 422, query)
  assert.equal(await deleted(eve, '?external_id=crm/2'), 0)
  assert.equal(await deleted(eve, '?source=light.md'), 0)
  assert.equal(await deleted(ada, '?external_id=none'), 0)
  assert.equal(await deleted(ada, '?external_id=crm/3'), 0, 'crm/4 is the same text')
  assert.deepEqual(await listed(ada, 'source=light.md'), ['crm/4'])
  assert.equal(await deleted(ada, '?external_id=crm/4'), 1)
  assert.equal(await deleted(ada, '?source=ferry.md'), 2)
  assert.deepEqual(await listed(ada, ''), [])
  assert.deepEqual(await listed(eve, ''), ['crm/1'])
  assert.equal(await rowsOf(app, 'rag_chunks'), 1)

  const { key } = (await eve.post('/api/api-keys', { name: 'reader', scopes: ['rag:read'] })).body
  const headers = { authorization: `Bearer ${key}` }
  assert.equal(
    (await app.request('DELETE', '/api/rag/documents?external_id=crm/1', { headers })).status,
    403,
  )
})

test('deletes all documents of a source, for any number', async (t) => {
  const app = await testApp(t, { env: { EMBEDDER: 'local' } })
  const ada = await app.as('ada', { tier: 'pro' })
  for (let i = 0; i < 205; i++)
    await ada.post('/api/rag/ingest/text', {
      content: `Line ${i} of the log.`,
      metadata: { source: 'log' },
    })
  assert.deepEqual((await ada.delete('/api/rag/documents?source=log')).body, { deleted: 205 })
  assert.equal(await rowsOf(app, 'rag_chunks'), 0)
})

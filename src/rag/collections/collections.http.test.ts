// Collections of documents: their routes, and what they select in searches, answers and lists.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, type TestApp, testApp } from '#testing/app.ts'

const NOBODYS = '0190a6a8-0000-7000-8000-000000000000'

async function createCollection(client: Client, name: string): Promise<string> {
  const { status, body, text } = await client.post('/api/rag/collections', { name })
  assert.equal(status, 201, text)
  return body.id
}

async function store(client: Client, content: string, more: object = {}): Promise<string> {
  const { status, body, text } = await client.post('/api/rag/ingest/text', { content, ...more })
  assert.equal(status, 200, text)
  return body.document_ids[0].slice(0, 12)
}

const listNames = async (client: Client, query = '') =>
  (await client.get(`/api/rag/documents${query}`)).body.map(
    ({ source, id }: { source: string | null; id: string }) => source ?? id,
  )

test('a collection is created, changed, listed by name and deleted without its documents', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: created } = await ada.post('/api/rag/collections', {
    name: ' Leases ',
    colour: 'teal',
    instructions: 'Answer as a lawyer.',
  })
  const { id, created_at, updated_at, ...rest } = created
  assert.deepEqual(rest, {
    name: 'Leases',
    colour: 'teal',
    instructions: 'Answer as a lawyer.',
    documents: 0,
  })
  assert.equal(created_at, updated_at)
  await createCollection(ada, 'Accounts')
  const document = await store(ada, 'The rent is due in May.', { collections: [id] })

  app.clock.advance(1_000)
  const { body: changed } = await ada.patch(`/api/rag/collections/${id}`, {
    colour: 'pink',
    instructions: null,
  })
  assert.deepEqual(
    [changed.name, changed.colour, changed.instructions, changed.documents],
    ['Leases', 'pink', null, 1],
  )
  assert.ok(changed.updated_at > created_at)
  const { body: all } = await ada.get('/api/library/collections')
  assert.deepEqual(
    all.map(({ name, documents }: { name: string; documents: number }) => [name, documents]),
    [
      ['Accounts', 0],
      ['Leases', 1],
    ],
  )
  assert.deepEqual((await ada.get(`/api/rag/documents/${document}`)).body.collections, [id])
  assert.equal((await ada.delete(`/api/rag/collections/${id}`)).status, 204)
  assert.equal((await ada.delete(`/api/rag/collections/${id}`)).status, 404)
  assert.deepEqual((await ada.get(`/api/rag/documents/${document}`)).body.collections, [])
  for (const name of ['', '   ', 'x'.repeat(101), 'a\u0000b'])
    assert.equal((await ada.post('/api/rag/collections', { name })).status, 422, name)
})

test('a document is in several collections, and leaves them one by one', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const [leases, taxes] = [
    await createCollection(ada, 'Leases'),
    await createCollection(ada, 'Taxes'),
  ]
  const id = await store(ada, 'The rent is due in May.')
  const path = (collection: string, document = id) =>
    `/api/rag/collections/${collection}/documents/${document}`
  const put = (address: string) => app.request('PUT', address, { headers: bearer(ada) })
  for (const collection of [leases, taxes, leases])
    assert.equal((await put(path(collection))).status, 204)
  assert.deepEqual(
    (await ada.get(`/api/rag/documents/${id}`)).body.collections.toSorted(),
    [leases, taxes].toSorted(),
  )
  assert.equal((await ada.delete(path(leases))).status, 204)
  assert.equal((await ada.delete(path(leases))).status, 204, 'it is not in it any more')
  assert.deepEqual((await ada.get(`/api/rag/documents/${id}`)).body.collections, [taxes])
  for (const address of [path(NOBODYS), path(taxes, '000000000000'), path(taxes, 'no-id')])
    assert.equal((await put(address)).status, 404, address)

  await ada.delete(`/api/rag/documents/${id}`)
  const { rows } = await readMembers(app)
  assert.deepEqual(rows, [], 'a deleted document is in no collection')
})

test('a search and a question find only documents of the collections, as many as are asked for', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const [coast, inland] = [
    await createCollection(ada, 'Coast'),
    await createCollection(ada, 'Inland'),
  ]
  for (let index = 0; index < 12; index++)
    await store(ada, `The lighthouse number ${index} of the coast has a white lamp.`, {
      collections: [coast],
      metadata: { source: `coast-${index}.txt` },
    })
  const lone = await store(ada, 'The lighthouse of the lake is inland and has a red lamp.', {
    collections: [inland],
    metadata: { source: 'lake.txt' },
  })
  const query = 'Which lighthouse has a white lamp?'
  const search = async (collections?: string[], top_k = 3) => {
    const { body } = await ada.post('/api/rag/search', { query, top_k, collections })
    return body.results.map(({ metadata }: { metadata: { source: string } }) => metadata.source)
  }
  assert.equal((await search()).includes('lake.txt'), false, 'others are nearer')
  assert.deepEqual(await search([inland]), ['lake.txt'], 'chosen before the ranking')
  assert.deepEqual(await search([]), await search())
  assert.equal((await search([coast, inland], 50)).length, 13)
  assert.equal((await search([coast], 50)).length, 12)

  const asked = await ada.post('/api/rag/query', {
    question: 'What lamp does the lighthouse have?',
    min_score: 0,
    collections: [inland],
  })
  assert.deepEqual(
    asked.body.sources.map(({ document_id }: { document_id: string }) => document_id),
    [lone],
  )
  const overview = await ada.post('/api/rag/query', {
    question: 'Summarise my documents',
    collections: [inland],
  })
  assert.deepEqual([overview.body.overview, overview.body.sources.length], [true, 1])

  for (const [path, body] of [
    ['search', { query }],
    ['query', { question: query }],
    ['ingest/text', { content: 'Something else.' }],
  ] as const) {
    const reply = await ada.post(`/api/rag/${path}`, { ...body, collections: [NOBODYS] })
    assert.deepEqual([reply.status, reply.body.code], [404, 'collection_not_found'], path)
    const wrong = await ada.post(`/api/rag/${path}`, { ...body, collections: ['coast'] })
    assert.equal(wrong.status, 422, path)
  }
  const empty = await createCollection(ada, 'Empty')
  assert.deepEqual(await search([empty]), [])
})

test('a file goes into collections at once and in the background, and its new version stays in them', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const [leases, taxes] = [
    await createCollection(ada, 'Leases'),
    await createCollection(ada, 'Taxes'),
  ]
  const upload = async (text: string, fields: [string, string][], prefer = '') => {
    const form = new FormData()
    form.set('file', new Blob([text]), 'lease.txt')
    for (const [name, value] of fields) form.append(name, value)
    const reply = await ada.post('/api/library/ingest/file', form, { headers: { prefer } })
    await app.settle()
    return reply
  }
  assert.equal(
    (await upload('The rent is due in May.', [['collections', `${leases}, ${taxes}`]])).status,
    200,
  )
  const read = async () => (await ada.get('/api/library/documents')).body
  assert.deepEqual((await read())[0].collections.toSorted(), [leases, taxes].toSorted())

  assert.equal((await upload('The rent is due in June.', [['replace', 'source']])).status, 200)
  const [changed, ...others] = await read()
  assert.deepEqual(others, [])
  assert.deepEqual(changed.collections.toSorted(), [leases, taxes].toSorted())

  const queued = await upload(
    'The tax is due in July.',
    [
      ['collections', taxes],
      ['external_id', 'tax'],
    ],
    'respond-async',
  )
  assert.equal(queued.status, 202)
  assert.deepEqual((await ada.get('/api/library/documents?external_id=tax')).body[0].collections, [
    taxes,
  ])
  assert.equal((await upload('x', [['collections', NOBODYS]])).status, 404)
  assert.equal((await upload('x', [['collections', 'taxes']])).status, 422)
})

test('the list of documents is filtered by collection, sorted, and read page by page', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const all = await createCollection(ada, 'All')
  const names = ['beta.txt', 'Alpha.txt', 'delta.txt', 'Gamma.txt', 'alpha.txt']
  for (const [index, source] of names.entries()) {
    app.clock.advance(1_000)
    await store(ada, `Text ${index}${' and more'.repeat(names.length - index)}.`, {
      metadata: { source },
      ...(source !== 'Gamma.txt' && { collections: [all] }),
    })
  }
  const sorted = async (query: string) => {
    const found: string[] = []
    let cursor = ''
    do {
      const reply = await ada.get(`/api/library/documents?limit=2&${query}${cursor}`)
      assert.equal(reply.status, 200, reply.text)
      assert.ok(reply.body.length <= 2)
      found.push(...reply.body.map(({ source }: { source: string }) => source))
      const next = reply.headers.get('x-next-cursor')
      cursor = next === null ? '' : `&cursor=${next}`
    } while (cursor !== '')
    return found
  }
  assert.deepEqual(await sorted(''), names.toReversed())
  assert.deepEqual(await sorted('direction=asc'), names)
  assert.deepEqual(
    (await sorted('sort=name')).map((name) => name.toLowerCase()),
    ['alpha.txt', 'alpha.txt', 'beta.txt', 'delta.txt', 'gamma.txt'],
  )
  assert.deepEqual(await sorted('sort=size'), names)
  assert.deepEqual(await sorted('sort=size&direction=asc'), names.toReversed())
  assert.deepEqual(await sorted(`collection=${all}&direction=asc`), [
    'beta.txt',
    'Alpha.txt',
    'delta.txt',
    'alpha.txt',
  ])
  const { headers } = await ada.get(`/api/rag/documents?collection=${all}&limit=1`)
  assert.equal(headers.get('x-total-count'), '4')
  assert.equal((await listNames(ada)).length, 5)

  const cursor = headers.get('x-next-cursor')
  for (const query of [
    `cursor=${cursor}&sort=size`,
    `cursor=${cursor}&direction=asc`,
    'cursor=x',
    `cursor=${Buffer.from('["date","desc","2026","000000000000"]').toString('base64url')}`,
    `cursor=${Buffer.from('["name","asc","a\\u0000","000000000000"]').toString('base64url')}&sort=name`,
    'sort=colour',
  ])
    assert.equal((await ada.get(`/api/rag/documents?${query}`)).status, 422, query)
  assert.equal((await ada.get(`/api/rag/documents?collection=${NOBODYS}`)).status, 404)
})

test('collections of another user are unknown in every operation', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const hers = await createCollection(ada, 'Leases')
  await store(ada, 'The rent is due in May.', { collections: [hers] })
  const own = await store(eve, 'The rent is due in May.')
  assert.deepEqual((await eve.get('/api/rag/collections')).body, [])
  for (const reply of [
    await eve.patch(`/api/rag/collections/${hers}`, { name: 'Mine' }),
    await eve.delete(`/api/rag/collections/${hers}`),
    await app.request('PUT', `/api/rag/collections/${hers}/documents/${own}`, {
      headers: bearer(eve),
    }),
    await eve.post('/api/rag/search', { query: 'rent', collections: [hers] }),
    await eve.get(`/api/rag/documents?collection=${hers}`),
  ])
    assert.deepEqual([reply.status, reply.body.code], [404, 'collection_not_found'])
  assert.equal((await ada.get('/api/rag/collections')).body[0].name, 'Leases')
})

test('MCP lists collections, searches in them, and stores a text in one', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const [coast, inland] = [
    await createCollection(ada, 'Coast'),
    await createCollection(ada, 'Inland'),
  ]
  await store(ada, 'The lighthouse of the coast has a white lamp.', { collections: [coast] })
  const call = async (name: string, input: object) => {
    const { body } = await ada.post('/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: input },
    })
    return body.result
  }
  const content = 'The lighthouse of the lake has a red lamp.'
  await call('ingest', { content, collections: [inland] })
  assert.deepEqual((await call('list_collections', {})).structuredContent.collections, [
    { id: coast, name: 'Coast', documents: 1 },
    { id: inland, name: 'Inland', documents: 1 },
  ])
  const found = await call('search', { query: 'Which lamp is white?', collections: [inland] })
  assert.deepEqual(
    found.structuredContent.results.map((passage: { content: string }) => passage.content),
    [content],
  )
  const listed = await call('list_documents', { collection: coast })
  assert.equal(listed.structuredContent.total, 1)
  const wrong = await call('search', { query: 'lamp', collections: [NOBODYS] })
  assert.deepEqual([wrong.isError, wrong.content[0].text], [true, 'Collection not found'])
})

test('a user has at most 200 collections', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const at = app.clock.now()
  await app.platform.db
    .insertInto('rag_collections')
    .values(
      Array.from({ length: 199 }, (_, index) => ({
        user_id: ada.userId,
        id: `${NOBODYS.slice(0, -3)}${String(index).padStart(3, '0')}`,
        name: `Collection ${index}`,
        colour: 'grey' as const,
        instructions: null,
        created_at: at,
        updated_at: at,
      })),
    )
    .execute()
  const replies = await Promise.all(
    ['a', 'b', 'c'].map((name) => ada.post('/api/rag/collections', { name })),
  )
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [201, 409, 409])
})

const bearer = ({ token }: Client) => ({ authorization: `Bearer ${token}` })

async function readMembers({ platform: { db } }: TestApp) {
  return { rows: await db.selectFrom('rag_collection_documents').selectAll().execute() }
}

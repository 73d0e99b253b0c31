import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { REBUILD_JOB } from '#rag/rebuild/store-embedder.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { type MockCall, mockVendor, refuses, type Step, says } from '#testing/mock-vendor.ts'

const SMALL = 'openai/text-embedding-3-small'
const LARGE = 'openai/text-embedding-3-large'
const NAMES = new Map([
  [SMALL, 'openai:text-embedding-3-small'],
  [LARGE, 'openai:text-embedding-3-large'],
])
const settingOf = (id: string) => NAMES.get(id) as string

/**
 * Two models with vectors of different widths: the small one counts the share of a's, the large one
 * that of o's.
 */
const embeds: Step = (call, reply) => {
  if (!call.path.endsWith('/embeddings')) return says('It is pale [1].')(call, reply)
  const inputs: string[] = [call.body.input].flat()
  const isSmall = call.body.model.endsWith('small')
  const share = (text: string, letter: string) => text.split(letter).length / text.length
  const embed = (text: string) => (isSmall ? [share(text, 'a'), 0.05] : [share(text, 'o'), 0.05, 0])
  const data = inputs.map((input, index) => ({ index, embedding: embed(input) }))
  reply.setHeader('content-type', 'application/json')
  reply.end(
    JSON.stringify({ data, model: call.body.model, usage: { prompt_tokens: 1, total_tokens: 1 } }),
  )
}

/** Rejects with this status what `matches`; embeds the rest. */
const rejects =
  (status: 400 | 401, matches: (call: MockCall) => boolean): Step =>
  (call, reply) =>
    matches(call) ? refuses(status)(call, reply) : embeds(call, reply)
const rejectsPoison = rejects(400, ({ body }) => `${body.input}`.includes('poison'))

const bananas = 'Bananas: a banana has a pale band.'
const oolong = 'Oolong: good for slow cooks of London.'
const words = { query: 'slow cooks', mode: 'dense' }
const manyOs = { query: 'oo oo oo', mode: 'dense' }

async function start(t: Parameters<typeof testApp>[0]) {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const env = { ...vendor.env.openai, EMBEDDER: settingOf(SMALL) }
  const app = await testApp(t, { env })
  return { vendor, app, ada: await app.as('ada', { tier: 'pro' }) }
}

async function store(client: Client, content: string): Promise<string> {
  const { status, body, text } = await client.post('/api/rag/ingest/text', { content })
  assert.equal(status, 200, text)
  return String(body.document_ids[0]).slice(0, 12)
}

async function search(client: Client, query: object) {
  const { status, body } = await client.post('/api/rag/search', query)
  assert.equal(status, 200)
  return {
    contents: body.results.map(({ content }: { content: string }) => content) as string[],
    warnings: body.warnings.map(({ code }: { code: string }) => code) as string[],
  }
}

async function restart(app: TestApp, embedder: string): Promise<void> {
  await app.restart({ embedder: settingOf(embedder) })
  await enqueue(app)
}

/** Enqueues as a start of the service does; `restart` in tests starts no jobs. */
async function enqueue(app: TestApp): Promise<void> {
  const { db, jobs } = app.platform
  const embedder = app.service.rag.deps.embedder?.id
  await jobs.enqueue(db, REBUILD_JOB, { embedder }, { key: `${REBUILD_JOB}:${embedder}` })
}

const countRequests = (calls: MockCall[], model: string) =>
  calls.filter(({ path, body }) => path.endsWith('/embeddings') && `openai/${body.model}` === model)
    .length

const readProgress = async (client: Client) => (await client.get('/api/rag/storage')).body.embedding

/** Counts the stored vectors by embedder, on either store. */
async function countVectors({ platform: { db }, service }: TestApp) {
  const table = service.rag.deps.vectors.name === 'pgvector' ? 'rag_halfvecs' : 'rag_vectors'
  const { rows } = await sql<{ embedder: string; n: number }>`
    select embedder, count(*) as n from ${sql.table(table)} group by embedder`.execute(db)
  return Object.fromEntries(rows.map(({ embedder, n }) => [embedder.split('@')[0], Number(n)]))
}

async function readStoreEmbedder({ platform: { db } }: TestApp): Promise<string | undefined> {
  const row = await db.selectFrom('rag_stores').select('embedder').executeTakeFirst()
  return row?.embedder.split('@')[0]
}

test('after a change of the embedder, searches compare words only until the rebuild is done', async (t) => {
  const { vendor, app, ada } = await start(t)
  const eve = await app.as('eve', { tier: 'pro' })
  for (const client of [ada, eve]) for (const text of [bananas, oolong]) await store(client, text)
  assert.deepEqual((await search(ada, words)).warnings, [])

  await restart(app, LARGE)
  const since = vendor.calls.length
  const during = await search(ada, words)
  assert.deepEqual(during.warnings, ['embedding'])
  assert.equal(during.contents[0], oolong)
  assert.deepEqual(during.contents, (await search(ada, { ...words, mode: 'lexical' })).contents)
  assert.deepEqual((await search(ada, { ...words, mode: 'lexical' })).warnings, [])
  assert.equal(
    vendor.calls.length,
    since,
    'no vendor is called for vectors that cannot be compared',
  )

  await app.settle()
  for (const client of [ada, eve]) {
    const { contents, warnings } = await search(client, manyOs)
    assert.equal(contents[0], oolong)
    assert.deepEqual(warnings, [])
    assert.equal(await readProgress(client), null)
  }
  assert.deepEqual(await countVectors(app), { [LARGE]: 4 })
})

test('a document that arrives during a rebuild is embedded once, by the new embedder', async (t) => {
  const { vendor, app, ada } = await start(t)
  await store(ada, bananas)
  await store(ada, oolong)
  await restart(app, LARGE)
  const since = vendor.calls.length
  await store(ada, 'Apa anda: an alabama drama as mama saw that.')
  assert.equal(countRequests(vendor.calls.slice(since), LARGE), 1)
  assert.equal(countRequests(vendor.calls.slice(since), SMALL), 0)
  assert.deepEqual(await readProgress(ada), { done: 1, total: 3 })
  const { contents, warnings } = await search(ada, { query: 'alabama', mode: 'auto' })
  assert.match(contents[0] ?? '', /alabama/)
  assert.deepEqual(warnings, ['embedding'])
  await app.settle()
  assert.deepEqual(await countVectors(app), { [LARGE]: 3 })
})

test('answers and MCP searches report that the documents are still being embedded', async (t) => {
  const { app, ada } = await start(t)
  await store(ada, bananas)
  await restart(app, LARGE)
  const query = { question: 'What is a pale banana?', min_score: 0.1 }
  const answer = await ada.post('/api/rag/query', query)
  assert.deepEqual(
    answer.body.warnings?.map(({ code }: { code: string }) => code),
    ['embedding'],
  )
  const found = await ada.post('/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search', arguments: { query: 'a pale banana' } },
  })
  assert.match(found.body.result.structuredContent.warnings[0], /compares words only/)
})

test('a rebuild resumes after the chunks that were embedded before a kill', async (t) => {
  const { vendor, app, ada } = await start(t)
  const sentence = (i: number) => `Sentence ${i} of a long text ${'has words '.repeat(6)}.`
  const text = Array.from({ length: 300 }, (_, i) => sentence(i)).join('\n\n')
  const { body } = await ada.post('/api/rag/ingest/text', {
    content: text,
    chunk_size: 120,
    chunk_overlap: 0,
  })
  const total: number = body.chunks_created
  assert.ok(total > 256 && total < 512, `${total}`)
  await restart(app, LARGE)
  let requests = 0
  vendor.play(rejects(401, ({ body }) => body.model.endsWith('large') && ++requests > 1))
  await app.settle()
  assert.deepEqual(await countVectors(app), { [SMALL]: total - 256, [LARGE]: 256 })
  assert.equal(await readStoreEmbedder(app), '')
  assert.deepEqual((await search(ada, words)).warnings, ['embedding'])

  vendor.play(embeds)
  await restart(app, LARGE)
  app.clock.advance(10_000)
  const since = vendor.calls.length
  await app.settle()
  const sizes = vendor.calls.slice(since).map(({ body }) => [body.input].flat().length)
  assert.deepEqual(sizes, [total - 256])
  assert.deepEqual(await countVectors(app), { [LARGE]: total })
  assert.equal(await readProgress(ada), null)
})

test('small documents are embedded in one request, each with its own vector', async (t) => {
  const { vendor, app, ada } = await start(t)
  for (let i = 0; i < 32; i++) await store(ada, `Text ${i}: ${'a'.repeat(i)} ${'o'.repeat(31 - i)}`)
  await restart(app, LARGE)
  const since = vendor.calls.length
  await app.settle()
  assert.equal(countRequests(vendor.calls.slice(since), LARGE), 1)
  assert.deepEqual(await countVectors(app), { [LARGE]: 32 })
  const { contents } = await search(ada, { ...manyOs, top_k: 50 })
  const shares = contents.map((content) => content.split('o').length / content.length)
  assert.equal(shares.length, 32)
  assert.deepEqual(
    shares,
    shares.toSorted((a, b) => b - a),
  )
})

test('a text that the vendor rejects blocks neither other documents nor other users', async (t) => {
  const { vendor, app, ada } = await start(t)
  const eve = await app.as('eve', { tier: 'pro' })
  const poison = await store(ada, 'poison')
  for (let i = 0; i < 6; i++) await store(ada, `${bananas} ${i}`)
  await store(eve, bananas)
  await restart(app, LARGE)
  vendor.play(rejectsPoison)
  await app.settle()
  assert.deepEqual(await readProgress(ada), { done: 6, total: 7 })
  assert.equal(await readProgress(eve), null)

  assert.equal((await ada.delete(`/api/rag/documents/${poison}`)).status, 200)
  assert.equal(await readProgress(ada), null, 'deleting the text completes the rebuild')
  assert.deepEqual((await search(ada, manyOs)).warnings, [])
  assert.deepEqual(await countVectors(app), { [LARGE]: 7 })
})

test('a node with another embedder leaves the rebuild to the nodes that have it', async (t) => {
  const { app, ada } = await start(t)
  await store(ada, bananas)
  const { db, jobs } = app.platform
  const embedder = app.service.rag.deps.embedder?.id.replace('small', 'large')
  await jobs.enqueue(db, REBUILD_JOB, { embedder }, { key: `${REBUILD_JOB}:${embedder}` })
  await app.settle()
  assert.deepEqual(await countVectors(app), { [SMALL]: 1 })
  assert.equal(await readStoreEmbedder(app), SMALL)

  await app.restart({ embedder: settingOf(LARGE) })
  for (let i = 0; i < 3; i++) {
    app.clock.advance(600_000)
    await app.settle()
  }
  assert.deepEqual(await countVectors(app), { [LARGE]: 1 })
})

test('setting an embedder and setting it back restores the first one’s vectors', async (t) => {
  const { vendor, app, ada } = await start(t)
  for (const text of [bananas, oolong, 'poison']) await store(ada, text)
  await restart(app, LARGE)
  vendor.play(rejectsPoison)
  await app.settle()
  assert.deepEqual(await countVectors(app), { [SMALL]: 1, [LARGE]: 2 })

  await restart(app, SMALL)
  await app.settle()
  assert.deepEqual(await countVectors(app), { [SMALL]: 3 })
  assert.equal(await readStoreEmbedder(app), SMALL)
})

test('a document stored without an embedder makes searches compare words until a rebuild', async (t) => {
  const { app, ada } = await start(t)
  await store(ada, bananas)
  await app.restart({ embedder: 'local' })
  await store(ada, oolong)
  assert.equal(await readStoreEmbedder(app), '')

  await restart(app, SMALL)
  assert.deepEqual((await search(ada, words)).warnings, ['embedding'])
  await app.settle()
  assert.deepEqual((await search(ada, words)).warnings, [])
  assert.deepEqual(await countVectors(app), { [SMALL]: 2 })
})

test('a user without documents needs no rebuild', async (t) => {
  const { vendor, app, ada } = await start(t)
  const id = await store(ada, bananas)
  await ada.delete(`/api/rag/documents/${id}`)
  await app.restart({ embedder: settingOf(LARGE) })
  const since = vendor.calls.length
  await store(ada, bananas)
  assert.equal(countRequests(vendor.calls.slice(since), SMALL), 0)
  assert.equal(countRequests(vendor.calls.slice(since), LARGE), 1)
  assert.deepEqual((await search(ada, manyOs)).warnings, [])
})

test('vectors of the byte store are removed and rebuilt when the database has pgvector', async (t) => {
  const { app, ada } = await start(t)
  const { db } = app.platform
  if (app.service.rag.deps.vectors.name !== 'pgvector') return
  await store(ada, bananas)
  // As a copy from SQLite leaves it.
  const { version } = await db
    .selectFrom('rag_documents')
    .select('version')
    .executeTakeFirstOrThrow()
  const vector = { user_id: ada.userId, version, embedder: SMALL, chunk_index: 0 }
  await db
    .insertInto('rag_vectors')
    .values({ ...vector, vector: new Uint8Array(8) })
    .execute()
  await sql`delete from rag_halfvecs`.execute(db)
  await db.updateTable('rag_documents').set({ embedder: SMALL }).execute()
  await db.updateTable('rag_stores').set({ embedder: SMALL }).execute()

  await restart(app, SMALL)
  const now = app.platform.db
  assert.deepEqual(await now.selectFrom('rag_vectors').select('version').execute(), [])
  assert.deepEqual((await search(ada, words)).warnings, ['embedding'])
  await app.settle()
  assert.deepEqual((await search(ada, words)).warnings, [])
  assert.deepEqual(await countVectors(app), { [SMALL]: 1 })
})

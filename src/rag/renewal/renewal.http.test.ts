import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { RENEW_JOB } from '#rag/renewal/serving.ts'
import { openByteVectors } from '#rag/search/stores/bytes.ts'
import { openVectors } from '#rag/search/stores/vectors.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { type MockCall, mockVendor, refuses, type Step, says } from '#testing/mock-vendor.ts'

const SMALL = 'openai/text-embedding-3-small'
const LARGE = 'openai/text-embedding-3-large'
const setTo = (id: string) => ({ EMBEDDER: id.replace('/', ':') })

async function restartWith(app: TestApp, id: string) {
  await app.restart({ embedder: id.replace('/', ':') })
  await wanted(app, id)
}

async function wanted({ platform: { db, jobs } }: TestApp, embedder: string) {
  await jobs.enqueue(db, RENEW_JOB, { embedder }, { key: `${RENEW_JOB}:${embedder}` })
}

/** Two models of other widths, for which other texts are near: the small one goes by a's, the large one by o's. */
const embeds: Step = (call, reply) => {
  if (!call.path.endsWith('/embeddings')) return says('It is pale [1].')(call, reply)
  const inputs: string[] = [call.body.input].flat()
  const isSmall = call.body.model.endsWith('small')
  const share = (text: string, letter: string) => text.split(letter).length / text.length
  const vectorOf = (text: string) =>
    isSmall ? [share(text, 'a'), 0.05] : [share(text, 'o'), 0.05, 0]
  const data = inputs.map((input, index) => ({ index, embedding: vectorOf(input) }))
  reply.setHeader('content-type', 'application/json')
  reply.end(
    JSON.stringify({ data, model: call.body.model, usage: { prompt_tokens: 1, total_tokens: 1 } }),
  )
}

const bananas = 'Bananas: a banana has a pale band.'
const oolong = 'Oolong: good for slow cooks of London.'
const manyAs = 'aa aa aa'

const first = async (client: Client, mode = 'dense') => {
  const { status, body } = await client.post('/api/rag/search', { query: manyAs, mode })
  assert.equal(status, 200)
  return {
    id: body.results[0]?.id,
    content: body.results[0]?.content,
    score: body.results[0]?.score,
    warnings: body.warnings,
  }
}

const askedOf = (calls: MockCall[], model: string) =>
  calls.filter(({ path, body }) => path.endsWith('/embeddings') && `openai/${body.model}` === model)

const vectorsOf = async ({ platform: { db } }: TestApp) => {
  const tables = ['rag_vectors']
  if (await hasHalves(db)) tables.push('rag_halfvecs')
  const counts = new Map<string, number>()
  for (const table of tables) {
    const { rows } = await sql<{ embedder: string; n: number }>`
      select embedder, count(*) as n from ${sql.table(table)} group by embedder`.execute(db)
    for (const { embedder, n } of rows)
      counts.set(embedder, (counts.get(embedder) ?? 0) + Number(n))
  }
  return Object.fromEntries(counts)
}

async function hasHalves(db: TestApp['platform']['db']): Promise<boolean> {
  return sql`select 1 from rag_halfvecs limit 1`.execute(db).then(
    () => true,
    () => false,
  )
}

test('a changed embedder: the old vectors serve until the new ones are whole, also over a lost process, and nothing is mixed or left', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const [ada, eve] = [await app.as('ada', { tier: 'pro' }), await app.as('eve', { tier: 'pro' })]
  for (const client of [ada, eve]) {
    await client.post('/api/rag/ingest/text', { content: bananas })
    await client.post('/api/rag/ingest/text', { content: oolong })
  }
  assert.match((await first(ada)).content, /banana/)
  const before = await first(ada)

  await restartWith(app, LARGE)
  const since = vendor.calls.length
  const during = await first(ada)
  assert.deepEqual({ ...during, warnings: [] }, { ...before, warnings: [] }, 'as before the change')
  assert.deepEqual(during.warnings, [])
  assert.equal(
    askedOf(vendor.calls.slice(since), SMALL).length,
    1,
    'the question is embedded as the documents are',
  )
  assert.equal(askedOf(vendor.calls.slice(since), LARGE).length, 0)

  // What comes in meanwhile is found by both.
  const added = await ada.post('/api/rag/ingest/text', {
    content: 'Apa anda: an alabama drama as mama saw that.',
  })
  assert.equal(added.status, 200, added.text)
  assert.match((await first(ada)).content, /alabama|banana/)
  const { embedding } = (await ada.get('/api/rag/storage')).body
  assert.deepEqual(embedding, { done: 1, total: 3 })

  // The vendor is lost in the middle: what was made stays, what is searched stays.
  let answers = 0
  vendor.play((call, reply) => {
    const isBatch = call.body.input?.length > 1
    if (call.body.model === 'text-embedding-3-large' && (isBatch || answers++ >= 1))
      return refuses(401)(call, reply)
    return embeds(call, reply)
  })
  await app.settle()
  assert.match((await first(ada)).content, /banana|alabama/)
  const half = await vectorsOf(app)
  assert.equal(half[SMALL], 5)
  assert.equal(half[LARGE], 2)

  vendor.play(embeds)
  await restartWith(app, LARGE)
  app.clock.advance(10_000)
  await app.settle()
  const after = await first(ada)
  assert.deepEqual(after.warnings, [])
  assert.equal((await ada.get('/api/rag/storage')).body.embedding, null)
  const query = { query: 'oo oo oo', mode: 'dense' }
  assert.match((await ada.post('/api/rag/search', query)).body.results[0].content, /Oolong/)
  assert.match((await eve.post('/api/rag/search', query)).body.results[0].content, /Oolong/)
  assert.deepEqual(await vectorsOf(app), { [LARGE]: 5 }, 'the old vectors are gone')
})

test('where the old embedder is out of reach words alone are compared, and the answer says so', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: bananas })
  await ada.post('/api/rag/ingest/text', { content: oolong })
  const find = async (mode = 'auto') => {
    const { status, body } = await ada.post('/api/rag/search', { query: 'a pale banana', mode })
    assert.equal(status, 200)
    return { codes: body.warnings.map(({ code }: { code: string }) => code), results: body.results }
  }

  await restartWith(app, LARGE)
  vendor.play((call, reply) =>
    call.body.model.endsWith('small') ? refuses(404)(call, reply) : embeds(call, reply),
  )
  const refused = await find()
  assert.deepEqual(refused.codes, ['embedder_unreachable'])
  assert.match(refused.results[0].content, /banana/)
  const dense = await find('dense')
  assert.deepEqual(dense.codes, ['embedder_unreachable'])
  assert.deepEqual(dense.results, (await find('lexical')).results, 'as the warning says')
  const found = await ada.post('/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'search', arguments: { query: 'a pale banana' } },
  })
  assert.match(found.body.result.structuredContent.warnings[0], /by their words alone/)
  const stored = await ada.post('/api/rag/ingest/text', {
    content: 'A text that comes in meanwhile.',
  })
  assert.equal(stored.status, 200, stored.text)

  // A vendor that has no key here any more is not even asked.
  const { db } = app.platform
  await db
    .updateTable('rag_stores')
    .set((e) => ({ embedder: 'mistral/mistral-embed', revision: e('revision', '+', 1) }))
    .execute()
  assert.deepEqual((await find()).codes, ['embedder_unreachable'])
  assert.deepEqual((await find('lexical')).codes, [])
  const answer = await ada.post('/api/rag/query', {
    question: 'What is a pale banana?',
    min_score: 0.1,
  })
  assert.deepEqual(
    answer.body.warnings?.map(({ code }: { code: string }) => code),
    ['embedder_unreachable'],
  )

  // Documents that never had vectors.
  await db
    .updateTable('rag_documents')
    .set({ embedder: '', next_embedder: '', kept_in: '' })
    .execute()
  await db
    .updateTable('rag_stores')
    .set((e) => ({ embedder: '', revision: e('revision', '+', 1) }))
    .execute()
  const bare = await find('dense')
  assert.deepEqual(bare.codes, ['embedding'])
  assert.deepEqual(bare.results, (await find('lexical')).results)
  await app.settle()
  assert.deepEqual((await find()).codes, [])
})

test('small documents are embedded together, and none gets the vector of another', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const ada = await app.as('ada', { tier: 'pro' })
  const contents = Array.from(
    { length: 32 },
    (_, i) => `Text ${i}: ${'a'.repeat(i)} ${'o'.repeat(31 - i)}`,
  )
  for (const content of contents) await ada.post('/api/rag/ingest/text', { content })
  await restartWith(app, LARGE)
  const since = vendor.calls.length
  await app.settle()

  const asked = askedOf(vendor.calls.slice(since), LARGE)
  assert.deepEqual(
    asked.map(({ body }) => body.input.length),
    [32],
  )
  assert.deepEqual(await vectorsOf(app), { [LARGE]: 32 })
  assert.equal((await ada.get('/api/rag/storage')).body.embedding, null)
  const { body } = await ada.post('/api/rag/search', {
    query: 'oo oo oo',
    mode: 'dense',
    top_k: 50,
  })
  const order = body.results.map(
    ({ content }: { content: string }) => content.split('o').length / content.length,
  )
  assert.deepEqual(
    order,
    order.toSorted((a: number, b: number) => b - a),
  )
})

test('a text that the new embedder refuses holds up its owner alone', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const users = [await app.as('ada', { tier: 'pro' }), await app.as('eve', { tier: 'pro' })]
  await users[0]?.post('/api/rag/ingest/text', { content: 'poison' })
  await users[1]?.post('/api/rag/ingest/text', { content: bananas })
  await restartWith(app, LARGE)
  vendor.play((call, reply) =>
    `${call.body.input}`.includes('poison') ? refuses(400)(call, reply) : embeds(call, reply),
  )
  await app.settle()
  const embeddings = await Promise.all(
    users.map(async (user) => (await user.get('/api/rag/storage')).body.embedding),
  )
  assert.deepEqual(embeddings, [{ done: 0, total: 1 }, null])
})

test('what stands behind a refused text is embedded, and its deletion ends the change', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const ada = await app.as('ada', { tier: 'pro' })
  const poison = await ada.post('/api/rag/ingest/text', { content: 'poison' })
  for (let i = 0; i < 6; i++) await ada.post('/api/rag/ingest/text', { content: `${bananas} ${i}` })
  await restartWith(app, LARGE)
  vendor.play((call, reply) =>
    `${call.body.input}`.includes('poison') ? refuses(400)(call, reply) : embeds(call, reply),
  )
  await app.settle()
  const embedding = async () => (await ada.get('/api/rag/storage')).body.embedding
  assert.deepEqual(await embedding(), { done: 6, total: 7 })

  const [chunk] = poison.body.document_ids
  assert.equal((await ada.delete(`/api/rag/documents/${String(chunk).slice(0, 12)}`)).status, 200)
  assert.equal(await embedding(), null)
  assert.equal(
    (await app.platform.db.selectFrom('rag_stores').select('embedder').executeTakeFirst())
      ?.embedder,
    LARGE,
  )
  await app.settle()
  assert.deepEqual(await vectorsOf(app), { [LARGE]: 6 })
})

test('a node that is set to another embedder leaves the change to the one that is', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const ada = await app.as('ada', { tier: 'pro' })
  const text = `${bananas} `.repeat(60)
  const { body } = await ada.post('/api/rag/ingest/text', { content: text, chunk_size: 300 })
  const total: number = body.chunks_created
  assert.ok(total > 2)

  await wanted(app, LARGE)
  await app.settle()
  assert.deepEqual(await vectorsOf(app), { [SMALL]: total })
  const { db } = app.platform
  // As a node that tidied leaves what another was making: the end of it without its beginning.
  const { version } = await db
    .selectFrom('rag_documents')
    .select('version')
    .executeTakeFirstOrThrow()
  const last = [{ index: total - 1, vector: Float32Array.of(0, 1, 0) }]
  await (await openVectors({ db })).insert(db, ada.userId, { version, embedder: LARGE }, last)

  await app.restart({ embedder: LARGE.replace('/', ':') })
  for (let i = 0; i < 3; i++) {
    app.clock.advance(600_000)
    await app.settle()
  }
  assert.deepEqual(await vectorsOf(app), { [LARGE]: total })
})

test('an embedder that is set and set back leaves nothing', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const ada = await app.as('ada', { tier: 'pro' })
  for (const content of [bananas, oolong, 'poison'])
    await ada.post('/api/rag/ingest/text', { content })
  await restartWith(app, LARGE)
  vendor.play((call, reply) =>
    `${call.body.input}`.includes('poison') ? refuses(400)(call, reply) : embeds(call, reply),
  )
  await app.settle()
  assert.deepEqual(await vectorsOf(app), { [SMALL]: 3, [LARGE]: 2 })

  await restartWith(app, SMALL)
  await app.settle()
  assert.deepEqual(await vectorsOf(app), { [SMALL]: 3 })
  const rows = await app.platform.db
    .selectFrom('rag_documents')
    .select(['embedder', 'next_embedder'])
    .execute()
  assert.deepEqual(rows, Array(3).fill({ embedder: SMALL, next_embedder: '' }))
})

test('who has no documents any more is embedded with the embedder that is set alone', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body } = await ada.post('/api/rag/ingest/text', { content: bananas })
  await ada.delete(`/api/rag/documents/${String(body.document_ids[0]).slice(0, 12)}`)
  await app.restart({ embedder: LARGE.replace('/', ':') })
  const since = vendor.calls.length
  assert.equal((await ada.post('/api/rag/ingest/text', { content: bananas })).status, 200)
  assert.equal(askedOf(vendor.calls.slice(since), SMALL).length, 0)
  assert.equal(askedOf(vendor.calls.slice(since), LARGE).length, 1)
})

test('vectors of another store are searched where they lie, and carried over without a vendor', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(embeds)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...setTo(SMALL) } })
  const { db } = app.platform
  if (!(await hasHalves(db))) return
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: bananas })
  await ada.post('/api/rag/ingest/text', { content: oolong })
  const before = await first(ada)

  // As a copy from SQLite leaves it.
  const bytes = openByteVectors({ db })
  for (const { version } of await db.selectFrom('rag_documents').select('version').execute()) {
    const { rows } = await sql<{
      vector: string
    }>`select vector::text from rag_halfvecs where version = ${version}`.execute(db)
    const vectors = rows.map(({ vector }, index) => ({
      index,
      vector: Float32Array.from(JSON.parse(vector)),
    }))
    await bytes.insert(db, ada.userId, { version, embedder: SMALL }, vectors)
  }
  await sql`delete from rag_halfvecs`.execute(db)
  await db.updateTable('rag_documents').set({ kept_in: 'bytes' }).execute()
  await db
    .updateTable('rag_stores')
    .set((e) => ({ revision: e('revision', '+', 1) }))
    .execute()
  const near = ({ score, ...rest }: typeof before) => ({ ...rest, score: Number(score.toFixed(2)) })
  assert.deepEqual(near(await first(ada)), near(before))

  const asked = vendor.calls.length
  await restartWith(app, SMALL)
  await app.settle()
  const { db: now } = app.platform
  assert.equal(vendor.calls.length, asked, 'no vendor was asked')
  assert.deepEqual(await now.selectFrom('rag_documents').select('kept_in').distinct().execute(), [
    { kept_in: 'pgvector' },
  ])
  assert.deepEqual(await now.selectFrom('rag_vectors').select('version').execute(), [])
  assert.deepEqual(near(await first(ada)), near(before))
})

import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { insertUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { readPoolConfig } from '#platform/db/postgres.ts'
import { ByteVectors } from '#rag/search/stores/bytes.ts'
import { type Indexed, makeIndex } from '#rag/search/stores/hnsw.ts'
import { dot, nearestRows } from '#rag/search/stores/nearest.ts'
import { openPgvector } from '#rag/search/stores/pgvector.ts'
import type { Neighbour, VectorStore } from '#rag/search/stores/vector-store.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor } from '#testing/mock-vendor.ts'

const DIMS = 64

/** The same numbers in every run. */
function vectorsOf(count: number, seed: number): Float32Array[] {
  let state = seed
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  return Array.from({ length: count }, () => {
    const vector = Float32Array.from({ length: DIMS }, next)
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  })
}

async function fill(
  { platform: { db } }: TestApp,
  store: VectorStore,
  userId: string,
  version: string,
  vectors: Float32Array[],
  embedder = 'e/one',
) {
  await transaction(db, async (tx) => {
    const rows = vectors.map((vector, index) => ({ index, vector }))
    await store.insert(tx, userId, { version, embedder }, rows)
  })
}

/** Adds a user with this id and a name only. */
async function addUser({ platform: { db } }: TestApp, id: string) {
  const { id: given } = await insertUser(
    db,
    { email: `${randomUUID()}@example.com`, full_name: null, password_hash: null },
    new Date(0).toISOString(),
  )
  await db.updateTable('users').set({ id }).where('id', '=', given).execute()
}

/** A document row without content. */
const documentRow = (user_id: string, version: string) => ({
  user_id,
  id: version,
  version,
  edition: 0,
  source: null,
  metadata_json: {},
  chunks: 1,
  total_chunks: 1,
  characters: 1,
  embedder: 'e/one',
  original_id: null,
  created_at: new Date(0).toISOString(),
})

const documentOf = (version: string, totalChunks: number) => ({ version, edition: 0, totalChunks })

async function storesOf({ platform: { db } }: TestApp): Promise<VectorStore[]> {
  const pgvector = await openPgvector({ db })
  return [
    new ByteVectors({ db }),
    // So small that nothing is ever cached.
    new ByteVectors({ db }, { cacheBytesMax: 100 }),
    ...(pgvector ? [pgvector] : []),
  ]
}

test('every store finds the same neighbours as brute force, for one user, within the scope, cached or not', async (t) => {
  const app = await testApp(t)
  for (const [n, store] of (await storesOf(app)).entries()) {
    const [ada, eve] = [`ada${n}`, `eve${n}`]
    const vectors = vectorsOf(1_500, 1)
    await fill(app, store, ada, 'large', vectors)
    const small = vectorsOf(20, 2)
    await fill(app, store, ada, 'small', small)
    const [query = new Float32Array(DIMS)] = vectorsOf(1, 3)
    await fill(app, store, eve, 'large', [query])

    const scope = {
      documents: [documentOf('large', 1_500), documentOf('small', 20)],
      conditions: [],
    }
    const expected = [
      ...vectors.map((v, index) => ({ version: 'large', index, cosine: dot(v, 0, query) })),
      ...small.map((v, index) => ({ version: 'small', index, cosine: dot(v, 0, query) })),
    ]
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, 10)
    for (let turn = 0; turn < 2; turn++) {
      const found = await store.nearest(ada, 'e/one', query, scope, 10)
      assert.equal(found.length, 10)
      for (const [i, { cosine }] of found.entries())
        assert.ok(
          Math.abs(cosine - (expected[i]?.cosine ?? 9)) < (store.name === 'bytes' ? 1e-5 : 1e-3),
          store.name,
        )
      assert.deepEqual({ ...found[0], cosine: 0 }, { ...expected[0], cosine: 0 })
    }

    const narrow = await store.nearest(
      ada,
      'e/one',
      query,
      {
        documents: [documentOf('small', 20)],
        conditions: [{ key: 'chunk_index', operator: '$gte', value: 17 }],
      },
      10,
    )
    assert.deepEqual(narrow.map(({ index }) => index).sort(), [17, 18, 19])
    assert.deepEqual(
      await store.nearest(ada, 'e/one', query, { documents: [], conditions: [] }, 10),
      [],
    )
    assert.deepEqual(
      await store.nearest(ada, 'e/one', query.subarray(0, 32), scope, 10),
      [],
      'another width is never compared',
    )

    while ((await store.eraseSlice(app.platform.db, ada)) > 0);
    assert.deepEqual(await store.nearest(ada, 'e/one', query, scope, 10), [])
    assert.equal(
      (
        await store.nearest(
          eve,
          'e/one',
          query,
          { ...scope, documents: [documentOf('large', 1)] },
          10,
        )
      ).length,
      1,
    )
  }
})

test('without an embedder no vectors are stored, and pgvector rows are deleted with their document', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const put = (content: string) => ada.post('/api/rag/ingest/text', { content })
  const stored = await put('The lighthouse was built in 1882.')
  await put('Bread rises because of yeast.')
  const { db } = app.platform

  const documents = await db
    .selectFrom('rag_documents')
    .select(['embedder', 'version'])
    .orderBy('characters')
    .execute()
  assert.deepEqual(
    documents.map(({ embedder }) => embedder),
    ['', ''],
  )
  assert.deepEqual(await db.selectFrom('rag_vectors').select('vector').execute(), [])
  assert.match(
    (await ada.post('/api/rag/search', { query: 'lighthouse' })).body.results[0].content,
    /1882/,
  )

  if ((await openPgvector({ db })) === undefined) return
  const rows = async () => (await sql`select 1 from rag_halfvecs`.execute(db)).rows.length
  assert.equal(await rows(), 0)
  for (const { version } of documents) {
    await sql`insert into rag_halfvecs values (${ada.userId}, ${version}, 'e/one', 0, '[1,2]'::halfvec)`.execute(
      db,
    )
  }
  assert.equal(
    (await ada.delete(`/api/rag/documents/${stored.body.document_ids[0].slice(0, 12)}`)).status,
    200,
  )
  assert.equal(await rows(), 1)
  assert.equal(
    (await ada.delete('/api/users/me', { password: 'correct horse battery' })).status,
    200,
  )
  await app.settle()
  assert.equal(await rows(), 0)
})

test('the HNSW index of a user with many vectors finds the nearest rows, and is dropped with them', {
  skip:
    process.env.TEST_ENGINE === 'pglite' &&
    'it is made on a connection beside the first, and that engine has one',
}, async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const wanted: Indexed[] = []
  const onLarge = async (of: Indexed) => void wanted.push(of)
  const store = await openPgvector({ db }, { exactMax: 30_000, onLarge })
  if (store === undefined) return
  const exact = (await openPgvector({ db })) as VectorStore
  const indexes = async () =>
    (
      await sql<{
        name: string
      }>`select indexname as name from pg_indexes where schemaname = current_schema() and indexname like 'rag_hnsw_%'`.execute(
        db,
      )
    ).rows.length
  // A name that would end a literal.
  const ada = "ada'; drop table users; --"
  await fill(app, store, ada, 'large', vectorsOf(600, 1))
  await fill(app, store, ada, 'small', vectorsOf(20, 2))
  // Another width under the same name: not a row of the index.
  await store.insert(db, ada, { version: 'odd', embedder: 'e/one' }, [
    { index: 0, vector: Float32Array.of(1, 0) },
  ])
  await fill(app, store, 'eve', 'large', vectorsOf(600, 5))
  const all = { documents: [documentOf('large', 600), documentOf('small', 20)], conditions: [] }
  const [first = new Float32Array(DIMS), ...queries] = vectorsOf(20, 3)

  assert.equal((await store.nearest(ada, 'e/one', first, all, 10)).length, 10)
  await store.nearest(ada, 'e/one', first, { ...all, documents: [documentOf('small', 20)] }, 10)
  assert.deepEqual(wanted, [{ userId: ada, embedder: 'e/one', dims: DIMS }], 'and none for a few')
  assert.equal(await makeIndex(db, app.config.databaseUrl ?? '', wanted[0] as Indexed), true)
  assert.equal(await indexes(), 0, 'none is made for vectors that no document has any more')
  await addUser(app, ada)
  await db.insertInto('rag_documents').values(documentRow(ada, 'large')).execute()
  assert.equal(await makeIndex(db, app.config.databaseUrl ?? '', wanted[0] as Indexed), true)
  assert.equal(await makeIndex(db, app.config.databaseUrl ?? '', wanted[0] as Indexed), true)
  assert.equal(await indexes(), 1)

  const keys = (found: Neighbour[]) => found.map(({ version, index }) => `${version}/${index}`)
  let shared = 0
  for (const query of queries) {
    const near = await store.nearest(ada, 'e/one', query, all, 10)
    const true10 = await exact.nearest(ada, 'e/one', query, all, 10)
    const known = new Set(keys(true10))
    shared += keys(near).filter((key) => known.has(key)).length
    assert.deepEqual(
      near,
      near.toSorted((a, b) => b.cosine - a.cosine),
    )
  }
  assert.ok(shared >= 0.99 * 10 * queries.length, `${shared} of ${10 * queries.length}`)
  assert.equal(wanted.length, 1, 'no other is asked for')
  assert.ok(await isScanned(app), 'the planner takes it')
  const late = {
    documents: [documentOf('large', 600)],
    conditions: [{ key: 'chunk_index', operator: '$gte' as const, value: 597 }],
  }
  assert.deepEqual(
    (await store.nearest(ada, 'e/one', first, late, 10)).map(({ index }) => index).sort(),
    [597, 598, 599],
  )

  await store.dropIndexes?.(db, ada, 'e/one')
  assert.equal(await indexes(), 1)
  await store.dropIndexes?.(db, ada, 'e/two')
  assert.equal(await indexes(), 0)
  await makeIndex(db, app.config.databaseUrl ?? '', wanted[0] as Indexed)
  while ((await store.eraseSlice(db, ada)) > 0);
  assert.equal(await indexes(), 0)
  assert.equal((await store.nearest('eve', 'e/one', first, all, 10)).length, 10)
})

/** PostgreSQL publishes a backend's scan counts with a delay. */
async function isScanned({ platform: { db } }: TestApp): Promise<boolean> {
  for (let tries = 0; tries < 300; tries++) {
    const { rows } = await sql`select from pg_stat_user_indexes where schemaname = current_schema()
      and indexrelname like 'rag_hnsw_%' and idx_scan > 0`.execute(db)
    if (rows.length > 0) return true
    await sleep(50)
  }
  return false
}

test('one node at a time creates an index, and an invalid index is replaced after a kill', {
  skip:
    process.env.TEST_ENGINE === 'pglite' &&
    'it is made on a connection beside the first, and that engine has one',
}, async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const url = app.config.databaseUrl ?? ''
  const wanted: Indexed[] = []
  const store = await openPgvector(
    { db },
    { exactMax: 0, onLarge: async (of) => void wanted.push(of) },
  )
  if (store === undefined) return
  const of = { userId: randomUUID(), embedder: 'e/one', dims: DIMS }
  await addUser(app, of.userId)
  await db.insertInto('rag_documents').values(documentRow(of.userId, 'large')).execute()
  await fill(app, store, of.userId, 'large', vectorsOf(200, 1))
  const states = async () => {
    const { rows } = await sql<{
      valid: boolean
    }>`select indisvalid as valid from pg_index i join pg_class c
      on c.oid = i.indexrelid where i.indrelid = 'rag_halfvecs'::regclass and relname like 'rag_hnsw_%'`.execute(
      db,
    )
    return rows.map(({ valid }) => valid)
  }
  // `create index concurrently` waits for open transactions.
  const writer = new pg.Client(readPoolConfig(url))
  await writer.connect()
  t.after(() => writer.end())
  const begin = () =>
    writer.query(
      `begin; insert into rag_halfvecs values ('${of.userId}', 'open', 'e/one', 0, '[1]'::halfvec)`,
    )
  const begun = async () => {
    while ((await states()).length === 0) await sleep(10)
  }

  await begin()
  const killed = makeIndex(db, url, of)
  const refused = assert.rejects(killed, { code: '57P01' })
  await begun()
  await assert.rejects(makeIndex(db, url, of), /by another connection/)
  const scope = { documents: [documentOf('large', 200)], conditions: [] }
  const [query = new Float32Array(DIMS)] = vectorsOf(1, 3)
  assert.equal(
    (await store.nearest(of.userId, of.embedder, query, scope, 10)).length,
    10,
    'compared one by one meanwhile',
  )
  assert.equal(wanted.length, 1)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'latchkey maintenance' and query like ${`%${of.userId}%`}`.execute(db)
  await refused
  await writer.query('rollback')
  assert.deepEqual(await states(), [false], 'a partial index is not used')

  assert.equal(await makeIndex(db, url, of), true)
  assert.deepEqual(await states(), [true])
  await store.dropIndexes?.(db, of.userId, null)
  await begin()
  const made = makeIndex(db, url, of)
  await begun()
  // The last document is deleted while the index is created.
  await db.deleteFrom('rag_documents').where('user_id', '=', of.userId).execute()
  await writer.query('rollback')
  assert.equal(await made, true)
  assert.deepEqual(await states(), [], 'it is dropped by who made it')
})

test('the HNSW index is dropped with the user’s last document', async (t) => {
  const vendor = await mockVendor(t)
  vendor.play(({ body }, reply) => {
    const data = [body.input]
      .flat()
      .map((_: string, index: number) => ({ index, embedding: [1, index] }))
    reply.setHeader('content-type', 'application/json')
    reply.end(
      JSON.stringify({ data, model: body.model, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    )
  })
  const app = await testApp(t, {
    env: { ...vendor.env.openai, EMBEDDER: 'openai:text-embedding-3-small' },
  })
  const { db } = app.platform
  if ((await openPgvector({ db })) === undefined) return
  const ada = await app.as('ada', { tier: 'pro' })
  const put = async (content: string) =>
    (await ada.post('/api/rag/ingest/text', { content })).body.document_ids[0].slice(
      0,
      12,
    ) as string
  const ids = [
    await put('The lighthouse was built in 1882.'),
    await put('Bread rises because of yeast.'),
  ]
  const digest = createHash('sha256').update(ada.userId).digest('hex').slice(0, 16)
  await sql`create index ${sql.id(`rag_hnsw_${digest}_0_8`)} on rag_halfvecs (chunk_index)`.execute(
    db,
  )
  const indexes = async () => {
    await app.settle()
    const { rows } = await sql`select from pg_class where relname like 'rag_hnsw_%'`.execute(db)
    return rows.length
  }

  await ada.delete(`/api/rag/documents/${ids[0]}`)
  assert.equal(await indexes(), 1)
  await ada.delete(`/api/rag/documents/${ids[1]}`)
  assert.equal(await indexes(), 0)
})

test('few rows and many rows are ranked equally', () => {
  const [query = new Float32Array(DIMS), ...vectors] = vectorsOf(201, 7)
  for (const count of [5, 31, 32, 200]) {
    const rows = new Float32Array(count * DIMS)
    for (const [i, vector] of vectors.slice(0, count).entries()) rows.set(vector, i * DIMS)
    const found: [number, number][] = []
    nearestRows(
      { indexes: Int32Array.from({ length: count }, (_, i) => i), rows },
      query,
      3,
      (index, cosine) => found.push([index, cosine]),
    )
    const best = found.sort((a, b) => b[1] - a[1])[0]
    const expected = vectors.slice(0, count).map((vector) => dot(vector, 0, query))
    assert.equal(best?.[0], expected.indexOf(Math.max(...expected)))
    assert.ok(Math.abs((best?.[1] ?? 9) - Math.max(...expected)) < 1e-5)
  }
})

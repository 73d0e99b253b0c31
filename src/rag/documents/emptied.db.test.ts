import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBus, type Hears } from '#platform/bus.ts'
import { ByteVectors } from '#rag/search/stores/bytes.ts'
import { UserIndexes } from '#rag/search/user-index.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor } from '#testing/mock-vendor.ts'
import { DROP_INDEXES_JOB, dropIndexesIfEmpty, forgetEmptied } from './emptied.ts'

const EMBEDDER = 'openai/text-embedding-3-small'

async function appThatEmbeds(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
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
  return testApp(t, { env: { ...vendor.env.openai, EMBEDDER: EMBEDDER.replace('/', ':') } })
}

async function store(app: TestApp, name: string, content: string) {
  const user = await app.as(name, { tier: 'pro' })
  const stored = await user.post('/api/rag/ingest/text', { content })
  const id = stored.body.document_ids[0].slice(0, 12) as string
  return { userId: user.userId, remove: () => user.delete(`/api/rag/documents/${id}`) }
}

/** Another node, whose bus can miss messages. */
async function otherNode({ platform: { db } }: TestApp, whose: string[]) {
  let hears: Hears | undefined
  const bus = createBus((given) => {
    hears = given
    return { name: 'redis', isWell: () => true, send: () => {}, close: async () => {} }
  })
  const indexes = new UserIndexes({ db })
  const vectors = new ByteVectors({ db })
  for (const userId of whose) {
    const documents = await indexes.use(userId, (index) =>
      [...index.documents.values()].map(({ row }) => row),
    )
    const scope = documents.map((row) => ({ ...row, totalChunks: row.total_chunks }))
    await vectors.nearest(
      userId,
      EMBEDDER,
      Float32Array.of(1, 0),
      { documents: scope, conditions: [] },
      1,
    )
  }
  return {
    bus,
    indexes,
    vectors,
    miss: () => hears?.missed(),
    async remembers(users: string[]) {
      const both = () => [indexes.users().toSorted(), vectors.users().toSorted()]
      const expected = [users.toSorted(), users.toSorted()]
      for (
        let turn = 0;
        turn < 200 && JSON.stringify(both()) !== JSON.stringify(expected);
        turn++
      ) {
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      assert.deepEqual(both(), expected)
    },
  }
}

test('a node that missed messages frees the users without documents', async (t) => {
  const app = await appThatEmbeds(t)
  const ada = await store(app, 'ada', 'The lighthouse was built in 1882.')
  const eve = await store(app, 'eve', 'Bread rises because of yeast.')
  const node = await otherNode(app, [ada.userId, eve.userId])
  forgetEmptied({ bus: node.bus, db: app.platform.db }, [node.indexes, node.vectors])
  await node.remembers([ada.userId, eve.userId])

  await ada.remove()
  await node.remembers([ada.userId, eve.userId])
  node.miss()
  await node.remembers([eve.userId])
})

test('a node that missed messages frees all users when the database does not answer', async (t) => {
  const app = await appThatEmbeds(t)
  const { userId } = await store(app, 'ada', 'The lighthouse was built in 1882.')
  const node = await otherNode(app, [userId])
  const db = new Proxy(app.platform.db, {
    get: (target, key) =>
      key === 'selectFrom' ? () => assert.fail('the database is away') : Reflect.get(target, key),
  })
  forgetEmptied({ bus: node.bus, db }, [node.indexes, node.vectors])
  node.miss()
  await node.remembers([])
})

test('the search indexes of a user are dropped with the last document, and only then', async (t) => {
  const app = await appThatEmbeds(t)
  const ada = await store(app, 'ada', 'The lighthouse was built in 1882.')
  const { db } = app.platform
  const dropped: unknown[] = []
  const vectors = {
    ...app.service.rag.deps.vectors,
    dropIndexes: async (...[, userId, keep]: unknown[]) => void dropped.push(userId, keep),
  }
  await dropIndexesIfEmpty({ db, vectors }, ada)
  assert.deepEqual(dropped, [])
  await ada.remove()
  await dropIndexesIfEmpty({ db, vectors }, ada)
  assert.deepEqual(dropped, [ada.userId, null])
})

test('the last deletion enqueues its own job, also while an earlier one waits', async (t) => {
  const app = await appThatEmbeds(t)
  const { db } = app.platform
  const dropped: unknown[] = []
  app.service.rag.deps.vectors.dropIndexes = async (_, userId) => void dropped.push(userId)
  for (const name of ['ada', 'ada']) await (await store(app, name, 'A lighthouse.')).remove()
  const waiting = await db
    .selectFrom('jobs')
    .select('id')
    .where('kind', '=', DROP_INDEXES_JOB)
    .execute()
  assert.equal(waiting.length, 2)
  await app.settle()
  assert.equal(dropped.length, 2)
})

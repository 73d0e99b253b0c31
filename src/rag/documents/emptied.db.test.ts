import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBus, type Hears } from '#platform/bus.ts'
import { TIDY_JOB, tidyVectors } from '#rag/renewal/serving.ts'
import { createShelves } from '#rag/search/shelves.ts'
import { openByteVectors } from '#rag/search/stores/bytes.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor } from '#testing/mock-vendor.ts'
import { forgetEmptied } from './emptied.ts'

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
  const shelves = createShelves({ db })
  const vectors = openByteVectors({ db })
  for (const userId of whose) {
    const documents = await shelves.use(userId, (shelf) =>
      [...shelf.documents.values()].map(({ row }) => row),
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
    shelves,
    vectors,
    miss: () => hears?.missed(),
    async remembers(users: string[]) {
      const both = () => [shelves.users().toSorted(), vectors.users().toSorted()]
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

test('a node that may have missed who was emptied looks at those that it remembers', async (t) => {
  const app = await appThatEmbeds(t)
  const ada = await store(app, 'ada', 'The lighthouse was built in 1882.')
  const eve = await store(app, 'eve', 'Bread rises because of yeast.')
  const node = await otherNode(app, [ada.userId, eve.userId])
  forgetEmptied({ bus: node.bus, db: app.platform.db }, [node.shelves, node.vectors])
  await node.remembers([ada.userId, eve.userId])

  await ada.remove()
  await node.remembers([ada.userId, eve.userId])
  node.miss()
  await node.remembers([eve.userId])
})

test('where the database cannot say who was emptied, all are forgotten', async (t) => {
  const app = await appThatEmbeds(t)
  const { userId } = await store(app, 'ada', 'The lighthouse was built in 1882.')
  const node = await otherNode(app, [userId])
  const db = new Proxy(app.platform.db, {
    get: (target, key) =>
      key === 'selectFrom' ? () => assert.fail('the database is away') : Reflect.get(target, key),
  })
  forgetEmptied({ bus: node.bus, db }, [node.shelves, node.vectors])
  node.miss()
  await node.remembers([])
})

test('what is kept for a user’s vectors goes also when the last document goes while a job tidies', async (t) => {
  const app = await appThatEmbeds(t)
  const ada = await store(app, 'ada', 'The lighthouse was built in 1882.')
  const { db, vectors, embedder } = app.service.rag.deps
  const kept: string[] = []
  const slow = {
    ...vectors,
    async tidySlice(...asked: Parameters<typeof vectors.tidySlice>) {
      await ada.remove()
      return vectors.tidySlice(...asked)
    },
    forgetOthers: async (_db: unknown, _userId: string, keep: string) => void kept.push(keep),
  }
  const job = { userId: ada.userId, embedder: EMBEDDER }
  await tidyVectors({ db, vectors: slow, embedder }, job, AbortSignal.timeout(10_000))
  assert.deepEqual(kept, [''])
})

test('a job that runs already does not stand for one that is wanted behind the last document', async (t) => {
  const app = await appThatEmbeds(t)
  const { db, jobs } = app.platform
  const ada = await store(app, 'ada', 'The lighthouse was built in 1882.')
  await app.settle()
  const job = { userId: ada.userId, embedder: EMBEDDER }
  const runAt = new Date(Date.now() + 3_600_000).toISOString()
  await jobs.enqueue(db, TIDY_JOB, job, { key: `${TIDY_JOB}:${EMBEDDER}:${ada.userId}`, runAt })
  const waiting = () => db.selectFrom('jobs').select('id').where('kind', '=', TIDY_JOB).execute()
  const before = (await waiting()).length
  const gone: string[] = []
  app.service.rag.deps.vectors.forgetOthers = async (_db, _userId, keep) => void gone.push(keep)
  await ada.remove()
  await app.settle()
  assert.equal(before, 1)
  assert.deepEqual(gone, [''])
})

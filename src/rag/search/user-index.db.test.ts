import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UserIndexes } from '#rag/search/user-index.ts'
import { rank, readQuestion } from '#rag/search/words/ranking.ts'
import { PASSWORD, testApp } from '#testing/app.ts'

const subjects = ['lighthouse', 'bakery', 'glacier', 'violin', 'harbour', 'orchard']

test('users who store, replace and delete at once each find exactly their own current documents', async (t) => {
  const app = await testApp(t)
  const users = await Promise.all(['ada', 'eve'].map((name) => app.as(name, { tier: 'pro' })))
  const mine = users.map(() => new Map<string, { words: string[]; id: string }>())
  let state = 11
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }

  for (let round = 0; round < 25; round++) {
    await Promise.all(
      users.map(async (user, n) => {
        const kept = mine[n] as (typeof mine)[0]
        const external_id = `d${next(5)}`
        const known = kept.get(external_id)
        if (known !== undefined && next(3) === 0) {
          const gone = await user.delete(`/api/rag/documents/${known.id}`)
          assert.equal(gone.status, 200, gone.text)
          kept.delete(external_id)
        } else {
          const words = [subjects[next(6)] as string, `owner${n}`, `round${round}`]
          const content = Array.from(
            { length: 1 + next(3) },
            (_, i) => `The ${words.join(' ')} of part ${i}.`,
          ).join('\n\n')
          const stored = await user.post('/api/rag/ingest/text', {
            content,
            external_id,
            chunk_size: 100,
          })
          assert.equal(stored.status, 200, stored.text)
          kept.set(external_id, { words, id: stored.body.document_ids[0].slice(0, 12) })
        }
        const query = `${subjects[next(6)]} owner0 owner1 round${next(round + 1)}`
        const { results } = (
          await user.post('/api/rag/search', { query, top_k: 50, min_score: 0.01 })
        ).body
        const texts = [...kept.values()].map(({ words }) => words.join(' '))
        for (const { content } of results as { content: string }[]) {
          assert.ok(
            texts.some((text) => content.includes(text)),
            `${content} is not among ${texts}`,
          )
        }
        for (const text of texts) {
          assert.ok(
            results.some(({ content }: { content: string }) => content.includes(text)),
            `${text} was not found`,
          )
        }
      }),
    )
  }
})

test('an index that exceeds the memory limit is dropped, and read again at the next use', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const roomy = new UserIndexes({ db })
  const tight = new UserIndexes({ db }, { bytesMax: 1 })
  const ids: string[] = []
  for (const [i, name] of ['ada', 'bob', 'eve'].entries()) {
    const user = await app.as(name, { tier: 'pro' })
    ids.push(user.userId)
    await user.post('/api/rag/ingest/text', { content: `The ${subjects[i]} belongs to ${name}.` })
  }
  const first = (indexes: typeof roomy, userId: string, question: string) =>
    indexes.use(userId, ({ words, alive, places }) => {
      const [best] = rank(words, readQuestion(words, question), alive, 1)
      return best === undefined ? null : places[best.slot]
    })
  for (let turn = 0; turn < 2; turn++) {
    for (const [i, id] of ids.entries()) {
      assert.notEqual(await first(roomy, id, subjects[i] as string), null)
      assert.deepEqual(
        await first(tight, id, subjects[i] as string),
        await first(roomy, id, subjects[i] as string),
      )
      assert.equal(await first(tight, id, subjects[i + 1] as string), null)
    }
  }
  assert.ok(tight.bytes() < roomy.bytes() * 0.8, 'two of three: each counts as half')
})

test('an index that failed to load is loaded again', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/rag/ingest/text', { content: 'The lighthouse was built in 1882.' })
  let isBroken = true
  const { db } = app.platform
  const flaky = new Proxy(db, {
    get(target, key) {
      const value = Reflect.get(target, key)
      if (key !== 'selectFrom') return typeof value === 'function' ? value.bind(target) : value
      return (table: 'rag_chunks') => {
        if (isBroken && table === 'rag_chunks') throw new Error('no disk')
        return target.selectFrom(table)
      }
    },
  })
  const indexes = new UserIndexes({ db: flaky })
  const count = () => indexes.use(ada.userId, ({ words }) => words.live)

  await assert.rejects(count(), /no disk/)
  isBroken = false
  assert.equal(await count(), 1)
  assert.equal(await count(), 1)
})

test('deleting a chunk removes it from the index without reading other texts again', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const content = subjects
    .map((subject) => `The ${subject} is behind the hill. ${'It is old. '.repeat(8)}`)
    .join('\n\n')
  const stored = await ada.post('/api/rag/ingest/text', {
    content,
    chunk_size: 120,
    chunk_overlap: 0,
  })
  const ids: string[] = stored.body.document_ids
  const indexes = new UserIndexes(app.platform)
  const look = () =>
    indexes.use(ada.userId, ({ words, documents }) => ({
      slots: words.slots,
      live: words.live,
      documents,
    }))
  const before = await look()
  assert.deepEqual([before.slots, before.live], [ids.length, ids.length])

  const { results } = (await ada.post('/api/rag/search', { query: 'glacier' })).body
  const gone = results[0].id
  for (const id of [gone, ids.find((id) => id !== gone)]) {
    assert.equal((await ada.delete(`/api/rag/documents/${id}`)).status, 200)
  }
  const after = await look()
  assert.deepEqual([after.slots, after.live], [ids.length, ids.length - 2])
  const [document] = after.documents.values()
  assert.deepEqual(
    [document?.slots.length, document?.row.chunks, document?.row.edition],
    [ids.length - 2, ids.length - 2, 2],
  )
  const left = (await ada.post('/api/rag/search', { query: 'glacier', top_k: 50 })).body.results
  assert.equal(left.length, ids.length - 2)
  assert.ok(!left.some(({ id }: { id: string }) => id === gone))
})

test('a user above half of the memory leaves the other users their half, and metadata counts', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const [ada, bob, eve] = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) => app.as(name, { tier: 'pro' })),
  )
  assert.ok(ada && bob && eve)
  const notes = 'n'.repeat(20_000)
  const stored = await ada.post('/api/rag/ingest/text', {
    content: 'The lighthouse is white.',
    metadata: { notes },
  })
  assert.equal(stored.status, 200, stored.text)
  for (const user of [bob, eve])
    await user.post('/api/rag/ingest/text', { content: 'The bakery is red.' })
  const kept: unknown[] = []
  const indexes = new UserIndexes({ db }, { bytesMax: 110_000 })
  for (const { userId } of [ada, bob, eve, ada, bob, eve])
    kept.push(await indexes.use(userId, ({ words }) => words))
  assert.ok(indexes.bytes() > 80_000, `${indexes.bytes()}`)
  for (const i of [0, 1, 2]) assert.equal(kept[i], kept[i + 3], 'none was read again')
})

test('a chunk is also found by its headings and its table header', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const rows = Array.from(
    { length: 60 },
    (_, n) => `| A${String(n).padStart(4, '0')} | ${n + 3}.50 EUR |`,
  )
  const content = `# Price list\n\n| Article | Wholesale price |\n|---|---|\n${rows.join('\n')}\n\n# Opening hours\n\n## Harbour shop\n\n${'We are there for you. '.repeat(12)}From nine to five.\n`
  await ada.post('/api/rag/ingest/text', { content, chunk_size: 300, chunk_overlap: 0 })
  await ada.post('/api/rag/ingest/text', {
    content: 'Our wholesale partners ask for a price now and then.',
  })
  const best = async (query: string) =>
    (await ada.post('/api/rag/search', { query })).body.results[0]
  const row = await best('What is the wholesale price of A0057?')
  assert.match(row.content, /A0057/)
  assert.ok(row.score >= 0.5, `${row.score}`)
  assert.match(
    (await best('opening hours of the harbour shop from nine to five')).content,
    /From nine to five/,
  )
})

test('SEARCH_MEMORY_MB limits the memory of all indexes', async (t) => {
  const kept: number[] = []
  for (const mb of ['1', '256']) {
    const app = await testApp(t, { env: { SEARCH_MEMORY_MB: mb } })
    for (const name of ['ada', 'bob', 'eve', 'zoe']) {
      const user = await app.as(name, { tier: 'pro' })
      const content = Array.from(
        { length: 4_000 },
        (_, n) => `${name} word${n} is told here.`,
      ).join('\n\n')
      await user.post('/api/rag/ingest/text', { content, chunk_size: 100, chunk_overlap: 0 })
      assert.equal(
        (await user.post('/api/rag/search', { query: 'word7' })).body.results.length > 0,
        true,
      )
    }
    kept.push(app.service.rag.deps.indexes.bytes())
  }
  const [little = 0, all = 0] = kept
  assert.ok(little < all * 0.8, `${little} and ${all} bytes`)
})

test('an index that is being read is not dropped', async (t) => {
  const app = await testApp(t)
  const users = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) => app.as(name, { tier: 'pro' })),
  )
  for (const user of users)
    await user.post('/api/rag/ingest/text', { content: 'The lighthouse is white.' })
  const indexes = new UserIndexes(app.platform, { bytesMax: 1 })
  const use = () => users.map(({ userId }) => indexes.use(userId, ({ words }) => words))
  const reading = use()
  await reading[0]
  const again = use()
  assert.equal(await again[2], await reading[2])
})

test('deleted documents leave no memory behind, whether all or most are deleted', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { indexes } = app.service.rag.deps
  const nothing = indexes.bytes()
  const send = async (external_id: string, paragraphs: number) => {
    const content = Array.from(
      { length: paragraphs },
      (_, n) => `${external_id} word${n} ${'is told. '.repeat(8)}`,
    )
    const stored = await ada.post('/api/rag/ingest/text', {
      content: content.join('\n\n'),
      external_id,
      chunk_size: 100,
      chunk_overlap: 0,
    })
    assert.equal(stored.status, 200, stored.text)
    return stored.body.document_ids[0].slice(0, 12) as string
  }
  const search = async () =>
    (await ada.post('/api/rag/search', { query: 'word1', min_score: 0 })).body.results.length
  const small = await send('small', 2)
  await search()
  const withSmall = indexes.bytes()
  const large = await send('large', 1_500)
  await search()
  assert.ok(indexes.bytes() > withSmall * 5, `${indexes.bytes()} beside ${withSmall}`)

  await ada.delete(`/api/rag/documents/${large}`)
  await search()
  assert.ok(indexes.bytes() < withSmall * 1.5, `${indexes.bytes()} beside ${withSmall}`)

  await send('large', 1_500)
  await search()
  await ada.delete(`/api/rag/documents/${small}`)
  await ada.delete(`/api/rag/documents/${large}`)
  assert.equal(indexes.bytes(), nothing, 'nobody has to search for it')
})

test('a node frees a user’s index when another node deletes the documents or the account', async (t) => {
  const app = await testApp(t)
  const { indexes } = app.service.rag.deps
  for (const name of ['ada', 'eve']) {
    const user = await app.as(name, { tier: 'pro' })
    await user.post('/api/rag/ingest/text', { content: 'The lighthouse is white.' })
    await user.post('/api/rag/search', { query: 'lighthouse' })
  }
  assert.ok(indexes.bytes() > 0)
  app.platform.bus.publish('rag.emptied', { userId: (await app.as('ada', { tier: 'pro' })).userId })
  const left = indexes.bytes()
  const eve = await app.as('eve', { tier: 'pro' })
  assert.equal((await eve.delete('/api/users/me', { password: PASSWORD })).status, 200)
  assert.ok(left > 0)
  assert.equal(indexes.bytes(), 0)
})

test('two uses by one user never run in the same turn of the event loop', async (t) => {
  const app = await testApp(t)
  const indexes = new UserIndexes(app.platform)
  let turn = 0
  const timer = setInterval(() => {})
  t.after(() => clearInterval(timer))
  const count = () => {
    turn++
    if (!isDone) setImmediate(count)
  }
  let isDone = false
  setImmediate(count)
  const turns = await Promise.all([1, 2, 3].map(() => indexes.use('ada', () => turn)))
  isDone = true
  assert.equal(new Set(turns).size, 3)
})

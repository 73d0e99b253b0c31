import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'

test('a search by words reads the server twice, and records its usage in one transaction', {
  skip: !ON_POSTGRES && 'an embedded database is asked in this process',
}, async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  for (const colour of ['white', 'red', 'blue'])
    await ada.post('/api/rag/ingest/text', { content: `The lighthouse is ${colour}.` })
  const search = () => ada.post('/api/rag/search', { query: 'lighthouse' })
  await search()

  const query = t.mock.method(pg.Client.prototype, 'query')
  const { body } = await search()
  const asked = query.mock.calls.map(
    ({ arguments: [what] }) => (what as unknown as { text: string }).text,
  )
  query.mock.restore()

  assert.equal(body.results.length, 3)
  const begin = asked.findIndex((text) => text.startsWith('begin'))
  assert.deepEqual(
    asked.slice(0, begin).map((text) => /rag_stores|rag_chunks/.exec(text)?.[0]),
    ['rag_stores', 'rag_chunks'],
  )
  const written = asked.slice(begin + 1)
  assert.deepEqual(
    written.map((text) => /usage_records|usage_days|usage_totals|commit/.exec(text)?.[0]),
    ['usage_records', 'usage_days', 'usage_totals', 'commit'],
  )
})

test('chunks of many documents are found with each one’s own text', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  for (const user of [ada, eve])
    for (const n of [1, 2, 3])
      await user.post('/api/rag/ingest/text', {
        content: Array.from(
          { length: 4 },
          (_, i) => `Lighthouse ${n} of ${user.userId}, part ${i}. ${'It is old. '.repeat(5)}`,
        ).join('\n\n'),
        chunk_size: 160,
        chunk_overlap: 0,
      })
  const { results } = (await ada.post('/api/rag/search', { query: 'lighthouse', top_k: 50 })).body
  assert.equal(results.length, 12)
  const told = results.map(({ content }: { content: string }) =>
    /Lighthouse (\d) of (\S+), part (\d)/.exec(content)?.slice(1).join(' '),
  )
  const wanted = [1, 2, 3].flatMap((n) => [0, 1, 2, 3].map((i) => `${n} ${ada.userId} ${i}`))
  assert.deepEqual(told.sort(), wanted.sort())
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

const text = `The lighthouse of Porto Calvo was built in 1882 by the engineer Amélie Duroc. Its lamp burned whale oil at first.

Bread rises because yeast turns sugar into carbon dioxide. Bakers call the second rise proofing.

Die Hauptstadt von Norwegen ist Oslo. Dort wohnen siebenhunderttausend Menschen.`

test('a text is stored, found, asked about, listed and deleted', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })

  const stored = await ada.post('/api/rag/ingest/text', {
    content: text,
    metadata: { topic: 'mixed' },
    chunk_size: 130,
  })
  assert.equal(stored.status, 200, stored.text)
  assert.equal(stored.body.chunks_created, stored.body.document_ids.length)
  for (const [i, id] of stored.body.document_ids.entries()) assert.match(id, new RegExp(`^[0-9a-f]{12}_${i}$`))

  const found = await ada.post('/api/rag/search', { query: 'Who built the lighthouse?', top_k: 2 })
  assert.equal(found.status, 200, found.text)
  assert.match(found.body.results[0].content, /Duroc/)
  assert.ok(found.body.results[0].score >= 0.5, found.text)
  assert.ok(found.body.results[0].score >= found.body.results[1].score)
  assert.deepEqual(found.body.results[0].metadata, {
    topic: 'mixed',
    user_id: ada.userId,
    chunk_index: 0,
    total_chunks: stored.body.chunks_created,
  })

  const answered = await ada.post('/api/rag/query', { question: 'Who built the lighthouse?' })
  assert.equal(answered.status, 200, answered.text)
  assert.match(answered.body.answer, /Duroc/)
  assert.ok(answered.body.sources.length > 0)
  assert.ok(answered.body.usage.total_tokens > 0)

  const listed = await ada.get('/api/rag/documents')
  assert.equal(listed.headers.get('x-total-count'), '1')
  assert.equal(listed.body[0].id, stored.body.document_ids[0].slice(0, 12))
  assert.equal(listed.body[0].chunks, stored.body.chunks_created)

  const gone = await ada.delete(`/api/rag/documents/${stored.body.document_ids[0]}`)
  assert.deepEqual(gone.body, { status: 'deleted', document_id: stored.body.document_ids[0] })
  assert.equal((await ada.delete(`/api/rag/documents/${stored.body.document_ids[0]}`)).status, 404)
  const without = await ada.post('/api/rag/search', { query: 'Who built the lighthouse?' })
  assert.ok(without.body.results.every((chunk: { content: string }) => !chunk.content.includes('Duroc')))

  assert.equal((await ada.delete(`/api/rag/documents/${listed.body[0].id}`)).status, 200)
  assert.equal((await ada.get('/api/rag/documents')).headers.get('x-total-count'), '0')
})

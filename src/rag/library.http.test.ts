// The library: the routes of documents for people, which a plan can grant without the API.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

test('a free account stores three documents in the library, and has no API for them', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const texts = [
    'The lamp is lit at dusk.',
    'The harbour never freezes.',
    'The keeper is called Ann.',
  ]
  for (const content of texts)
    assert.equal((await ada.post('/api/library/ingest/text', { content })).status, 200)
  const fourth = await ada.post('/api/library/ingest/text', { content: 'The boat is red.' })
  assert.deepEqual(
    [fourth.status, fourth.body.code, fourth.body.limit, fourth.body.max],
    [413, 'storage_limit_reached', 'documents_max', 3],
  )
  const found = await ada.post('/api/library/search', { query: 'Who is the keeper?', top_k: 1 })
  assert.equal(found.body.results[0].content, texts[2])
  const { body: documents } = await ada.get('/api/library/documents')
  assert.equal(documents.length, 3)
  assert.equal((await ada.get('/api/library/storage')).body.documents.max, 3)
  assert.equal((await ada.get('/api/rag/documents')).status, 403)
  assert.equal((await ada.post('/api/rag/search', { query: 'keeper' })).status, 403)
  assert.equal((await ada.delete(`/api/library/documents/${documents[0].id}`)).status, 200)
  assert.equal(
    (await ada.post('/api/library/ingest/text', { content: 'The boat is red.' })).status,
    200,
  )
})

test('a free account stores a file in the background and follows its job', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const form = new FormData()
  form.set('file', new Blob(['The lamp is lit at dusk.']), 'lamp.txt')
  const sent = await ada.post('/api/library/ingest/file', form, {
    headers: { prefer: 'respond-async' },
  })
  const location = `/api/library/jobs/${sent.body.job_id}`
  assert.deepEqual([sent.status, sent.headers.get('location')], [202, location])
  await app.settle()
  const { state, document_ids } = (await ada.get(location)).body
  assert.deepEqual([state, document_ids.length], ['done', 1])
  const [id] = document_ids
  assert.equal(
    (await ada.get(`/api/library/documents/${id}/file`)).text,
    'The lamp is lit at dusk.',
  )
  assert.equal((await ada.get(`/api/library/documents/${id}/text`)).body.source, 'lamp.txt')
})

test('the library and the API have the same documents, and the library takes no API keys', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await ada.post('/api/library/ingest/text', { content: 'The lamp is lit at dusk.' })
  const { body: key } = await ada.post('/api/api-keys', { name: 'laptop' })
  const headers = { authorization: `Bearer ${key.key}` }
  const request = (path: string) => app.request('GET', path, { headers })
  assert.equal((await request('/api/rag/documents')).body.length, 1)
  assert.equal((await request('/api/library/documents')).status, 401)
  assert.deepEqual(
    (await ada.get('/api/library/documents')).body,
    (await ada.get('/api/rag/documents')).body,
  )
})

test('files are found by a part of their name, in which % and _ are themselves', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  for (const source of ['Lease of the house.pdf', 'lease_2025.pdf', '50% off.md', 'Über uns.md'])
    await ada.post('/api/library/ingest/text', { content: `About ${source}`, metadata: { source } })
  await eve.post('/api/library/ingest/text', {
    content: 'Of another user',
    metadata: { source: 'lease of eve.pdf' },
  })
  const find = async (text: string) => {
    const query = new URLSearchParams({ name_contains: text, sort: 'name' })
    const { body, headers } = await ada.get(`/api/library/documents?${query}`)
    assert.equal(headers.get('x-total-count'), String(body.length))
    return body.map(({ source }: { source: string }) => source)
  }
  assert.deepEqual(await find('LEASE'), ['Lease of the house.pdf', 'lease_2025.pdf'])
  assert.deepEqual(await find('e_2'), ['lease_2025.pdf'])
  assert.deepEqual(await find('0%'), ['50% off.md'])
  assert.deepEqual(await find('Über'), ['Über uns.md'])
  assert.deepEqual(await find('\\'), [])
})

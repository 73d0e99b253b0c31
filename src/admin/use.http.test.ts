// The calls and documents behind the operator's metrics, with their customers, without contents.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { listOperatorCalls } from '#usage/operator-calls.ts'

const SECRET = 'The lighthouse key lies under the third stone.'
type Row = { id: string; at: string; email: string | null; [key: string]: unknown }

/** Reads all pages, one row each. */
async function readRows(root: Client, kind: 'calls' | 'documents', query = ''): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { status, body, text } = await root.get(`/api/admin/${kind}?limit=1${query}${after}`)
    assert.equal(status, 200, text)
    assert.doesNotMatch(text, /lighthouse/)
    rows.push(...body[kind])
    cursor = body.next_cursor
  }
  return rows
}

test('the calls and documents of a day are as many as the metrics count, by customer', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, EMBEDDER: 'local' } })
  const root = await app.as('root', { superuser: true })
  const [ada, bob] = [await app.as('ada', { tier: 'pro' }), await app.as('bob', { tier: 'pro' })]
  const ask = (who: Client) =>
    who.post('/v1/chat/completions', {
      model: 'gpt-6-luna',
      messages: [{ role: 'user', content: SECRET }],
    })
  vendor.play(says('Yes', { usage: { prompt: 3_000, completion: 100 } }))
  await ask(ada)
  await ask(bob)
  vendor.play(refuses(400))
  const failed = await ask(bob)
  const added = { content: SECRET, source: 'lighthouse.txt' }
  for (const who of [ada, bob]) {
    const { status, text } = await who.post('/api/rag/ingest/text', added)
    assert.equal(status, 200, text)
  }
  await app.settle()

  const day = app.clock.now().slice(0, 10)
  const span = `&from=${day}&to=${day}`
  const { totals } = (
    await root.get(`/api/admin/metrics?names=calls,failure_rate,documents${span}`)
  ).body
  const [calls, documents] = [
    await readRows(root, 'calls', span),
    await readRows(root, 'documents', span),
  ]
  const failures = await readRows(root, 'calls', `${span}&outcome=failed`)
  assert.deepEqual(
    totals.map(({ name, value }: { name: string; value: number }) => [name, Math.round(value)]),
    [
      ['calls', calls.length],
      ['failure_rate', Math.round((100 * failures.length) / calls.length)],
      ['documents', documents.length],
    ],
  )
  assert.deepEqual(
    failures.map(({ email, status, outcome, error_code, request_id }) => ({
      ...{ email, status, outcome, error_code, request_id },
    })),
    [
      {
        email: bob.email,
        status: 400,
        outcome: 'failed',
        error_code: failed.body.error.code,
        request_id: failed.headers.get('x-request-id'),
      },
    ],
  )
  assert.deepEqual(
    calls.filter(({ route }) => route === failures[0]?.route).map(({ email }) => email),
    [bob.email, bob.email, ada.email],
    'newest first',
  )
  assert.ok(calls.some(({ cost_usd }) => Number(cost_usd) > 0))
  assert.deepEqual(documents.map(({ email }) => email).sort(), [ada.email, bob.email])
  for (const { characters, chunks, file_bytes } of documents)
    assert.deepEqual([characters, chunks, file_bytes], [SECRET.length, 1, null])

  for (const kind of ['calls', 'documents']) {
    assert.equal((await ada.get(`/api/admin/${kind}`)).status, 403, kind)
    assert.equal((await root.get(`/api/admin/${kind}?cursor=none`)).status, 422, kind)
    assert.equal((await root.get(`/api/admin/${kind}?from=2020-01-01`)).status, 422, kind)
  }
  app.clock.advance(DAY_MS)
  const { body } = await app.post('/api/auth/login', { email: root.email, password: PASSWORD })
  const later = createClient(app.url, body.access_token, root)
  const next = app.clock.now().slice(0, 10)
  for (const kind of ['calls', 'documents'] as const)
    assert.deepEqual(await readRows(later, kind, `&from=${next}`), [], kind)
})

test('a page of rare calls ends early, and the next one continues', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const ask = async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages })
    app.clock.advance(1_000)
  }
  vendor.play(refuses(400))
  await ask()
  vendor.play(says('Yes'))
  for (let n = 0; n < 6; n++) await ask()
  await app.settle()
  const span = { from: '2000-01-01T00:00:00.000Z', before: '9999-01-01T00:00:00.000Z' }
  const read = (cursor: string | undefined) =>
    listOperatorCalls(
      app.platform.db,
      span,
      { outcome: 'failed', cursor, limit: 5 },
      { rows: 2, times: 2 },
    )
  const counts: number[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read(cursor ?? undefined)
    counts.push(page.calls.length)
    cursor = page.next_cursor
  }
  assert.deepEqual(counts, [0, 1])
})

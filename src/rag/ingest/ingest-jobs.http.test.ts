import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Client, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { mockVendor, type Step } from '#testing/mock-vendor.ts'
import { CHUNKS_PER_BATCH } from '../documents/documents.ts'

const ASYNC = { headers: { prefer: 'respond-async' } }

/** The requests to the vendor of embeddings, and its behaviour. */
const vendorAsked: string[] = []
let onEmbed: (inputs: string[]) => void | Promise<void> = () => {}

const embeds: Step = async (call, reply) => {
  const inputs: string[] = [call.body.input].flat()
  try {
    await onEmbed(inputs)
  } catch {
    reply.statusCode = 401
    reply.setHeader('content-type', 'application/json')
    return void reply.end('{"error":{"message":"not now","type":"server_error"}}')
  }
  vendorAsked.push(...inputs)
  const data = inputs.map((input, index) => ({
    index,
    embedding: [...'aeio'].map((letter) => 1 + input.split(letter).length),
  }))
  reply.setHeader('content-type', 'application/json')
  reply.end(
    JSON.stringify({ data, model: call.body.model, usage: { prompt_tokens: 1, total_tokens: 1 } }),
  )
}

/** Returns a text whose chunks all differ. */
function textOf(name: string, chunks: number): string {
  return Array.from(
    { length: chunks },
    (_, n) => `${name} ${String(n).padStart(6, '0')} ${'lorem '.repeat(14)}`,
  ).join('\n\n')
}

const SMALL = { chunk_size: 100, chunk_overlap: 0 }

describe('ingest in the background', () => {
  let app: TestApp
  let ada: Client
  let eve: Client

  const undo: (() => unknown)[] = []
  before(async () => {
    const t = { after: (work: () => unknown) => void undo.unshift(work) } as Parameters<
      typeof testApp
    >[0]
    const vendor = await mockVendor(t)
    vendor.play(embeds)
    app = await testApp(t, {
      env: { ...vendor.env.openai, EMBEDDER: 'openai:text-embedding-3-small' },
    })
    ada = await app.as('ada', { tier: 'pro' })
    eve = await app.as('eve', { tier: 'pro' })
  })
  after(async () => {
    for (const work of undo) await work()
  })

  const rowsOf = async (table: 'rag_chunks' | 'rag_job_inputs' | 'rag_documents', client: Client) =>
    (
      await app.platform.db
        .selectFrom(table)
        .select('user_id')
        .where('user_id', '=', client.userId)
        .execute()
    ).length
  const send = async (client: Client, body: object) => {
    const reply = await client.post('/api/rag/ingest/text', body, ASYNC)
    assert.equal(reply.status, 202, reply.text)
    return reply.body.job_id as string
  }
  const jobOf = async (client: Client, id: string) => (await client.get(`/api/rag/jobs/${id}`)).body

  test('accepts a text at once, stores it later, and reports its progress', async () => {
    const reply = await ada.post(
      '/api/rag/ingest/text',
      {
        content: 'The ferry leaves at nine.',
        external_id: 'ferry',
        metadata: { source: 'ferry.md', year: 1990 },
      },
      { headers: { prefer: 'handling=lenient, Respond-Async; wait=5' } },
    )
    assert.equal(reply.status, 202)
    assert.equal(reply.headers.get('preference-applied'), 'respond-async')
    const address = reply.headers.get('location') ?? ''
    assert.equal(address, `/api/rag/jobs/${reply.body.job_id}`)
    const { body: queued } = await ada.get(address)
    assert.deepEqual(
      [queued.state, queued.stage, queued.done, queued.total, queued.document_ids],
      ['queued', null, 0, null, []],
    )

    await app.settle()
    const { body: done } = await ada.get(address)
    assert.deepEqual(
      [done.state, done.done, done.total, done.chunks_created, done.error],
      ['done', 1, 1, 1, null],
    )
    assert.equal(done.document_ids.length, 1)
    const { body: documents } = await ada.get('/api/rag/documents')
    assert.deepEqual(
      [documents[0].external_id, documents[0].source, documents[0].metadata.year],
      ['ferry', 'ferry.md', 1990],
    )
    assert.equal(await rowsOf('rag_job_inputs', ada), 0)

    const events = await ada.get(address, { headers: { accept: 'text/event-stream' } })
    const lines = events.text.split('\n').filter((line) => line.startsWith('data: '))
    assert.equal(JSON.parse(lines[0]?.slice(6) ?? '').state, 'done')
    assert.equal(lines.at(-1), 'data: [DONE]')
  })

  test('a long text and a file are stored as in the foreground, and an unreadable file is reported', async () => {
    const long = textOf('long', 6_000)
    const id = await send(ada, { content: long, chunk_size: 5_000, chunk_overlap: 0 })
    const form = new FormData()
    form.append('file', new Blob(['%PDF-1.4 this is none']), 'broken.pdf')
    const file = await ada.post('/api/rag/ingest/file', form, ASYNC)
    assert.equal(file.status, 202)
    await app.settle()
    assert.equal((await jobOf(ada, id)).state, 'done')
    const { body: documents } = await ada.get('/api/rag/documents')
    assert.ok(
      documents.some(({ characters }: { characters: number }) => characters === long.length),
    )
    const broken = await jobOf(ada, file.body.job_id)
    assert.deepEqual(
      [broken.state, broken.error.code, broken.source],
      ['failed', 'file_unreadable', 'broken.pdf'],
    )
    assert.match(broken.error.detail, /damaged/)
    assert.equal((await ada.post('/api/rag/ingest/text', { content: 'a\0b' }, ASYNC)).status, 422)
    const { body: listed } = await ada.get('/api/rag/jobs?limit=2')
    assert.equal(listed.length, 2)
    assert.equal(listed[0].id, broken.id, 'newest first')
  })

  test('chunks embedded before a failure are not embedded again', async () => {
    const total = CHUNKS_PER_BATCH * 3 + 10
    const id = await send(ada, { content: textOf('resumed', total), ...SMALL })
    vendorAsked.length = 0
    onEmbed = (inputs) => {
      if (inputs.some((input) => input.includes(`${CHUNKS_PER_BATCH * 2 + 5}`.padStart(6, '0'))))
        throw new Error()
    }
    // An error with the operator’s key is returned as 502 or 503, because it may pass.
    await app.settle()
    const cut = await jobOf(ada, id)
    assert.deepEqual([cut.state, cut.stage, cut.done], ['running', 'storing', CHUNKS_PER_BATCH * 2])
    assert.ok(cut.error.code, 'it says why it waits')
    assert.equal(vendorAsked.length, CHUNKS_PER_BATCH * 2)

    onEmbed = () => {}
    vendorAsked.length = 0
    app.clock.advance(60_000)
    await app.settle()
    const done = await jobOf(ada, id)
    assert.deepEqual([done.state, done.done, done.error], ['done', cut.total, null])
    assert.equal(vendorAsked.length, cut.total - CHUNKS_PER_BATCH * 2)
    const found = await ada.post('/api/rag/search', { query: 'resumed 000003', min_score: 0 })
    assert.ok(found.body.results?.length ?? found.body.length)
  })

  test('cancelling leaves nothing behind, also during the work', async () => {
    const before = await rowsOf('rag_chunks', ada)
    const waiting = await send(ada, { content: 'Never stored.' })
    assert.equal((await ada.delete(`/api/rag/jobs/${waiting}`)).body.error.code, 'ingest_cancelled')
    const id = await send(ada, { content: textOf('cancelled', CHUNKS_PER_BATCH * 2), ...SMALL })
    let batches = 0
    onEmbed = async () => {
      if (++batches === 2) assert.equal((await ada.delete(`/api/rag/jobs/${id}`)).status, 200)
    }
    await app.settle()
    onEmbed = () => {}
    const ended = await jobOf(ada, id)
    assert.deepEqual([ended.state, ended.error.code], ['failed', 'ingest_cancelled'])
    assert.equal(await rowsOf('rag_chunks', ada), before)
    assert.equal(await rowsOf('rag_job_inputs', ada), 0)
    assert.deepEqual(
      (await ada.delete(`/api/rag/jobs/${id}`)).body,
      ended,
      'an ended job does not change',
    )
  })

  test('a job runs with its sender’s current account, plan and key', async () => {
    const changed = async (change: object) => {
      const sam = await app.as(`sam-${Object.keys(change)}`, { tier: 'pro' })
      const id = await send(sam, { content: 'Kept by nobody.' })
      await app.platform.db.updateTable('users').set(change).where('id', '=', sam.userId).execute()
      await app.settle()
      await app.platform.db
        .updateTable('users')
        .set({ is_active: true })
        .where('id', '=', sam.userId)
        .execute()
      return jobOf(sam, id)
    }
    vendorAsked.length = 0
    const blocked = await changed({ is_active: false })
    assert.deepEqual([blocked.state, blocked.error.code], ['failed', 'inactive_account'])
    const kim = await app.as('kim', { tier: 'pro' })
    const lapsed = await send(kim, { content: 'Kept by nobody.' })
    const free = { subscription_tier: 'free' }
    await app.platform.db.updateTable('users').set(free).where('id', '=', kim.userId).execute()
    await app.settle()
    const [job] = await app.platform.db
      .selectFrom('rag_jobs')
      .selectAll()
      .where('id', '=', lapsed)
      .execute()
    assert.deepEqual([job?.state, job?.error_json?.code], ['failed', 'paid_tier_needed'])

    const made = (await ada.post('/api/api-keys', { name: 'revoked' })).body
    const body = { content: 'Sent with a key.' }
    const headers = { ...ASYNC.headers, authorization: `Bearer ${made.key}` }
    const { job_id } = (await app.post('/api/rag/ingest/text', body, { headers })).body
    await ada.delete(`/api/api-keys/${made.id}`)
    await app.settle()
    const revoked = await jobOf(ada, job_id)
    assert.deepEqual([revoked.state, revoked.error.code], ['failed', 'ingest_not_allowed'])
    assert.deepEqual(vendorAsked, [], 'nothing was paid for')
  })

  test('meters a long text by slices, so that a crash costs at most one slice twice, and checks the payer again', async () => {
    const meg = await app.as('meg', { tier: 'pro' })
    const recorded = async () => {
      await app.settle()
      const { groups } = (await meg.get('/api/usage?group_by=model')).body
      return groups.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)
    }
    const before = await recorded()
    await send(meg, { content: textOf('sliced', CHUNKS_PER_BATCH * 16 + 5), ...SMALL })
    assert.equal((await recorded()) - before, 2)

    const id = await send(meg, { content: textOf('blocked', CHUNKS_PER_BATCH * 16 + 5), ...SMALL })
    const block = (is_active: boolean) =>
      app.platform.db.updateTable('users').set({ is_active }).where('id', '=', meg.userId).execute()
    vendorAsked.length = 0
    onEmbed = () => void block(false)
    await app.settle()
    onEmbed = () => {}
    await block(true)
    const { state, error } = await jobOf(meg, id)
    assert.deepEqual(
      [state, error.code, vendorAsked.length],
      ['failed', 'inactive_account', CHUNKS_PER_BATCH * 16],
    )
  })

  test('users take turns, even when one of them sends many documents', async () => {
    for (let n = 0; n < 4; n++) await send(ada, { content: `ada's ${n}` })
    await send(eve, { content: 'eve’s only one' })
    vendorAsked.length = 0
    await app.settle()
    assert.deepEqual(vendorAsked.slice(0, 2), ["ada's 0", 'eve’s only one'])
    assert.equal(vendorAsked.length, 5)
  })

  test('gives up a document that kills its process every time, and continues with the next one', async () => {
    const poison = await send(ada, { content: 'poison' })
    const next = await send(ada, { content: 'the next one' })
    // As after many kills: started, and never ended.
    await app.platform.db
      .updateTable('rag_jobs')
      .set({ state: 'running', attempts: 8 })
      .where('id', '=', poison)
      .execute()
    await app.settle()
    const ended = await jobOf(ada, poison)
    assert.deepEqual([ended.state, ended.error.code], ['failed', 'ingest_given_up'])
    assert.equal((await jobOf(ada, next)).state, 'done')
  })

  test('eve cannot read or cancel ada’s jobs, and no user can fill the disk', async () => {
    const id = await send(ada, { content: 'ada’s alone', external_id: 'hers' })
    for (const method of ['GET', 'DELETE']) {
      const reply = await eve.request(method, `/api/rag/jobs/${id}`)
      assert.deepEqual([reply.status, reply.body.code], [404, 'ingest_job_not_found'])
    }
    assert.ok(!(await eve.get('/api/rag/jobs')).text.includes(id))
    await app.platform.db
      .updateTable('rag_jobs')
      .set({ input_bytes: 1024 ** 3 })
      .where('id', '=', id)
      .execute()
    const refused = await ada.post('/api/rag/ingest/text', { content: 'one more' }, ASYNC)
    assert.deepEqual([refused.status, refused.body.code], [429, 'ingest_queue_full'])
    assert.ok(refused.headers.get('retry-after'))
    assert.equal((await ada.delete(`/api/rag/jobs/${id}`)).status, 200)
    await app.settle()
  })

  test('a list of jobs does not read their requests, which may be large', async () => {
    const id = await send(ada, {
      content: 'Of the list.',
      external_id: 'listed',
      metadata: { source: 'list.txt' },
    })
    await app.settle()
    await app.platform.db
      .updateTable('rag_jobs')
      .set({ request_json: {} as never })
      .where('id', '=', id)
      .execute()

    const listed = (await ada.get('/api/rag/jobs')).body.find(
      (job: { id: string }) => job.id === id,
    )
    assert.deepEqual(
      [listed.state, listed.source, listed.external_id],
      ['done', 'list.txt', 'listed'],
    )
    const one = (await ada.get(`/api/rag/jobs/${id}`)).body
    assert.deepEqual(
      [one.source, one.external_id, one.document_ids.length],
      ['list.txt', 'listed', 1],
    )
  })

  test('deleting a user deletes their waiting documents', async () => {
    const bob = await app.as('bob', { tier: 'pro' })
    await send(bob, { content: 'never read' })
    const gone = await bob.delete('/api/users/me', { password: PASSWORD, confirmation: 'DELETE' })
    assert.ok(gone.status < 300, gone.text)
    await app.settle()
    assert.equal(await rowsOf('rag_job_inputs', bob), 0)
    assert.deepEqual(await app.platform.jobs.dead(), [])
  })
})

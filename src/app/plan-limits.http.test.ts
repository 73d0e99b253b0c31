// The limits of a plan: documents, characters, chunks, concurrent answers and their length.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, beforeEach, suite, test } from 'node:test'
import { storeDocument } from '#rag/ingest/ingest.ts'
import type { MeteredEmbedder } from '#rag/vendor-embedder.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { type MockVendor, mockVendor } from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'

const PLAN = { name: 'Pro', prices: {}, grants: ['ai', 'rag', 'api_keys'] }
const LIMITS = {
  documents_max: 3,
  characters_max: 2_000,
  chunks_max: 12,
  file_bytes_max: 2_500,
  output_tokens_max: 500,
  choices_max: 2,
}
const HI = [{ role: 'user', content: 'Hi' }]

suite('a plan’s limits', () => {
  const t = suiteContext()
  let app: TestApp
  let openai: MockVendor
  let anthropic: MockVendor

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plan-limits-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'catalogue.json')
    const plans = [
      { ...PLAN, tier: 'pro', limits: LIMITS },
      { ...PLAN, tier: 'open', limits: {} },
    ]
    writeFileSync(path, JSON.stringify({ plans }))
    openai = await mockVendor(t)
    anthropic = await mockVendor(t)
    app = await testApp(t, {
      env: { ...openai.env.openai, ...anthropic.env.anthropic, CATALOGUE: path, EMBEDDER: 'local' },
    })
  })
  beforeEach(() => {
    openai.calls.length = 0
    anthropic.calls.length = 0
  })

  const store = (user: Client, content: string, more: object = {}) =>
    user.post('/api/rag/ingest/text', { content, ...more })
  const kept = async (user: Client) => (await user.get('/api/rag/storage')).body

  test('bound the documents that a user keeps, at every address that stores one, and however many come at once', async () => {
    const ada = await app.as('ada', { tier: 'pro' })
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, i) => store(ada, `Note number ${i}.`)),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 3)
    const refused = replies.find(({ status }) => status !== 200)
    assert.deepEqual(
      [refused?.status, refused?.body],
      [
        413,
        {
          detail: 'Storage limit reached',
          code: 'storage_limit_reached',
          limit: 'documents_max',
          max: 3,
        },
      ],
    )
    assert.deepEqual((await kept(ada)).documents, { used: 3, max: 3 })

    const form = new FormData()
    form.append('file', new Blob(['A file.']), 'a.txt')
    const file = await ada.request('POST', '/api/rag/ingest/file', { body: form })
    assert.deepEqual([file.status, file.body.code], [413, 'storage_limit_reached'])
    const params = { name: 'ingest', arguments: { content: 'By a tool.' } }
    const { key } = (await ada.post('/api/api-keys', { name: 'tool' })).body
    const headers = {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
    }
    const tool = await app.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { headers },
    )
    assert.match(tool.text, /Storage limit reached/)

    // A replacement does not count as another document.
    const stored = replies.findIndex(({ status }) => status === 200)
    assert.equal((await store(ada, `Note number ${stored}.`)).status, 200)
    const [document] = (await ada.get('/api/rag/documents')).body
    await ada.delete(`/api/rag/documents/${document.id}`)
    assert.equal((await store(ada, 'First edition.', { external_id: 'book' })).status, 200)
    assert.equal((await store(ada, 'Second edition.', { external_id: 'book' })).status, 200)
    assert.equal((await kept(ada)).documents.used, 3)
    assert.equal((await store(ada, 'Another book.', { external_id: 'other' })).status, 413)
    assert.equal((await kept(ada)).documents.used, 3)
  })

  test('bound their characters and chunks, and a text that is refused leaves nothing behind', async () => {
    const bob = await app.as('bob', { tier: 'pro' })
    const long = await store(bob, 'word '.repeat(401))
    assert.deepEqual([long.status, long.body.limit], [413, 'characters_max'])
    const crumbs = await store(bob, 'word '.repeat(390), { chunk_size: 100, chunk_overlap: 0 })
    assert.deepEqual([crumbs.status, crumbs.body.limit], [413, 'chunks_max'])
    const replacing = await store(bob, 'word '.repeat(390), {
      chunk_size: 100,
      chunk_overlap: 0,
      external_id: 'x',
    })
    assert.deepEqual([replacing.status, replacing.body.limit], [413, 'chunks_max'])
    await app.settle()
    const rows = await app.platform.db
      .selectFrom('rag_chunks')
      .select('version')
      .where('user_id', '=', bob.userId)
      .execute()
    assert.deepEqual(rows, [])
    const { characters, chunks } = await kept(bob)
    assert.deepEqual(
      [characters, chunks],
      [
        { used: 0, max: 2_000 },
        { used: 0, max: 12 },
      ],
    )
    assert.equal((await store(bob, 'word '.repeat(390))).status, 200)
  })

  test('give the last place to one of two that were both on their way when it was free', async () => {
    const gil = await app.as('gil', { tier: 'pro' })
    for (const name of 'ab') assert.equal((await store(gil, `Note ${name}.`)).status, 200)
    const { deps } = app.service.rag
    const both = Promise.withResolvers<void>()
    let embedding = 0
    const embedder: MeteredEmbedder = {
      id: 'slow/model',
      vendor: 'slow',
      model: 'model',
      dims: 1,
      isCalibrated: false,
      toScore: (cosine) => cosine,
      async embed(texts) {
        if (++embedding === 2) both.resolve()
        await both.promise
        return { vectors: texts.map(() => new Float32Array([1])) }
      },
      countedIn: () => embedder,
    }
    const storing = ['First.', 'Second.'].map((text) => {
      const document = { text, metadata: {}, source: null, externalId: null, replacesSource: false }
      const settings = { chunkSize: 1_000, chunkOverlap: 0 }
      const [limits, signal] = [deps.planLimits('pro'), AbortSignal.timeout(60_000)]
      return storeDocument(
        { ...deps, embedder },
        gil.userId,
        { ...document, ...settings },
        signal,
        { limits },
      )
    })
    const outcomes = await Promise.allSettled(storing)
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.match(
      String(outcomes.find((one) => one.status === 'rejected')?.reason),
      /Storage limit reached/,
    )
    assert.deepEqual((await kept(gil)).documents.used, 3)
  })

  test('bound what waits to be stored in the background, with what is kept, and let it take the place of others', async () => {
    const ida = await app.as('ida', { tier: 'pro' })
    const later = { headers: { prefer: 'respond-async' } }
    const send = (content: string, more: object = {}) =>
      ida.post('/api/rag/ingest/text', { content, ...more }, later)
    const sendFile = (content: string, name: string) => {
      const form = new FormData()
      form.append('file', new Blob([content]), name)
      return ida.request('POST', '/api/rag/ingest/file', { body: form, ...later })
    }
    const refusal = (limit: string, max: number) => [
      413,
      { detail: 'Storage limit reached', code: 'storage_limit_reached', limit, max },
    ]
    const told = ({ status, body }: { status: number; body: unknown }) => [status, body]

    assert.deepEqual(told(await send('x'.repeat(2_001))), refusal('characters_max', 2_000))
    assert.deepEqual(
      told(await sendFile('y'.repeat(2_501), 'long.txt')),
      refusal('file_bytes_max', 2_500),
    )
    const crowd = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        send(`Number ${i}. ${'word '.repeat(180)}`, { external_id: `${i}` }),
      ),
    )
    assert.deepEqual(crowd.map(({ status }) => status).sort(), [202, 202, 413, 413, 413, 413])
    const taken = crowd.findIndex(({ status }) => status === 202)
    const again = { external_id: String(taken) }
    assert.deepEqual(told(await send('word '.repeat(180), again)), refusal('characters_max', 2_000))
    await app.settle()
    assert.deepEqual((await kept(ida)).documents.used, 2)

    // A replacement does not count as another document, stored or in progress.
    assert.equal((await send(`Number 7. ${'word '.repeat(180)}`, again)).status, 202)
    assert.equal((await send('A third one.')).status, 202)
    assert.deepEqual(told(await send('A fourth one.')), refusal('documents_max', 3))
    await app.settle()
    assert.equal((await send('A third one.')).status, 202, 'the same text')
    assert.deepEqual(told(await sendFile('A file.', 'a.txt')), refusal('documents_max', 3))
    await app.settle()
    assert.deepEqual((await kept(ida)).documents.used, 3)

    // The same source alone takes no document's place.
    const of = { metadata: { source: 'notes' } }
    for (const { id } of (await ida.get('/api/rag/documents?limit=2')).body)
      await ida.delete(`/api/rag/documents/${id}`)
    assert.equal((await store(ida, 'The first of the notes.', of)).status, 200)
    assert.equal((await send('The second of the notes.', of)).status, 202)
    assert.deepEqual(told(await send('One more.')), refusal('documents_max', 3))
    await app.settle()
    assert.equal((await send('The notes anew.', { ...of, replace: 'source' })).status, 202)
    assert.equal((await send('One more.')).status, 202)
    await app.settle()
    assert.deepEqual((await kept(ida)).documents.used, 3)
  })

  test('let what is over them be replaced where it does not grow, and pay for nothing that is refused', async () => {
    let dora = await app.as('dora', { tier: 'open' })
    for (const name of 'abcde')
      assert.equal((await store(dora, `Note ${name}, long.`, { external_id: name })).status, 200)
    await store(dora, 'Another note.', { metadata: { source: 'notes' } })
    const { userId } = dora
    dora = await app.as('dora', { tier: 'pro' })
    assert.deepEqual((await kept(dora)).documents, { used: 6, max: 3 })
    assert.equal((await store(dora, 'Note a.', { external_id: 'a' })).status, 200, 'a shorter one')
    assert.equal(
      (await store(dora, 'Note b, long.', { metadata: { year: 1990 } })).status,
      200,
      'the same text',
    )
    const source = await store(dora, 'Another.', {
      metadata: { source: 'notes' },
      replace: 'source',
    })
    assert.equal(source.status, 200, source.text)
    assert.equal((await kept(dora)).documents.used, 6)
    // A second name for the same text: the text that it stood for stays with its other name.
    assert.equal((await store(dora, 'Note c, long.', { external_id: 'd' })).status, 200)
    assert.deepEqual((await kept(dora)).documents.used, 5)
    const grown = await store(dora, 'Note c, new.', { external_id: 'd' })
    assert.deepEqual([grown.status, grown.body.limit], [413, 'documents_max'])

    const { deps } = app.service.rag
    let embedded = 0
    const embedder: MeteredEmbedder = {
      id: 'paid/model',
      vendor: 'paid',
      model: 'model',
      dims: 1,
      isCalibrated: false,
      toScore: (cosine) => cosine,
      embed: async (texts) => ({ vectors: texts.map(() => new Float32Array([++embedded])) }),
      countedIn: () => embedder,
    }
    const document = {
      text: 'word '.repeat(1_000),
      metadata: {},
      source: 'notes',
      externalId: 'b',
      replacesSource: true,
      chunkSize: 1_000,
      chunkOverlap: 0,
    }
    const limits = deps.planLimits('pro')
    const storing = storeDocument(
      { ...deps, embedder },
      userId,
      document,
      AbortSignal.timeout(60_000),
      { limits },
    )
    await assert.rejects(storing, /Storage limit reached/)
    assert.equal(embedded, 0)
  })

  test('bound the bytes of the files that are kept, to the byte however many come at once, and a file that goes makes room', async () => {
    const fay = await app.as('fay', { tier: 'pro' })
    const upload = (text: string, size: number, more: Record<string, string> = {}) => {
      const form = new FormData()
      const page = `<html><p>${text}</p><!-- `
      form.append('file', new Blob([page.padEnd(size - 4, '.'), ' -->']), `${text}.html`)
      for (const [name, value] of Object.entries(more)) form.append(name, value)
      return fay.post('/api/rag/ingest/file', form)
    }
    const keptFiles = async () => {
      await app.settle()
      const rows = await app.platform.db
        .selectFrom('rag_originals')
        .select('bytes')
        .where('user_id', '=', fay.userId)
        .execute()
      const sum = rows.reduce((sum, { bytes }) => sum + Number(bytes), 0)
      assert.deepEqual((await kept(fay)).file_bytes, { used: sum, max: 2_500 })
      return sum
    }

    const replies = await Promise.all(
      'uvwxy'.split('').map((name) => upload(`File ${name}`, 1_250)),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 2)
    const refused = replies.find(({ status }) => status !== 200)
    assert.deepEqual(
      [refused?.status, refused?.body.limit, refused?.body.max],
      [413, 'file_bytes_max', 2_500],
    )
    assert.equal(await keptFiles(), 2_500)
    assert.equal((await upload('One byte', 33)).status, 413)
    assert.equal((await store(fay, 'A text has no file.')).status, 200)

    const [first, second] = (await fay.get('/api/rag/documents')).body.filter(
      ({ source }: { source: string }) => source,
    )
    await fay.delete(`/api/rag/documents/${first.id}`)
    assert.equal(await keptFiles(), 1_250)
    assert.equal((await upload('Named', 1_000, { external_id: 'n' })).status, 200)
    assert.equal(
      (await upload('Named anew', 1_251, { external_id: 'n' })).status,
      413,
      'what is replaced is counted off',
    )
    assert.equal((await upload('Named again', 1_250, { external_id: 'n' })).status, 200)
    assert.equal(await keptFiles(), 2_500)
    await fay.delete(`/api/rag/documents/${second.id}`)
    assert.equal(await keptFiles(), 1_250)

    const { key } = (await fay.post('/api/api-keys', { name: 'later' })).body
    const form = new FormData()
    form.append('file', new Blob(['<p>Late</p>'.padEnd(1_250, ' ')]), 'late.html')
    const headers = { authorization: `Bearer ${key}`, prefer: 'respond-async' }
    const queued = await app.request('POST', '/api/rag/ingest/file', { body: form, headers })
    // Before its turn has come another takes the place.
    assert.equal((await upload('Between', 1_250)).status, 200)
    await app.settle()
    const job = (await fay.get(`/api/rag/jobs/${queued.body.job_id}`)).body
    assert.deepEqual([job.state, job.error.code], ['failed', 'storage_limit_reached'])
    assert.equal(await keptFiles(), 2_500)
  })

  test('are part of the plan’s view, and a plan without limits has none', async () => {
    const { plans } = (await app.get('/api/billing/plans')).body
    assert.deepEqual(plans.map(({ limits }: { limits: object }) => limits).at(1), LIMITS)
    const carl = await app.as('carl', { tier: 'open' })
    const replies = await Promise.all(
      Array.from({ length: 5 }, (_, i) => store(carl, `Note number ${i}.`)),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
    assert.deepEqual((await kept(carl)).documents, { used: 5, max: null })
  })

  const chat = (user: Client, more: object) =>
    user.post('/v1/chat/completions', { model: 'gpt-4.1-mini', messages: HI, ...more })

  test('bound how many answers one question has, and how long each may be, in every API', async () => {
    const ada = await app.as('ada', { tier: 'pro' })
    const refused = await chat(ada, { n: 3 })
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.param],
      [403, 'choices_not_allowed', 'n'],
    )
    assert.equal(openai.calls.length, 0)
    assert.equal((await chat(ada, { n: 2, max_tokens: 1_000_000_000 })).status, 200)
    await chat(ada, { max_completion_tokens: 100 })
    await chat(ada, {})
    await chat(ada, { model: 'some-model-nobody-knows' })
    await ada.post('/api/ai/chat', {
      provider: 'openai',
      model: 'gpt-4.1-mini',
      messages: HI,
      max_tokens: 5_000,
    })
    await ada.post('/v1/responses', { model: 'gpt-6-luna', input: 'Hi', max_output_tokens: 90_000 })
    assert.deepEqual(
      openai.calls.map(
        ({ body }) => body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens,
      ),
      [500, 100, 500, 500, 500, 500],
    )
    await ada.post('/v1/messages', { model: 'claude-haiku-5-5', max_tokens: 64_000, messages: HI })
    assert.equal(anthropic.calls[0]?.body.max_tokens, 500)

    const carl = await app.as('carl', { tier: 'open' })
    await chat(carl, { n: 3 })
    assert.deepEqual(
      [openai.calls.at(-1)?.body.n, openai.calls.at(-1)?.body.max_tokens],
      [3, undefined],
    )
  })

  test('only known members of a request reach a vendor, and OpenAI gets a safety identifier for the end user', async () => {
    const ada = await app.as('ada', { tier: 'pro' })
    const paid = {
      models: ['openai/dearest'],
      plugins: [{ id: 'web' }],
      search_parameters: { mode: 'on' },
    }
    for (const model of ['gpt-4.1-mini', 'a-model-of-a-proxy']) {
      for (const [name, value] of Object.entries(paid)) {
        const { status, body } = await chat(ada, { model, [name]: value })
        assert.deepEqual([status, body.error.param], [400, name])
      }
      await chat(ada, { model, seed: 7, wishes: {}, a_word_of_tomorrow: 1 })
    }
    for (const { body } of openai.calls) {
      assert.equal(body.seed, 7)
      for (const name of [...Object.keys(paid), 'wishes', 'a_word_of_tomorrow'])
        assert.ok(!(name in body), name)
    }
    const [own, proxied] = openai.calls
    assert.equal(own?.body.safety_identifier, ada.userId)
    assert.equal(
      proxied?.body.safety_identifier,
      undefined,
      'of servers beside OpenAI nobody asked for it',
    )

    // The identifier cannot be forged for another account, and it differs between two customers of
    // one account.
    await chat(ada, { user: 'customer-1', safety_identifier: 'somebody-else' })
    await chat(ada, { user: 'customer-2' })
    await ada.post('/v1/responses', {
      model: 'gpt-6-luna',
      input: 'Hi',
      safety_identifier: 'somebody-else',
    })
    // Which goes to the responses, too.
    const tools = [
      {
        type: 'function',
        function: { name: 'look', parameters: { type: 'object', properties: {} } },
      },
    ]
    await chat(ada, { model: 'gpt-6-luna', tools, reasoning_effort: 'high', user: 'customer-4' })
    assert.equal(openai.calls.at(-1)?.path, '/v1/responses')
    const identifiers = openai.calls.slice(2).map(({ body }) => body.safety_identifier as string)
    assert.equal(new Set(identifiers).size, 4)
    for (const one of identifiers) assert.match(one, new RegExp(`^${ada.userId}\\.[0-9a-f]{24}$`))
  })
})

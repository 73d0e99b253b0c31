// The ledger and the metrics agree on every call, on every route.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import {
  babbles,
  cuts,
  event,
  mockVendor,
  refuses,
  resets,
  type Step,
  says,
  streams,
} from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]

/** Embeds at seven tokens per text, and answers everything else. */
const embedsOrSays: Step = (call, reply) => {
  if (!call.path.endsWith('/embeddings')) return says('Duroc built it [1].')(call, reply)
  const inputs: string[] = [call.body.input].flat()
  reply.setHeader('content-type', 'application/json')
  reply.end(
    JSON.stringify({
      data: inputs.map((_, index) => ({ index, embedding: [1, 2, 3, 4] })),
      model: call.body.model,
      usage: { prompt_tokens: 7 * inputs.length, total_tokens: 7 * inputs.length },
    }),
  )
}

test('ledger and metrics agree on every route and for every outcome', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, EMBEDDER: 'openai:BAAI/bge-m3', METRICS_TOKEN: 'for-metrics' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const question = 'Who built the lighthouse?'
  const asks: Record<string, () => Promise<{ status: number }>> = {
    chat: () => ada.post('/api/ai/chat', { messages: HI }),
    'chat, streamed': () => ada.post('/api/ai/chat', { messages: HI, stream: true }),
    completions: () => ada.post('/api/ai/completions', { prompt: 'Hi' }),
    '/v1 chat': () => ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI }),
    '/v1 chat, streamed': () =>
      ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI, stream: true }),
    '/v1 embeddings': () =>
      ada.post('/v1/embeddings', { model: 'text-embedding-3-small', input: ['a', 'b'] }),
    ingest: () =>
      ada.post('/api/rag/ingest/text', {
        content: `The lighthouse was built by Amélie Duroc. ${'x '.repeat(900)}`,
      }),
    search: () => ada.post('/api/rag/search', { query: question }),
    query: () => ada.post('/api/rag/query', { question, min_score: 0 }),
    'query, streamed': () => ada.post('/api/rag/query', { question, min_score: 0, stream: true }),
  }
  vendor.play(embedsOrSays)
  for (const [name, ask] of Object.entries(asks)) assert.equal((await ask()).status, 200, name)
  for (const [name, ask] of Object.entries(asks)) {
    vendor.play(resets, embedsOrSays)
    assert.equal((await ask()).status, 200, `${name}, at the second attempt`)
    vendor.play(refuses(400))
    assert.ok((await ask()).status < 500, `${name}, refused`)
    vendor.play(cuts('Half an'))
    await ask()
  }
  vendor.play(embedsOrSays)

  const rows = await app.platform.db.selectFrom('usage_records').selectAll().execute()
  const routes = new Set(rows.map(({ route, outcome }) => `${route} ${outcome}`))
  for (const route of [
    '/api/ai/chat',
    '/v1/embeddings',
    '/api/rag/ingest/text',
    '/api/rag/search',
    '/api/rag/query',
  ]) {
    for (const outcome of ['ok', 'failed'])
      assert.ok(routes.has(`${route} ${outcome}`), `${route} ${outcome}`)
  }
  const { text } = await app.get('/metrics', { headers: { authorization: 'Bearer for-metrics' } })
  const figures = new Map(
    text
      .split('\n')
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
  const sum = (of: (row: (typeof rows)[number]) => number) =>
    rows.reduce((all, row) => all + of(row), 0)
  const summed = (name: string) =>
    [...figures].reduce(
      (all, [line, value]) => (line.startsWith(`${name}{`) ? all + value : all),
      0,
    )

  for (const outcome of ['ok', 'failed', 'cancelled']) {
    const inLedger = rows.filter((row) => row.outcome === outcome).length
    const counted = [...figures].filter(
      ([line]) =>
        line.startsWith('latchkey_ai_calls_total{vendor="openai",') &&
        line.includes(`outcome="${outcome}"`),
    )
    const calls = counted.reduce((all, [, value]) => all + value, 0)
    assert.equal(calls, inLedger, outcome)
  }
  assert.equal(
    summed('latchkey_ai_attempts_total'),
    sum(({ attempts }) => attempts),
  )
  assert.equal(
    figures.get('latchkey_ai_tokens_total{vendor="openai",kind="prompt"}'),
    sum((row) => row.prompt_tokens),
  )
  assert.equal(
    figures.get('latchkey_ai_tokens_total{vendor="openai",kind="completion"}'),
    sum((row) => row.completion_tokens),
  )
  const costs = summed('latchkey_ai_cost_usd_total')
  assert.ok(
    Math.abs(costs * 1e9 - sum((row) => row.cost_nanos)) < rows.length,
    'each record is rounded once',
  )
  assert.equal(summed('latchkey_ai_call_seconds_count'), rows.length)

  const embedded = rows.filter(
    ({ route, vendor: name }) => route === '/api/rag/search' && name === 'openai',
  )
  assert.ok(embedded.length >= 3)
  assert.ok(
    embedded.every(({ model }) => model === 'BAAI/bge-m3'),
    'a name with slashes is one name',
  )
  const again = embedded.find(({ outcome, attempts }) => outcome === 'ok' && attempts === 2)
  assert.equal(again?.tried, 'openai:unreachable,openai:ok')
})

test('records a text embedded in many requests as one call, and charges the part before a late failure', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, EMBEDDER: 'openai:text-embedding-3-small' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const content = 'The lighthouse was built by Amélie Duroc in 1882. '.repeat(2_000)
  const ingest = () =>
    ada.post('/api/rag/ingest/text', { content, chunk_size: 100, chunk_overlap: 0 })
  const records = () =>
    app.platform.db
      .selectFrom('usage_records')
      .select(['attempts', 'tried', 'prompt_tokens', 'outcome', 'model', 'is_estimated'])
      .orderBy('id')
      .execute()

  vendor.play(embedsOrSays)
  const stored = await ingest()
  const requests = vendor.calls.length
  assert.ok(requests > 2)
  vendor.play(embedsOrSays, refuses(401))
  assert.equal((await ingest()).status, 502)
  const inFirst = vendor.calls[0]!.body.input.length

  const [well, failed] = await records()
  assert.deepEqual(
    { ...well },
    {
      attempts: requests,
      tried: 'openai:ok',
      prompt_tokens: 7 * stored.body.chunks_created,
      outcome: 'ok',
      model: 'text-embedding-3-small',
      is_estimated: well!.is_estimated,
    },
  )
  assert.deepEqual(
    [failed!.attempts, failed!.tried, failed!.prompt_tokens, failed!.outcome],
    [2, 'openai:ok,openai:unauthorized', 7 * inFirst, 'failed'],
  )
})

test('charges a model without a known price at the vendor’s highest, marked as an estimate', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, {
    env: { ...vendor.env.openai, ...vendor.env.anthropic, EMBEDDER: 'openai:own/embedder' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  const nova: Step = (_call, reply) => {
    reply.setHeader('content-type', 'application/json')
    const usage = { prompt_tokens: 1_000, completion_tokens: 100 }
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' },
    ]
    reply.end(JSON.stringify({ model: 'gpt-7-nova-2027', choices, usage }))
  }
  const last = () =>
    app.platform.db
      .selectFrom('usage_records')
      .select(['model', 'cost_nanos', 'is_estimated'])
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()

  vendor.play(nova)
  await ada.post('/v1/chat/completions', { model: 'gpt-7-nova', messages: HI })
  // 1,000 at $10 and 100 at $50 a million: GPT-6 Astra's.
  assert.deepEqual(
    { ...(await last()), is_estimated: !!(await last()).is_estimated },
    { model: 'gpt-7-nova-2027', cost_nanos: 15_000_000, is_estimated: true },
  )
  // The requested name has a price, so the vendor's own name for it changes nothing.
  await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  const luna = await last()
  assert.deepEqual([luna.cost_nanos, !!luna.is_estimated], [150_000, false])

  vendor.play(embedsOrSays)
  await ada.post('/api/rag/ingest/text', { content: 'The lighthouse.' })
  const own = await last()
  // Seven tokens at $0.13 a million, the dearest of OpenAI's embedders.
  assert.deepEqual([own.model, own.cost_nanos, !!own.is_estimated], ['own/embedder', 910, true])
  const { groups } = (await ada.get('/api/usage?group_by=model')).body
  assert.ok(groups.every((group: { cost_usd: number }) => group.cost_usd > 0))
})

test('counts a tool call’s arguments when the vendor reports no usage, in a cut stream and in a whole answer', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: vendor.env.openai })
  const ada = await app.as('ada', { tier: 'pro' })
  const code = JSON.stringify({ code: 'let x = 1; '.repeat(100) })
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'write', arguments: code },
  }
  const whole = { role: 'assistant', content: null, tool_calls: [call] }
  const tools = [{ type: 'function', function: { name: 'write', parameters: { type: 'object' } } }]
  const ask = async (stream: boolean) => {
    const body = { model: 'gpt-4.1-mini', messages: HI, tools, stream }
    await ada.post('/v1/chat/completions', body)
    const { completion_tokens, is_estimated } = await app.platform.db
      .selectFrom('usage_records')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    assert.ok(is_estimated)
    return completion_tokens
  }
  const tokens = Math.ceil((code.length + call.function.name.length) / 4)

  vendor.play(
    streams(
      event({ model: 'gpt-4.1-mini', choices: [{ index: 0, delta: { tool_calls: [call] } }] }),
    ),
  )
  assert.equal(await ask(true), tokens)
  vendor.play(
    babbles(
      JSON.stringify({
        model: 'gpt-4.1-mini',
        choices: [{ message: whole, finish_reason: 'tool_calls' }],
      }),
    ),
  )
  assert.equal(await ask(false), tokens)
})

test('does not count the service’s own rejections as failures of the vendor', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...vendor.env.anthropic } })
  const ada = await app.as('ada', { tier: 'pro' })
  const chat = { model: 'claude-haiku-5-5', messages: HI, n: 2 }
  const response = { model: 'claude-haiku-5-5', input: 'Hi', prompt: { id: 'pmpt_1' } }
  const tiered = { model: 'gpt-6-luna', messages: HI, service_tier: 'priority' }
  const message = { model: 'claude-haiku-5-5', max_tokens: 50, messages: HI, speed: 'fast' }
  for (const [path, body, words] of [
    [
      '/v1/chat/completions',
      chat,
      "The request was not sent to vendor 'anthropic': More than one choice",
    ],
    [
      '/v1/chat/completions',
      tiered,
      "The request was not sent to vendor 'openai': 'service_tier' of 'priority'",
    ],
    [
      '/v1/responses',
      response,
      "The request was not sent to vendor 'anthropic': A 'prompt' stored at OpenAI",
    ],
    ['/v1/messages', message, "The request was not sent to vendor 'anthropic': 'speed'"],
  ] as const) {
    for (const stream of [false, true]) {
      const { status, text } = await ada.post(path, { ...body, stream })
      assert.equal(status, 400, text)
      assert.ok(JSON.parse(text).error.message.includes(words), text)
      assert.ok(!text.includes('refused the request'), text)
    }
  }
  assert.equal(vendor.calls.length, 0)
  const records = await app.platform.db.selectFrom('usage_records').selectAll().execute()
  assert.deepEqual(
    [
      ...new Set(
        records.map(
          ({ error_code, attempts, cost_nanos }) => `${error_code} ${attempts} ${cost_nanos}`,
        ),
      ),
    ],
    ['request_not_supported 0 0'],
  )

  vendor.play(refuses(400))
  const { body } = await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI })
  assert.match(body.error.message, /^Vendor 'openai' refused the request/)
})

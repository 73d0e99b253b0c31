// Vendors, aliases and plans' lists of a MODELS file, on every route that accepts a model's name.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Reply, testApp } from '#testing/app.ts'
import { breakStream, cuts, mockVendor, refuses, type Step, says } from '#testing/mock-vendor.ts'

const HI = [{ role: 'user', content: 'Hi' }]
const FAST = 'llama-3.1-8b-instant'

/** Like these vendors, it repeats the requested name of its model. */
const speaks =
  (text: string): Step =>
  (call, reply) => {
    if (call.body.stream) return says(text)(call, reply)
    reply.setHeader('content-type', 'application/json')
    if (call.path.endsWith('/embeddings')) {
      const data = [call.body.input].flat().map((_, index) => ({ index, embedding: [1, 0, 0] }))
      reply.end(JSON.stringify({ data, model: call.body.model, usage: { prompt_tokens: 1_000 } }))
      return
    }
    const choices = [
      { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' },
    ]
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000_000 }
    reply.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        model: call.body.model,
        choices,
        usage,
      }),
    )
  }

/** The vendors of docs/models.json, each played by a server of this test. */
async function setting(t: TestContext, env: Record<string, string> = {}) {
  const groq = await mockVendor(t)
  const mistral = await mockVendor(t)
  const app = await testApp(t, {
    env: {
      MODELS: resolve(import.meta.dirname, '../../docs/models.json'),
      GROQ_API_KEY: 'gsk-test',
      GROQ_BASE_URL: `${groq.url}/openai/v1`,
      MISTRAL_API_KEY: 'mistral-test',
      MISTRAL_BASE_URL: `${mistral.url}/v1`,
      EMBEDDER: 'local',
      AI_CONNECT_TIMEOUT_MS: '500',
      ...env,
    },
  })
  groq.play(speaks('from Groq'))
  mistral.play(speaks('from Mistral'))
  return {
    app,
    groq,
    mistral,
    pro: app.as('ada', { tier: 'pro' }),
    enterprise: app.as('eve', { tier: 'enterprise' }),
  }
}

test('Groq and Mistral need one entry each, and serve as fallbacks for each other', async (t) => {
  const { groq, mistral, enterprise } = await setting(t, { LLM_FALLBACKS: 'mistral' })
  const ask = (more: object = {}) =>
    enterprise.post('/api/ai/chat', { messages: HI, provider: 'groq', ...more })

  const well = await ask()
  assert.deepEqual(
    [well.body.content, well.headers.get('x-latchkey-vendor')],
    ['from Groq', 'groq'],
  )
  assert.equal(groq.calls[0]!.path, '/openai/v1/chat/completions')
  assert.equal(groq.calls[0]!.headers.authorization, 'Bearer gsk-test')
  assert.deepEqual(
    [groq.calls[0]!.body.model, groq.calls[0]!.body.max_tokens],
    ['llama-3.3-70b-versatile', 1_000],
  )

  groq.play(refuses(500))
  const instead = await ask()
  assert.deepEqual([instead.status, instead.body.content], [200, 'from Mistral'])
  assert.equal(instead.headers.get('x-latchkey-vendor'), 'mistral')
  assert.equal(instead.headers.get('x-latchkey-attempts'), '4')
  assert.equal(mistral.calls[0]!.body.model, 'mistral-small-latest')
  assert.equal(mistral.calls[0]!.headers.authorization, 'Bearer mistral-test')

  const streamed = await ask({ stream: true })
  assert.match(streamed.text, /"from ".*"Mistral".*\[DONE\]/s)
  assert.equal(mistral.calls[1]!.body.stream, true)
  assert.equal('stream_options' in mistral.calls[1]!.body, false, 'Mistral refuses the question')
  assert.deepEqual(groq.calls.at(-1)!.body.stream_options, { include_usage: true })

  const calls = [
    { id: 'call_made_elsewhere', type: 'function', function: { name: 'look', arguments: '{}' } },
  ]
  const answered = { role: 'tool', tool_call_id: 'call_made_elsewhere', content: 'a lighthouse' }
  const thought = {
    role: 'assistant',
    content: null,
    tool_calls: calls,
    reasoning_content: 'I look first',
  }
  const messages = [...HI, thought, answered]
  const tools = [{ type: 'function', function: { name: 'look', parameters: {} } }]
  const go = await enterprise.post('/v1/chat/completions', { model: 'groq/x', messages, tools })
  assert.equal(go.status, 200)
  const [, call, answer] = mistral.calls[2]!.body.messages
  assert.match(call.tool_calls[0].id, /^[a-zA-Z0-9]{9}$/)
  assert.equal(answer.tool_call_id, call.tool_calls[0].id)
  assert.equal('reasoning_content' in call, false, 'both refuse what they do not know')

  const { body } = await enterprise.get('/api/usage?group_by=model')
  const cost = Object.fromEntries(
    body.groups.map((one: { key: string; cost_usd: number }) => [one.key, one.cost_usd]),
  )
  assert.equal(cost['llama-3.3-70b-versatile'].toFixed(4), (0.59 + 0.79).toFixed(4))
})

test('reports a vendor’s failures with its own name, whole and cut', async (t) => {
  const { groq, enterprise } = await setting(t)
  const ask = (more: object = {}) =>
    enterprise.post('/api/ai/chat', { messages: HI, provider: 'groq', ...more })
  groq.play(refuses(401))
  assert.match((await ask()).body.detail, /^Vendor 'groq' rejected this service's key or account/)
  groq.play(refuses(400, {}, { error: { message: 'Too odd', code: 'odd_request' } }))
  assert.match((await ask()).body.detail, /^Vendor 'groq' refused the request: Too odd/)
  groq.play(cuts('Half an'))
  assert.match(
    (await ask({ stream: true })).text,
    /event: error\ndata: \{"detail":"Vendor 'groq' failed/,
  )
})

test('sends Groq and Mistral no members that only OpenAI supports, and all common ones', async (t) => {
  const { groq, mistral, enterprise } = await setting(t)
  const common = {
    temperature: 0.5,
    tools: [{ type: 'function', function: { name: 'look', parameters: {} } }],
  }
  const call = { id: 'call12345', type: 'function', function: { name: 'look', arguments: '{}' } }
  const body = {
    ...common,
    seed: 7,
    messages: [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be short.', prompt_cache_breakpoint: { mode: 'explicit' } },
        ],
      },
      { role: 'user', name: 'ada', content: 'Hi' },
      { role: 'assistant', content: null, refusal: 'No.', annotations: [] },
      { role: 'assistant', content: '', tool_calls: [call], refusal: null, audio: null },
      { role: 'tool', tool_call_id: call.id, name: 'look', content: 'a tree' },
    ],
    store: true,
    metadata: { of: 'ada' },
    service_tier: 'flex',
    safety_identifier: 'a',
    user: 'a',
    verbosity: 'low',
    prompt_cache_key: 'a',
    prompt_cache_retention: '24h',
    prompt_cache_options: { mode: 'implicit' },
    prediction: { type: 'content', content: 'A tree.' },
  }

  for (const [vendor, model] of [
    [groq, FAST],
    [mistral, 'mistral-small-latest'],
  ] as const) {
    assert.equal((await enterprise.post('/v1/chat/completions', { ...body, model })).status, 200)
    assert.deepEqual(vendor.calls.at(-1)!.body, {
      model,
      stream: false,
      ...common,
      ...(vendor === groq ? { seed: 7 } : {}),
      messages: [
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be short.' },
            { type: 'text', text: 'Answer briefly.' },
          ],
        },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'No.' },
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, name: 'look', content: 'a tree' },
      ],
    })
  }
})

test('applies the quirks and limits of a vendor in any dialect, and reports its failures', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-models-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const vendor = await mockVendor(t)
  const entry = (dialect: string, more: object) => ({
    name: `my-${dialect}`,
    dialect,
    base_url: vendor.url,
    models: [{ id: 'm', output_tokens_max: 777, ...more }],
  })
  const vendors = [
    entry('openai', { quirks: { temperature: 'refused', length_name: 'max_completion_tokens' } }),
    entry('anthropic', { quirks: { thinking: 'by-default', temperature: 'refused' } }),
    entry('gemini', { quirks: { signs_reasoning: true } }),
  ]
  writeFileSync(join(folder, 'models.json'), JSON.stringify({ vendors }))
  const app = await testApp(t, { env: { MODELS: join(folder, 'models.json') } })
  const ada = await app.as('ada', { tier: 'pro' })
  for (const { name } of vendors) {
    const body = { messages: HI, provider: name, model: 'm', max_tokens: 2_000, temperature: 0.5 }
    vendor.play(says('Well said'))
    for (const stream of [false, true]) {
      const reply = await ada.post('/api/ai/chat', { ...body, stream })
      assert.deepEqual(
        [reply.status, reply.headers.get('x-latchkey-vendor')],
        [200, name],
        reply.text,
      )
    }
    const sent = vendor.calls[0]!.body
    if (name === 'my-openai')
      assert.deepEqual([sent.max_completion_tokens, sent.temperature], [777, undefined])
    if (name === 'my-anthropic')
      assert.deepEqual([sent.max_tokens, sent.temperature], [777, undefined])
    if (name === 'my-anthropic') assert.deepEqual(sent.output_config, { effort: 'low' })
    if (name === 'my-gemini') assert.equal(sent.generationConfig.maxOutputTokens, 777)
    if (name === 'my-gemini')
      assert.deepEqual(sent.generationConfig.thinkingConfig, { thinkingLevel: 'low' })

    vendor.play(refuses(401))
    assert.match(
      (await ada.post('/api/ai/chat', body)).body.detail,
      new RegExp(`^Vendor '${name}' rejected this`),
    )
    vendor.play(breakStream('Half an'))
    assert.match(
      (await ada.post('/api/ai/chat', { ...body, stream: true })).text,
      new RegExp(`"Vendor '${name}' is over`),
    )
  }
  const { body } = await ada.get('/api/ai/models')
  const { input_usd_per_million: input, price_estimated: isEstimated } = body.models.find(
    (one: { provider: string }) => one.provider === 'my-openai',
  )
  assert.deepEqual(
    [input, isEstimated],
    [10, true],
    'without any price it counts at the dearest of all',
  )
})

test('accepts an alias wherever a model is named, within the plan’s list', async (t) => {
  const { groq, mistral, pro } = await setting(t, { LLM_VENDORS: 'groq' })
  const rag = { content: 'The lighthouse was built by Amélie Duroc in 1852.' }
  assert.equal((await pro.post('/api/rag/ingest/text', rag)).status, 200)
  const asks: Record<string, () => Promise<{ status: number; text: string }>> = {
    chat: () => pro.post('/api/ai/chat', { messages: HI, model: 'fast' }),
    'chat, its vendor named': () =>
      pro.post('/api/ai/chat', { messages: HI, provider: 'groq', model: 'fast' }),
    'chat, streamed': () => pro.post('/api/ai/chat', { messages: HI, model: 'fast', stream: true }),
    'chat, nothing named': () => pro.post('/api/ai/chat', { messages: HI }),
    completions: () => pro.post('/api/ai/completions', { prompt: 'Hi', model: 'fast' }),
    '/v1': () => pro.post('/v1/chat/completions', { messages: HI, model: 'fast' }),
    '/v1 by the vendor’s name': () =>
      pro.post('/v1/chat/completions', { messages: HI, model: `groq/${FAST}` }),
    '/v1 by the model’s name': () =>
      pro.post('/v1/chat/completions', { messages: HI, model: FAST }),
    'a question about documents': () =>
      pro.post('/api/rag/query', { question: 'Who built it?', min_score: 0 }),
  }
  for (const [name, ask] of Object.entries(asks)) {
    groq.play(speaks('from Groq'))
    const reply = await ask()
    assert.equal(reply.status, 200, `${name}: ${reply.text}`)
    assert.deepEqual([groq.calls.length, groq.calls[0]?.body.model], [1, FAST], name)
  }
  for (const model of ['embed', 'mistral-embed', 'mistral/mistral-embed']) {
    mistral.play(speaks(''))
    const embedded = await pro.post('/v1/embeddings', { model, input: ['a', 'b'] })
    assert.deepEqual([embedded.status, mistral.calls[0]?.body.model], [200, 'mistral-embed'], model)
  }
})

test('returns 403 on every route for models outside the plan, and uses none as a fallback', async (t) => {
  const { groq, mistral, pro, enterprise } = await setting(t, { LLM_FALLBACKS: 'groq,mistral' })
  const dear = 'llama-3.3-70b-versatile'
  const asks: [ask: string, path: string, body: object][] = [
    ['chat', '/api/ai/chat', { messages: HI, provider: 'groq', model: dear }],
    ['streamed', '/api/ai/chat', { messages: HI, provider: 'groq', model: dear, stream: true }],
    ['completions', '/api/ai/completions', { prompt: 'Hi', provider: 'groq', model: dear }],
    ['/v1', '/v1/chat/completions', { messages: HI, model: dear }],
    [
      '/v1, streamed',
      '/v1/chat/completions',
      { messages: HI, model: `groq/${dear}`, stream: true },
    ],
    ['an alias', '/v1/chat/completions', { messages: HI, model: 'smart' }],
    ['embeddings', '/v1/embeddings', { model: `groq/${dear}`, input: 'a' }],
  ]
  for (const [name, path, body] of asks) {
    const reply = await pro.post(path, body)
    assert.equal(reply.status, 403, `${name}: ${reply.text}`)
    assert.match(
      reply.body.detail ?? reply.body.error.message,
      /^The model '.+' is not part of your plan$/,
    )
  }
  assert.equal((await enterprise.post(...(asks[0]!.slice(1) as [string, object]))).status, 200)

  groq.play(refuses(500))
  const instead = await pro.post('/api/ai/chat', { messages: HI, provider: 'groq', model: 'fast' })
  assert.equal(instead.headers.get('x-latchkey-vendor'), 'mistral')
  assert.ok(groq.calls.every((call) => call.body.model === FAST))
  assert.equal(mistral.calls.length, 1)
})

test('lists the models of the caller’s plan: aliases, prices, limits and capabilities', async (t) => {
  const { pro, enterprise } = await setting(t)
  type Listed = { id: string; owned_by: string }
  const ids = async (client: typeof pro) =>
    (await client.get('/v1/models')).body.data.map(({ id }: Listed) => id)
  const [few, all] = [await ids(pro), await ids(enterprise)]
  assert.deepEqual(few.slice(0, 3), ['fast', 'embed', 'gpt-6-luna'])
  assert.ok(
    few.includes('mistral-large-latest') &&
      !few.includes('smart') &&
      !few.includes('llama-3.3-70b-versatile'),
  )
  assert.ok(['smart', 'llama-3.3-70b-versatile', 'claude-opus-5-5'].every((id) => all.includes(id)))
  assert.equal(new Set(all).size, all.length)

  const { created, ...fast } = (await pro.get('/v1/models/fast')).body
  assert.ok(created > 1_700_000_000 && created <= Date.now() / 1_000)
  assert.deepEqual(fast, {
    id: 'fast',
    object: 'model',
    owned_by: 'groq',
    context_tokens: 131_072,
    output_tokens_max: 131_072,
    price: { input: 0.05, output: 0.08, cached: 0.05 },
    capabilities: {
      temperature: 'taken',
      thinking: false,
      forced_tools: true,
      vision: null,
      pdf: null,
      audio: null,
      tools: null,
      json_schema: null,
    },
  })
  assert.equal((await pro.get('/v1/models/smart')).status, 404)

  const { body } = await pro.get('/api/ai/models')
  assert.deepEqual([body.default_provider, body.default_model], ['groq', FAST])
  assert.deepEqual(
    body.providers.map((one: { provider: string; default_model: string }) => [
      one.provider,
      one.default_model,
    ]),
    [
      ['openai', 'gpt-6-luna'],
      ['groq', FAST],
      ['mistral', 'mistral-small-latest'],
    ],
  )
  const alias = body.models.find(({ id }: Listed) => id === 'fast')
  assert.deepEqual(
    [alias.provider, alias.alias_of, alias.available],
    ['groq', `groq/${FAST}`, true],
  )
})

test('returns 422 for an unknown provider or an alias of another’s model, and 400 without a key', async (t) => {
  const { enterprise } = await setting(t, { GROQ_API_KEY: '', GROQ_BASE_URL: '', SANDBOX: 'off' })
  const ask = (provider: string) => enterprise.post('/api/ai/chat', { messages: HI, provider })
  for (const provider of ['cohere', 'constructor', 'fast', ''])
    assert.equal((await ask(provider)).status, 422, provider)
  const other = await enterprise.post('/api/ai/chat', {
    messages: HI,
    provider: 'mistral',
    model: 'fast',
  })
  assert.deepEqual([other.status, other.body.detail[0].loc], [422, ['body', 'model']])
  const { status, body } = await ask('groq')
  assert.deepEqual([status, body.detail], [400, "Provider 'groq' is not configured"])
})

test('embeds documents with a vendor of the file, in requests of its size', async (t) => {
  const { mistral, pro } = await setting(t, { EMBEDDER: 'embed' })
  const content = Array.from(
    { length: 90 },
    (_, n) => `Paragraph ${n} of the keeper’s log. ${'wind '.repeat(60)}`,
  )
  assert.equal(
    (await pro.post('/api/rag/ingest/text', { content: content.join('\n\n'), chunk_size: 400 }))
      .status,
    200,
  )

  const sizes = mistral.calls.map(({ body }) => body.input.length)
  assert.ok(sizes.length > 2 && Math.max(...sizes) <= 32, String(sizes))
  assert.equal(mistral.calls[0]!.body.model, 'mistral-embed')
})

test('applies known facts about a model behind a proxy’s address', async (t) => {
  const proxy = await mockVendor(t)
  proxy.play(says('Well said'))
  const app = await testApp(t, {
    env: { ...proxy.env.openai, OPENAI_MODEL: 'claude-sonnet-5-5', LLM_VENDORS: 'openai' },
  })
  const ada = await app.as('ada', { tier: 'pro' })
  assert.equal((await ada.post('/api/ai/chat', { messages: HI })).status, 200)
  const sent = proxy.calls[0]!.body
  assert.deepEqual([sent.model, 'temperature' in sent], ['claude-sonnet-5-5', false])

  const { data } = (await ada.get('/v1/models')).body
  const usual = data.find(({ id }: { id: string }) => id === 'claude-sonnet-5-5')
  assert.deepEqual([usual.owned_by, usual.price.input, usual.price.output], ['openai', 2, 10])
})

test('customers see the models of every plan, and which their own includes', async (t) => {
  const { app, pro } = await setting(t)
  type Offer = { id: string; provider: string; plans: string[]; included: boolean }
  const read = async (client: { get(path: string): Promise<Reply> }) => {
    const { status, body } = await client.get('/api/ai/plan-models')
    assert.equal(status, 200)
    return new Map((body.models as Offer[]).map((one) => [`${one.provider}/${one.id}`, one]))
  }
  const ofPro = await read(await pro)
  const luna = ofPro.get('openai/gpt-6-luna')
  assert.deepEqual([luna?.included, luna?.plans], [true, ['Free', 'Pro', 'Enterprise']])
  const astra = ofPro.get('openai/gpt-6.2-astra')
  assert.deepEqual([astra?.included, astra?.plans], [false, ['Free', 'Enterprise']])
  const fast = ofPro.get('groq/fast')
  assert.deepEqual(
    { ...fast, capabilities: null },
    {
      id: 'fast',
      provider: 'groq',
      provider_label: 'Groq',
      routes: [`groq/${FAST}`],
      kind: 'chat',
      context_tokens: 131_072,
      output_tokens_max: 131_072,
      capabilities: null,
      input_usd_per_million: 0.05,
      cached_input_usd_per_million: 0.05,
      output_usd_per_million: 0.08,
      price_estimated: false,
      default: false,
      plans: ['Free', 'Pro', 'Enterprise'],
      included: true,
    },
  )
  const defaults = [...ofPro.values()].filter((one) => 'default' in one && one.default)
  assert.deepEqual(
    defaults.map(({ id }) => id),
    [FAST],
  )

  const ofFree = await read(await app.as('nora'))
  assert.deepEqual([...ofFree.keys()], [...ofPro.keys()])
  // The app's conversations are part of Free, without the API.
  assert.equal(ofFree.get('openai/gpt-6-luna')?.included, true)
  const embeddings = ofFree.get('openai/text-embedding-3-small')
  assert.deepEqual([embeddings?.included, embeddings?.plans], [false, ['Pro', 'Enterprise']])
  assert.equal((await app.get('/api/ai/plan-models')).status, 401)
})

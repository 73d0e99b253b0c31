// Features that a vendor bills in addition to tokens: priced, reserved, or rejected.
import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { type TestApp, testApp } from '#testing/app.ts'
import { buildResponse, mockVendor, refuses, type Step, says } from '#testing/mock-vendor.ts'
import { createOpenAi } from './vendors/openai.ts'

test('charges an unreported search to the vendor that made it, not to a fallback', async (t) => {
  const HI = [{ role: 'user', content: 'Hi' }]
  const openai = await mockVendor(t)
  const anthropic = await mockVendor(t)
  const env = {
    ...openai.env.openai,
    ...anthropic.env.anthropic,
    LLM_FALLBACKS: 'anthropic/claude-haiku-5-5',
  }
  const app = await testApp(t, { env })
  const bob = await app.as('bob', { tier: 'enterprise' })
  const { key } = (await bob.post('/api/api-keys', { name: 'searches' })).body
  const headers = { authorization: `Bearer ${key}` }
  const costOf = async (model: string, step: Step) => {
    openai.play(step)
    const { status, body } = await app.post(
      '/v1/chat/completions',
      { model, messages: HI },
      { headers },
    )
    assert.equal(status, 200, JSON.stringify(body))
    return body.usage.cost_usd as number
  }
  const MODEL = 'gpt-5-search-api'
  assert.ok((await costOf(MODEL, says('found'))) >= 0.01)
  assert.ok((await costOf(MODEL, refuses(503))) < 0.001, 'Claude has not searched')
  assert.ok((await costOf('gpt-6-luna', says('found'))) < 0.001)
})

test('drops unknown members, unless the operator passes or rejects them', () => {
  const sent = (quirks: object, more: object) => {
    const { shape } = createOpenAi('key', { quirks })
    const { body } = shape('llama', { messages: [{ role: 'user', content: 'Hi' }], ...more }, false)
    const { model, stream, messages, ...rest } = JSON.parse(String(body))
    return rest
  }
  const [models, odd] = [{ models: ['a'] }, { odd: 1 }]
  assert.throws(() => sent({}, models), { param: 'models' })
  assert.deepEqual(sent({}, { ...odd, top_k: 5 }), { top_k: 5 })
  assert.deepEqual(sent({ passes: ['models'] }, { ...models, ...odd }), models)
  assert.deepEqual(sent({ unknownMembers: 'taken' }, odd), odd)
  assert.throws(() => sent({ unknownMembers: 'taken' }, models), { param: 'models' })
  // A server may read our member in another case, and the last one counts there.
  for (const name of ['Model', 'N', 'Max_Tokens', 'STREAM'])
    assert.deepEqual(sent({ unknownMembers: 'taken' }, { [name]: 9, topP: 1 }), { topP: 1 }, name)
  for (const name of ['Best_Of', 'API_BASE', 'model\u017f'])
    assert.throws(() => sent({ unknownMembers: 'taken' }, { [name]: 9 }), { param: name })
  assert.throws(() => sent({ unknownMembers: 'refused' }, odd), { param: 'odd' })
  assert.deepEqual(sent({ unknownMembers: 'refused', passes: ['odd'] }, { ...odd, top_k: 5 }), {
    ...odd,
    top_k: 5,
  })
  assert.deepEqual(
    sent({ unknownMembers: 'refused', refuses: ['odd', 'top_k'] }, { ...odd, top_k: 5 }),
    {},
  )
})

suite('features that are billed in addition to tokens', () => {
  const HI = [{ role: 'user', content: 'Hi' }]
  const GPT = 'gpt-6-luna'
  const CLAUDE = 'claude-haiku-5-5'
  const WEATHER = { type: 'function', name: 'weather', parameters: { type: 'object' } }
  const ends: (() => unknown)[] = []
  const t = { after: (end: () => unknown) => void ends.unshift(end) } as unknown as Parameters<
    typeof testApp
  >[0]
  let app: TestApp
  let openai: Awaited<ReturnType<typeof mockVendor>>
  let anthropic: Awaited<ReturnType<typeof mockVendor>>
  let ada: Awaited<ReturnType<TestApp['as']>>
  let headers: Record<string, string>

  before(async () => {
    openai = await mockVendor(t)
    anthropic = await mockVendor(t)
    const vendors = { ...openai.env.openai, ...anthropic.env.anthropic }
    app = await testApp(t, { env: { ...vendors, ALLOW: 'vendor_objects' } })
    ada = await app.as('ada', { tier: 'enterprise' })
    headers = await keyOf({})
  })
  after(async () => {
    for (const end of ends) await end()
  })
  beforeEach(() => {
    openai.calls.length = 0
    anthropic.calls.length = 0
  })

  async function keyOf(more: object): Promise<Record<string, string>> {
    const { body } = await ada.post('/api/api-keys', { name: `key ${Math.random()}`, ...more })
    return { authorization: `Bearer ${body.key}`, 'anthropic-version': '2023-06-01' }
  }
  const respond = (more: object, as = headers) =>
    app.post('/v1/responses', { model: GPT, input: 'Hi', ...more }, { headers: as })
  const message = (more: object, as = headers) =>
    app.post(
      '/v1/messages',
      { model: CLAUDE, max_tokens: 100, messages: HI, ...more },
      { headers: as },
    )
  const chat = (more: object, as = headers) =>
    app.post('/v1/chat/completions', { model: GPT, messages: HI, ...more }, { headers: as })
  const json =
    (body: object): Step =>
    (_call, reply) => {
      reply.setHeader('content-type', 'application/json')
      reply.end(JSON.stringify(body))
    }
  const search = { type: 'web_search' }
  const claudeSearch = { type: 'web_search_20260209', name: 'web_search' }
  const nanos = (reply: { body: { usage: { cost_usd: number } } }) =>
    Math.round(reply.body.usage.cost_usd * 1e9)

  test('rejects tools without a known price by name, wherever they appear', async () => {
    const container = { type: 'auto' }
    const cases: [object, string][] = [
      [{ tools: [{ type: 'image_generation' }] }, 'image_generation'],
      [{ tools: [WEATHER, { type: 'code_interpreter', container }] }, 'code_interpreter'],
      [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 'shell'],
      [
        { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'image_generation' }] }] },
        'image_generation',
      ],
      [
        {
          tools: [
            {
              type: 'namespace',
              name: 'n',
              tools: [{ type: 'namespace', tools: [{ type: 'x_y' }] }],
            },
          ],
        },
        'x_y',
      ],
      [
        { input: [...HI, { type: 'additional_tools', tools: [{ type: 'code_interpreter' }] }] },
        'code_interpreter',
      ],
      [{ model: 'gpt-4.1-mini', tools: [{ type: 'web_search_preview' }] }, 'web_search_preview'],
      [{ tools: [{ type: 'constructor' }] }, 'constructor'],
    ]
    for (const [more, name] of cases) {
      const { status, body } = await respond(more)
      assert.deepEqual([status, body.error.param], [400, 'tools'], name)
      assert.match(body.error.message, new RegExp(`'${name}'.* billed separately`))
    }
    for (const type of ['code_execution_20260120', 'advisor_20260301', 'novelty_20270101']) {
      const { status, body } = await message({ tools: [{ type, name: 'own' }] })
      assert.deepEqual(
        [status, body.type, body.error.type],
        [400, 'error', 'invalid_request_error'],
        type,
      )
      assert.match(body.error.message, new RegExp(`'${type}' is billed separately`))
    }
    assert.equal(openai.calls.length + anthropic.calls.length, 0)
  })

  test('sends unknown members to no vendor, and members of other servers to no translation', async () => {
    const more = { mirostat: { mode: 2 }, novelty: [1.5, null], min_p: 0.1 }
    openai.play(says('Hi'))
    assert.equal((await chat({ model: 'gpt-4.1-mini', ...more })).status, 200)
    const { mirostat, novelty, min_p } = openai.calls.at(-1)!.body
    assert.deepEqual([mirostat, novelty, min_p], [undefined, undefined, 0.1])
    anthropic.play(says('Hi'))
    assert.equal((await chat({ model: CLAUDE, ...more })).status, 200)
    assert.deepEqual(
      Object.keys(anthropic.calls.at(-1)!.body).filter((name) => name in more),
      [],
    )
  })

  test('rejects members by name that are billed separately or select other models or addresses', async () => {
    const cases = {
      models: ['gpt-6-sol'],
      plugins: [{ id: 'web' }],
      search_parameters: { mode: 'on' },
      best_of: 50,
    }
    for (const [name, value] of Object.entries({
      ...cases,
      api_base: 'http://127.0.0.1',
      extra_body: {},
    })) {
      const { status, body } = await chat({ [name]: value })
      assert.deepEqual([status, body.error.param], [400, name])
      assert.match(body.error.message, new RegExp(`'${name}' may be billed separately`))
    }
    assert.equal(openai.calls.length, 0)
  })

  test('passes tools that cost nothing in addition to tokens', async () => {
    const local = { type: 'shell', environment: { type: 'local' } }
    const free = [WEATHER, { type: 'custom', name: 'c' }, local, { type: 'apply_patch' }]
    openai.play(json(buildResponse([])))
    assert.equal((await respond({ tools: free })).status, 200)
    assert.deepEqual(openai.calls.at(-1)!.body.tools, free)
    assert.equal(openai.calls.at(-1)!.body.max_tool_calls, undefined)
    const code = { type: 'code_execution_20260120', name: 'code_execution' }
    const own = [
      { name: 'a', input_schema: { type: 'object' } },
      { type: 'bash_20250124', name: 'bash' },
      code,
    ]
    const fetches = { type: 'web_fetch_20260209', name: 'web_fetch' }
    const bm25 = { type: 'tool_search_tool_bm25_20251119', name: 'find' }
    assert.equal((await message({ tools: [...own, fetches, bm25] })).status, 200)
    const old = await message({
      tools: [...own, { type: 'web_fetch_20250910', name: 'web_fetch' }],
    })
    assert.match(old.body.error.message, /with which it is free/)
  })

  test('rejects tiers, speeds and regions without a price by name, in each API’s shape', async () => {
    for (const service_tier of ['priority', 'fast', 'scale', 'constructor', { a: 1 }]) {
      for (const ask of [respond, chat]) {
        const { status, body } = await ask({ service_tier })
        assert.deepEqual([status, body.error.param], [400, 'service_tier'])
        assert.match(body.error.message, /'service_tier' of .* is billed separately/)
      }
    }
    for (const more of [{ speed: 'fast' }, { service_tier: 'priority' }, { inference_geo: 'eu' }]) {
      const { status, body } = await message(more)
      assert.deepEqual([status, body.error.type], [400, 'invalid_request_error'])
      assert.ok(body.error.message.includes(`'${Object.keys(more)[0]}'`))
    }
    assert.equal(openai.calls.length + anthropic.calls.length, 0)
    for (const service_tier of ['auto', 'default', null])
      assert.equal((await chat({ service_tier })).status, 200)
    const plain = { service_tier: 'standard_only', speed: 'standard', inference_geo: 'global' }
    assert.equal((await message(plain)).status, 200)
  })

  test('charges half for flex when OpenAI confirms it, and a tenth more for a region of Anthropic', async () => {
    const costs: number[] = []
    for (const told of ['flex', 'default', undefined]) {
      openai.play(
        json(buildResponse([], { prompt: 1_000, completion: 1_000 }, { service_tier: told })),
      )
      costs.push(nanos(await respond({ service_tier: 'flex' })))
    }
    assert.deepEqual(costs, [300_000, 600_000, 600_000])
    openai.play(
      json(buildResponse([], { prompt: 1_000, completion: 1_000 }, { service_tier: 'flex' })),
    )
    assert.equal(nanos(await respond({})), 600_000, 'unasked, the account’s own setting')

    const usage = { prompt: 1_000, completion: 1_000 }
    anthropic.play(says('Good day', { usage }), says('Good day', { usage }))
    const [home, abroad] = [nanos(await message({})), nanos(await message({ inference_geo: 'us' }))]
    assert.equal(abroad * 10, home * 11)
  })

  test('ignores a tier in another API’s format', async () => {
    const usage = { prompt: 1_000, completion: 1_000 }
    openai.play(says('Good day', { usage }))
    const { status, body } = await message({ model: GPT, service_tier: 'flex' })
    assert.deepEqual([status, Math.round(body.usage.cost_usd * 1e9)], [200, 600_000])
    assert.equal(openai.calls.at(-1)!.body.service_tier, undefined)
  })

  test('charges file searches at OpenAI’s price, and counts a search of a chat completion', async () => {
    const found = { type: 'file_search_call', id: 'fs_1', status: 'completed' }
    const costs: number[] = []
    for (const output of [[], [found, found]]) {
      openai.play(json(buildResponse(output)))
      costs.push(
        nanos(await respond({ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] })),
      )
    }
    assert.equal(costs[1]! - costs[0]!, 5_000_000)

    const [plain, searched] = [nanos(await chat({})), nanos(await chat({ web_search_options: {} }))]
    assert.equal(searched - plain, 10_000_000)
    const dear = await chat({ model: 'gpt-4o-search-preview' })
    assert.deepEqual([dear.status, dear.body.error.param], [400, 'model'])
  })

  test('bounds the searches of a call with a budget, and keeps the client’s own bound', async () => {
    await respond({ tools: [search, WEATHER] })
    await respond({ tools: [search], max_tool_calls: 3 })
    await respond({ tools: [WEATHER] })
    assert.deepEqual(
      openai.calls.map(({ body }) => body.max_tool_calls),
      [10, 3, undefined],
    )
    await message({ tools: [claudeSearch] })
    await message({ tools: [{ ...claudeSearch, max_uses: 2 }] })
    await message({ tools: [{ ...claudeSearch, max_uses: -5 }] })
    assert.deepEqual(
      anthropic.calls.map(({ body }) => body.tools[0].max_uses),
      [10, 2, 10],
    )
  })

  test('allows one search with a budget for one, and rejects the call with a budget for none', async () => {
    // A search and what it finds: $0.01, and 8,000 tokens of $0.1 a million.
    const one = await keyOf({ budget: { limit_usd: 0.012, period: 'day' } })
    openai.play(json(buildResponse([{ type: 'web_search_call', id: 'ws_1', status: 'completed' }])))
    assert.equal(
      (await respond({ tools: [search], max_output_tokens: 100, max_tool_calls: 50 }, one)).status,
      200,
    )
    assert.equal(openai.calls[0]!.body.max_tool_calls, 1)
    const refused = await respond({ tools: [search], max_output_tokens: 100 }, one)
    assert.deepEqual([refused.status, refused.body.error.code], [429, 'insufficient_quota'])
    assert.equal(
      (await respond({ max_output_tokens: 100 }, one)).status,
      200,
      'without a search there is enough',
    )

    const poor = await keyOf({ budget: { limit_usd: 0.005, period: 'day' } })
    const elsewhere = { model: CLAUDE, tools: [search, WEATHER], max_output_tokens: 100 }
    assert.equal(
      (await respond(elsewhere, poor)).status,
      200,
      'a model that cannot search needs nothing for it',
    )
    anthropic.calls.length = 0

    const none = await keyOf({ budget: { limit_usd: 0.009, period: 'day' } })
    for (const max_uses of [1, 1e308, -1e9, 0]) {
      const { status } = await message({ tools: [{ ...claudeSearch, max_uses }] }, none)
      assert.equal(status, 429, `${max_uses}`)
    }
    assert.equal((await chat({ web_search_options: {}, max_tokens: 10 }, none)).status, 429)
    assert.equal(anthropic.calls.length, 0)
  })

  test('reserves and charges the compaction of a conversation by Anthropic', async () => {
    const iterations = [
      { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
      { type: 'message', input_tokens: 23_000, output_tokens: 1_000 },
    ]
    const answer = {
      type: 'message',
      role: 'assistant',
      model: CLAUDE,
      content: [],
      stop_reason: 'end_turn',
    }
    const asked = { context_management: { edits: [{ type: 'compact_20260112' }] } }
    const usages = [
      { input_tokens: 23_000, output_tokens: 1_000, iterations },
      { input_tokens: 203_000, output_tokens: 4_500 },
    ]
    const costs: number[] = []
    for (const usage of usages) {
      anthropic.play(json({ ...answer, usage }))
      costs.push(nanos(await message(asked)))
    }
    assert.equal(costs[0], costs[1])

    const messages = [{ role: 'user', content: 'word '.repeat(6_000) }]
    // Ten thousand tokens of $0.125 a million, and 100 of $0.5, are $0.0013.
    const tight = await keyOf({ budget: { limit_usd: 0.002, period: 'day' } })
    assert.equal((await message({ ...asked, messages }, tight)).status, 429)
    assert.equal((await message({ messages }, tight)).status, 200)
  })

  test('describes the length of an answer in words to models without a member for it', async () => {
    const said = async (verbosity: string, more: object = {}) => {
      const { status } = await chat({ model: CLAUDE, verbosity, ...more })
      return status === 200 ? anthropic.calls.at(-1)!.body.system : status
    }
    assert.deepEqual(
      [await said('low'), await said('medium'), await said('high'), await said('huge')],
      ['Answer briefly.', undefined, 'Answer at length, with all details.', 400],
    )
    const { body } = await respond({
      model: CLAUDE,
      text: { verbosity: 'low' },
      truncation: 'auto',
      max_tool_calls: 3,
    })
    assert.equal(anthropic.calls.at(-1)!.body.system, 'Answer briefly.')
    assert.deepEqual(
      [body.truncation, body.max_tool_calls, body.text.verbosity],
      ['disabled', 3, 'low'],
    )
    for (const more of [{ truncation: 'always' }, { max_tool_calls: 0 }])
      assert.equal((await respond(more)).status, 400)
  })
})

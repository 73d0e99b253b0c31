// Users see all of their calls and nobody else's, as single calls and as sums that agree to the nanodollar.
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type Client, type Reply, type TestApp, testApp } from '#testing/app.ts'
import { OpenEvents } from '#testing/events.ts'
import {
  cuts,
  mockVendor,
  refuses,
  type Step,
  says,
  silent,
  streams,
} from '#testing/mock-vendor.ts'
import { suiteContext } from '#testing/suite.ts'
import { readCallPage } from './calls.ts'

// The service belongs to this suite: hooks outside a suite would run for every file in the process.
suite('calls one by one', () => {
  const HI = [{ role: 'user', content: 'Hi' }]
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })

  /** Answers embeddings and chats, with a request id like the vendors'. */
  const answers: Step = (call, reply) => {
    reply.setHeader(
      call.path.endsWith('/messages') ? 'request-id' : 'x-request-id',
      'req_of_the_vendor',
    )
    if (!call.path.endsWith('/embeddings')) return says('Duroc built it [1].')(call, reply)
    const inputs: string[] = [call.body.input].flat()
    reply.setHeader('content-type', 'application/json')
    const data = inputs.map((_, index) => ({ index, embedding: [1, 2, 3, 4] }))
    reply.end(
      JSON.stringify({ data, model: call.body.model, usage: { prompt_tokens: 7 * inputs.length } }),
    )
  }

  /** One service for all tests; each has a separate user. */
  const t = suiteContext()
  let app: TestApp
  let vendor: Awaited<ReturnType<typeof mockVendor>>
  before(async () => {
    vendor = await mockVendor(t)
    const env = {
      ...vendor.env.openai,
      ...vendor.env.anthropic,
      EMBEDDER: 'openai:text-embedding-3-small',
    }
    app = await testApp(t, { env })
  })

  type Call = Record<string, unknown> & { id: string; cost_usd: number; at: string }
  const callsOf = async (who: Pick<Client, 'get'>, query = ''): Promise<Call[]> => {
    const { status, body, text } = await who.get(`/api/usage/calls?${query}`)
    assert.equal(status, 200, text)
    return body.calls
  }
  const costOf = (reply: Reply) => reply.headers.get('x-latchkey-cost-usd')
  const nanos = (usd: number) => Math.round(usd * 1e9)

  async function createKey(who: Client, terms: object = {}): Promise<{ id: string; key: string }> {
    return (await who.post('/api/api-keys', { name: 'laptop', ...terms })).body
  }

  /** Disconnects as soon as the vendor has the request. */
  async function abandon(who: Client, body: object): Promise<void> {
    vendor.play(silent)
    const leaving = new AbortController()
    const asked = who
      .request('POST', '/api/ai/chat', { body, signal: leaving.signal })
      .catch(() => null)
    while (vendor.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    leaving.abort()
    await asked
    await vendor.calls[0]?.gone
  }

  const settled = async (who: Client, count: number): Promise<Call[]> => {
    while (true) {
      const calls = await callsOf(who)
      if (calls.length >= count) return calls
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  test('a call shows its status, use, attempts and request ids', async () => {
    const ada = await app.as('one', { tier: 'pro' })
    const { id: keyId, key } = await createKey(ada)
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 200,
      total_tokens: 1_200,
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 150 },
    }
    vendor.play(refuses(500), (_call, reply) => {
      reply.setHeader('x-request-id', 'req_1')
      reply.setHeader('content-type', 'application/json')
      const choices = [
        { index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' },
      ]
      reply.end(JSON.stringify({ object: 'chat.completion', model: 'gpt-6-luna', choices, usage }))
    })
    const body = {
      model: 'gpt-6-luna',
      messages: HI,
      user: 'customer 7',
      metadata: { team: 'blue', 'a "b"': 'c:\nd' },
    }
    const reply = await app.post('/v1/chat/completions', body, bearer(key))

    const [call] = await callsOf(ada)
    // Per million tokens: 600 fresh at $0.10, 400 cached at $0.01, 200 output at $0.50.
    const cost = reply.body.usage.cost_usd
    const { at, latency_ms, id, ...rest } = call!
    assert.ok(
      Math.abs(Date.parse(at) - app.clock.ms()) < 60_000 &&
        typeof latency_ms === 'number' &&
        id.length > 10,
    )
    assert.deepEqual(rest, {
      route: '/v1/chat/completions',
      model: 'gpt-6-luna',
      vendor: 'openai',
      key_id: keyId,
      outcome: 'ok',
      status: 200,
      prompt_tokens: 1_000,
      cached_tokens: 400,
      completion_tokens: 200,
      reasoning_tokens: 150,
      cost_usd: cost,
      is_estimated: false,
      first_token_ms: null,
      attempts: 2,
      tried: 'openai:broken,openai:ok',
      request_id: reply.headers.get('x-request-id'),
      vendor_request_id: 'req_1',
      error_code: null,
      error_detail: null,
      end_user: 'customer 7',
      labels: { team: 'blue', 'a "b"': 'c:\nd' },
      parameters: { messages: HI.length, stream: false },
    })
    assert.deepEqual((await ada.get(`/api/usage/calls/${id}`)).body, call)
    assert.ok(cost > 0)
    assert.deepEqual(
      { ...reply.body.usage },
      { ...usage, cost_usd: cost },
      'the vendor’s own numbers stay',
    )
    assert.equal(vendor.calls.at(-1)?.body.user, 'customer 7')
    assert.equal(
      vendor.calls.at(-1)?.body.metadata,
      undefined,
      'OpenAI refuses it where nothing is stored',
    )
  })

  test('records the outcome of failed, cut and abandoned calls', async () => {
    const ada = await app.as('two', { tier: 'pro' })
    const statuses: Record<string, number> = {}
    const ask = async (name: string, step: Step, body: object = {}) => {
      vendor.play(step)
      statuses[name] = (await ada.post('/api/ai/chat', { messages: HI, ...body })).status
    }
    await ask('refused', refuses(400, { 'x-request-id': 'req_refused' }))
    await ask('unauthorized', refuses(401))
    const gate = Promise.withResolvers<void>()
    vendor.play(cuts('Half an', 'ends', gate.promise))
    const cut = await OpenEvents.open(`${app.url}/api/ai/chat`, ada, {
      body: { messages: HI, stream: true },
    })
    await cut.until(({ data }) => data.token === 'an')
    gate.resolve()
    await cut.end()
    statuses.cut = cut.status
    await ask('streamed', answers, { stream: true })
    await abandon(ada, { messages: HI, stream: true })

    const calls = (await settled(ada, 5)).toReversed()
    const told = calls.map(({ outcome, status, error_code, vendor_request_id }) => [
      outcome,
      status,
      error_code,
      vendor_request_id,
    ])
    assert.deepEqual(told, [
      ['failed', 400, 'vendor_refused', 'req_refused'],
      // The fallback, Anthropic, rejects the key as well.
      ['failed', 502, 'vendor_unauthorized', null],
      ['failed', 200, 'vendor_failed', null],
      ['ok', 200, null, 'req_of_the_vendor'],
      ['cancelled', 499, null, null],
    ])
    assert.deepEqual(Object.values(statuses), [400, 502, 200, 200])
    const begun = calls.map(({ first_token_ms }) => typeof first_token_ms)
    assert.deepEqual(
      begun,
      ['object', 'object', 'number', 'number', 'object'],
      'of streams that have begun',
    )
  })

  test('calls, their sums by every grouping, and the ledger agree to the nanodollar', async () => {
    const ada = await app.as('sums', { tier: 'pro' })
    const { key } = await createKey(ada)
    const odd = { prompt: 333_331, completion: 77_777 }
    for (const [index, user] of ['c1', 'c2', 'c1', '', 'c3'].entries()) {
      vendor.play(index === 4 ? cuts('Half an') : says('Yes', { usage: odd }))
      const model = index % 2 === 0 ? 'gpt-6-luna' : 'claude-haiku-5-5'
      await app.post(
        '/v1/chat/completions',
        { model, messages: HI, user, stream: index > 2 },
        bearer(key),
      )
    }
    vendor.play(answers)
    await ada.post('/v1/embeddings', { model: 'text-embedding-3-small', input: ['a', 'b'] })
    await ada.post('/api/rag/query', { question: 'Who built it?', user: 'c2' })
    await abandon(ada, { messages: HI, user: 'c1' })

    const calls = await settled(ada, 8)
    const { userId } = ada
    const { db } = app.platform
    const records = await db
      .selectFrom('usage_records')
      .selectAll()
      .where('user_id', '=', userId)
      .execute()
    const ledger = records.reduce((sum, { cost_nanos }) => sum + cost_nanos, 0)
    assert.ok(ledger > 0)
    assert.equal(
      calls.reduce((sum, { cost_usd }) => sum + nanos(cost_usd), 0),
      ledger,
    )
    const tokens = (call: Call) => Number(call.prompt_tokens) + Number(call.completion_tokens)
    const columns = {
      model: 'model',
      vendor: 'vendor',
      outcome: 'outcome',
      key: 'key_id',
      end_user: 'end_user',
    }
    for (const [group, column] of Object.entries(columns)) {
      const { totals, groups } = (await ada.get(`/api/usage?group_by=${group}`)).body
      assert.equal(nanos(totals.cost_usd), ledger, group)
      const none = group === 'key' ? 'session' : ''
      for (const { key: name, requests, cost_usd, total_tokens } of groups) {
        const own = calls.filter((call) => (call[column] ?? none) === name)
        const sums = [own.length, own.reduce((sum, one) => sum + nanos(one.cost_usd), 0)]
        assert.deepEqual([requests, nanos(cost_usd)], sums, `${group} ${name}`)
        assert.equal(
          total_tokens,
          own.reduce((sum, one) => sum + tokens(one), 0),
        )
        const query =
          group === 'end_user' && name === '' ? null : `${group}=${encodeURIComponent(name)}`
        if (query) assert.deepEqual(await callsOf(ada, query), own, query)
      }
      assert.equal(
        groups.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0),
        calls.length,
      )
    }
  })

  test('replies have their cost in a header if it is known in time, and under /v1 in the usage', async () => {
    const ada = await app.as('costs', { tier: 'pro' })
    const spent = async (path: string, body: object) => {
      const known = new Set((await callsOf(ada)).map(({ id }) => id))
      const reply = await ada.post(path, body)
      const calls = (await callsOf(ada)).filter(({ id }) => !known.has(id))
      return {
        reply,
        calls,
        cost: calls.reduce((sum, { cost_usd }) => sum + nanos(cost_usd), 0) / 1e9,
      }
    }
    vendor.play(answers)
    await ada.post('/api/rag/ingest/text', { content: 'The lighthouse was built by Amélie Duroc.' })
    const chat = { model: 'claude-haiku-5-5', messages: HI }

    for (const [path, body] of [
      ['/api/ai/chat', { messages: HI }],
      ['/api/ai/completions', { prompt: 'Hi' }],
      ['/v1/chat/completions', chat],
      ['/v1/chat/completions', { ...chat, model: 'gpt-6-luna' }],
      ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'a' }],
      ['/api/rag/search', { query: 'Who?' }],
    ] as const) {
      const { reply, cost, calls } = await spent(path, body)
      assert.deepEqual([reply.status, calls.length], [200, 1], path)
      assert.ok(cost > 0 && Number(costOf(reply)) === cost, `${path}: ${costOf(reply)}`)
      assert.match(costOf(reply) ?? '', /^\d+\.\d*[1-9]$/)
      if (path.startsWith('/v1')) assert.equal(reply.body.usage.cost_usd, cost, path)
    }

    const question = { question: 'Who built it?', min_score: 0 }
    const answered = await spent('/api/rag/query', question)
    assert.deepEqual(
      [answered.calls.length, Number(costOf(answered.reply))],
      [2, answered.cost],
      'of both calls',
    )
    const streamed = await spent('/api/rag/query', { ...question, stream: true })
    assert.deepEqual(
      [streamed.calls.length, costOf(streamed.reply)],
      [2, null],
      'reports no partial cost',
    )

    for (const model of ['claude-haiku-5-5', 'gpt-6-luna']) {
      const asked = { model, messages: HI, stream: true, stream_options: { include_usage: true } }
      const { reply, cost } = await spent('/v1/chat/completions', asked)
      const chunks = reply.text.split('\n\n').filter((line) => line.startsWith('data: {'))
      const usages = chunks.map((line) => JSON.parse(line.slice(6)).usage).filter(Boolean)
      assert.deepEqual([usages.length, usages[0].cost_usd, costOf(reply)], [1, cost, null], model)
    }

    for (const model of ['claude-haiku-5-5', 'gpt-6-luna']) {
      for (const [path, body] of [
        ['/v1/responses', { model, input: 'Hi' }],
        ['/v1/messages', { model, messages: HI, max_tokens: 100 }],
      ] as const) {
        const { reply, cost } = await spent(path, body)
        assert.ok(cost > 0, path)
        assert.deepEqual(
          [reply.body.usage.cost_usd, Number(costOf(reply))],
          [cost, cost],
          `${path} of ${model}`,
        )
        const streamed = await spent(path, { ...body, stream: true })
        const told = [...streamed.reply.text.matchAll(/"cost_usd":([\de.-]+)/g)].map(([, usd]) =>
          Number(usd),
        )
        assert.deepEqual(
          [told, costOf(streamed.reply)],
          [[streamed.cost], null],
          `${path} of ${model}, streamed`,
        )
      }
    }

    vendor.play(refuses(400))
    const refused = await spent('/v1/chat/completions', chat)
    assert.deepEqual([refused.reply.status, costOf(refused.reply)], [400, '0'])
  })

  test('reads the end user and the labels from the members of every API', async () => {
    const ada = await app.as('doors', { tier: 'pro' })
    vendor.play(answers)
    const model = 'claude-haiku-5-5'
    await ada.post('/v1/messages', {
      model,
      messages: HI,
      max_tokens: 9,
      metadata: { user_id: 'claude code' },
    })
    await ada.post('/v1/responses', {
      model: 'gpt-6-luna',
      input: 'Hi',
      safety_identifier: 'agent',
      metadata: { a: 'b' },
    })
    await ada.post('/v1/embeddings', {
      model: 'text-embedding-3-small',
      input: 'a',
      user: 'embedder',
    })
    await ada.post('/api/ai/completions', { prompt: 'Hi', user: 'own', metadata: { c: 'd' } })
    await ada.post('/api/rag/search', { query: 'Who?', user: 'reader' })
    assert.deepEqual(
      (await callsOf(ada)).map(({ route, end_user, labels }) => [route, end_user, labels]),
      [
        ['/api/rag/search', 'reader', {}],
        ['/api/ai/completions', 'own', { c: 'd' }],
        ['/v1/embeddings', 'embedder', {}],
        ['/v1/responses', 'agent', { a: 'b' }],
        ['/v1/messages', 'claude code', { user_id: 'claude code' }],
      ],
    )
  })

  test('a vendor’s chunks pass unchanged, except for the requested usage', async () => {
    const ada = await app.as('chunks', { tier: 'pro' })
    const own =
      '{"id":"x", "odd":  1,"choices":[{"index":0,"delta":{"content":"Yes"},"finish_reason":null}]}'
    const end = '{"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
    vendor.play(streams(`data: ${own}\n\n`, `data: ${end}\n\n`, 'data: [DONE]\n\n'))
    const { text } = await ada.post('/v1/chat/completions', {
      model: 'gpt-6-luna',
      messages: HI,
      stream: true,
    })
    assert.equal(text, `data: ${own}\n\ndata: ${end}\n\ndata: [DONE]\n\n`)

    const last =
      '"output":[{"type":"novelty","id":12345678901234567890}],"usage":{"input_tokens":3,"output_tokens":4'
    vendor.play(
      streams(
        `data: {"type":"response.completed","response":{"object":"response","status":"completed","model":"gpt-6-luna",${last}}}}\n\n`,
      ),
    )
    const response = await ada.post('/v1/responses', {
      model: 'gpt-6-luna',
      input: 'Hi',
      stream: true,
    })
    assert.ok(response.text.includes(`${last},"cost_usd":`), response.text)
  })

  test('pages continue after the previous one while calls are written, and only for their user', async () => {
    const ada = await app.as('pages', { tier: 'pro' })
    const eve = await app.as('eve', { tier: 'pro' })
    vendor.play(answers)
    const ask = async (who: Client) =>
      (await who.post('/api/ai/chat', { messages: HI, user: 'x' })).status
    for (let n = 0; n < 7; n++) assert.equal(await ask(ada), 200)
    await ask(eve)
    const all = await callsOf(ada)

    const seen: Call[] = []
    let cursor: string | null = ''
    const cursors: string[] = []
    while (cursor !== null) {
      const page: Reply = await ada.get(
        `/api/usage/calls?limit=3&end_user=x${cursor && `&cursor=${cursor}`}`,
      )
      seen.push(...page.body.calls)
      cursor = page.body.next_cursor
      if (cursor !== null) cursors.push(cursor)
      await ask(ada)
    }
    assert.deepEqual(seen, all)
    assert.deepEqual(
      all.map(({ at }) => at),
      all.map(({ at }) => at).toSorted((a, b) => (a < b ? 1 : -1)),
      'newest first',
    )
    assert.deepEqual([cursors.length, (await callsOf(ada, 'limit=7')).length], [2, 7])

    for (const wrong of [
      String(cursors[0]),
      `${all[3]?.id}`,
      `${all[3]?.id}.`,
      'x.y',
      '.',
      `${'0'.repeat(600)}`,
    ]) {
      const reply = await eve.get(`/api/usage/calls?cursor=${wrong}`)
      assert.deepEqual([reply.status, reply.text.includes(all[3]!.id)], [422, false], wrong)
    }
    assert.equal((await callsOf(eve)).length, 1)
    assert.deepEqual(await callsOf(eve, `request_id=${all[0]?.request_id}`), [])
    for (const query of [
      'limit=0',
      'limit=1001',
      'outcome=fine',
      'label=team',
      'from=2026-01-02&to=2026-01-01',
      'to=x',
    ]) {
      assert.equal((await ada.get(`/api/usage/calls?${query}`)).status, 422, query)
    }
    const tomorrow = new Date(app.clock.ms() + 86_400_000).toISOString().slice(0, 10)
    assert.deepEqual(await callsOf(ada, `from=${tomorrow}&to=${tomorrow}`), [])
    assert.equal((await app.get('/api/usage/calls')).status, 401)
  })

  test('a label finds only calls with the same name and value', async () => {
    const ada = await app.as('labels', { tier: 'pro' })
    vendor.play(answers)
    const sent: object[] = [
      { team: 'blue', tier: 'gold' },
      { team: 'bluegreen' },
      { 'x"team': 'blue' },
      { note: '"team":"blue"' },
      { note: '\n"team":"blue"\n' },
      { team: 7, no: null, long: 'x'.repeat(513) },
    ]
    for (const metadata of sent) {
      assert.equal(
        (await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI, metadata }))
          .status,
        200,
      )
    }
    const found = async (label: string) =>
      (await callsOf(ada, `label=${encodeURIComponent(label)}`)).map((one) => one.labels)

    assert.deepEqual(await found('team:blue'), [{ team: 'blue', tier: 'gold' }])
    assert.deepEqual(await found('x"team:blue'), [{ 'x"team': 'blue' }])
    assert.deepEqual(await found('note:"team":"blue"'), [{ note: '"team":"blue"' }])
    assert.deepEqual(await found('team:%'), [])
    assert.deepEqual((await callsOf(ada))[0]?.labels, {}, 'drops labels that are not short texts')

    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n}`, 'x']))
    await ada.post('/v1/chat/completions', {
      model: 'gpt-6-luna',
      messages: HI,
      metadata: many,
      user: 'x\0y'.repeat(200),
    })
    await ada.post('/v1/chat/completions', {
      model: 'gpt-6-luna',
      messages: HI,
      user: `${'x\0y'.repeat(200)}z`,
    })
    const [second, first] = await callsOf(ada, 'limit=2')
    assert.equal(Object.keys(first?.labels as object).length, 16)
    assert.equal(String(first?.end_user).length, 256)
    assert.notEqual(first?.end_user, second?.end_user, 'two long names remain distinct')
    assert.equal((await ada.post('/api/ai/chat', { messages: HI, metadata: { a: 1 } })).status, 422)
  })

  test('CSV has all calls in one reply, and no cell is a formula', async () => {
    const ada = await app.as('csv', { tier: 'pro' })
    vendor.play(answers)
    const users = [
      '=HYPERLINK("http://evil.example")',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      ' =1',
      '"=1"',
      'plain',
      'a;b-c',
      'a, =b',
    ]
    // With `;` as the separator, each of these texts contains a second cell.
    const later = [';=WEBSERVICE(A1);', 'x; "=1', 'x\n@SUM(A1)', 'x\r\n=1', 'x\t+1', ';;-1']
    for (const user of [...users, ...later])
      await ada.post('/v1/chat/completions', { model: 'gpt-6-luna', messages: HI, user })
    const headers = { accept: 'text/csv' }

    const reply = await ada.get('/api/usage/calls', { headers })

    assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(
      reply.headers.get('content-disposition') ?? '',
      /^attachment; filename="calls-[\d-]+\.csv"$/,
    )
    const [heads = [], ...rows] = parsedCsv(reply.text)
    const calls = await callsOf(ada)
    assert.deepEqual(heads, Object.keys(calls[0]!))
    const column = (name: string) => rows.map((row) => row[heads.indexOf(name)])
    assert.deepEqual(
      column('id'),
      calls.map(({ id }) => id),
    )
    const cells = column('end_user').toReversed()
    assert.deepEqual(cells, [
      ...users.map((user, index) => (user === '\t=1' ? "'\t'=1" : index < 7 ? `'${user}` : user)),
      ...later.map((user) => user.replace(/[=@+-]/, "'$&")),
    ])
    assert.ok(column('cost_usd').every((cost) => Number(cost) > 0))
    const few = await ada.get('/api/usage/calls?limit=2&end_user=plain', { headers })
    assert.equal(parsedCsv(few.text).length, 2)
  })

  /** RFC 4180. */
  function parsedCsv(text: string): string[][] {
    const cells = [...text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)]
    const rows: string[][] = [[]]
    for (const [, cell = '', end] of cells) {
      rows.at(-1)?.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
      if (end !== ',') rows.push([])
    }
    return rows.slice(0, -1)
  }

  test('a key with limited scopes sees its own calls; a key with only `usage` or without limits sees the account’s', async () => {
    const ada = await app.as('keys', { tier: 'pro' })
    const keys = {
      free: await createKey(ada),
      own: await createKey(ada, { scopes: ['ai', 'usage'] }),
      reader: await createKey(ada, { scopes: ['usage'] }),
      none: await createKey(ada, { scopes: ['ai'] }),
    }
    vendor.play(answers)
    for (const { key } of [keys.free, keys.own, keys.none])
      await app.post('/api/ai/chat', { messages: HI }, bearer(key))
    await ada.post('/api/ai/chat', { messages: HI })
    const seen = async ({ key }: { key: string }) => {
      const { status, body } = await app.get('/api/usage/calls', bearer(key))
      const usage = await app.get('/api/usage', bearer(key))
      return [status, body.calls?.length, usage.body.totals?.requests]
    }

    assert.deepEqual(await seen(keys.free), [200, 4, 4])
    assert.deepEqual(await seen(keys.reader), [200, 4, 4])
    assert.deepEqual(await seen(keys.own), [200, 1, 1])
    assert.deepEqual(await seen(keys.none), [403, undefined, undefined])
    const foreign = await app.get(`/api/usage/calls?key=${keys.free.id}`, bearer(keys.own.key))
    assert.deepEqual(foreign.body.calls, [])
    const { calls } = (await app.get(`/api/usage/calls?key=${keys.free.id}`, bearer(keys.free.key)))
      .body
    const readOne = async ({ key }: { key: string }) =>
      (await app.get(`/api/usage/calls/${calls[0].id}`, bearer(key))).status
    assert.deepEqual([await readOne(keys.reader), await readOne(keys.own)], [200, 404])
    assert.equal(
      (await app.post('/api/ai/chat', { messages: HI }, bearer(keys.reader.key))).status,
      403,
    )
  })

  test('a filter that matches few calls reads a bounded number of rows per page and continues from there', async () => {
    const ada = await app.as('rare', { tier: 'pro' })
    vendor.play(answers)
    for (let n = 0; n < 12; n++)
      await ada.post('/api/ai/chat', { messages: HI, user: n === 0 ? 'rare' : 'often' })
    const today = app.clock.now().slice(0, 10)
    const filter = { from: '2026-01-01', to: today, endUser: 'rare' }
    const scope = { userId: ada.userId, keyId: null }
    const page = (before: string | null) =>
      readCallPage(app.platform.db, scope, filter, { before, limit: 5 }, { rows: 3, times: 2 })

    const first = await page(null)
    const second = await page(first.next)
    const last = second.next === null ? second : await page(second.next)

    assert.deepEqual([first.calls, typeof first.next], [[], 'string'])
    assert.deepEqual(
      [...second.calls, ...(last === second ? [] : last.calls)].map(({ end_user }) => end_user),
      ['rare'],
    )
    assert.equal(last.next, null)
  })

  test('lists the most expensive of a thousand end users, with totals of all', async () => {
    const ada = await app.as('many', { tier: 'pro' })
    const day = app.clock.now().slice(0, 10)
    const rows = Array.from({ length: 1_000 }, (_, index) => ({
      user_id: ada.userId,
      day,
      key_id: 'session',
      model: 'm',
      vendor: 'openai',
      tier: 'pro',
      outcome: 'ok' as const,
      end_user: `customer-${index}`,
      requests: 1,
      prompt_tokens: 10,
      completion_tokens: 1,
      cached_tokens: 0,
      cost_nanos: 1_000 + index,
    }))
    await app.platform.db.insertInto('usage_days').values(rows).execute()
    const { groups, totals, has_more } = (await ada.get('/api/usage?group_by=end_user')).body
    assert.deepEqual([groups.length, has_more, totals.requests], [500, true, 1_000])
    assert.deepEqual([groups[0].key, groups[499].key], ['customer-999', 'customer-500'])
    assert.equal(Math.round(totals.cost_usd * 1e9), 1_000 * 1_000 + (999 * 1_000) / 2)
    const byModel = (await ada.get('/api/usage?group_by=model')).body
    assert.deepEqual([byModel.groups.length, byModel.has_more, byModel.totals], [1, false, totals])
  })
})

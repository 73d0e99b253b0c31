import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RequestOptions, testApp } from '#testing/app.ts'

test('a client of the protocol finds its way with an API key', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'desk' })).body
  const headers = { authorization: `Bearer ${key}`, accept: 'application/json, text/event-stream' }
  const send = (body: unknown, options: RequestOptions = {}) =>
    app.post('/mcp', body, { ...options, headers: { ...headers, ...options.headers } })
  const call = async (method: string, params: object = {}) =>
    (await send({ jsonrpc: '2.0', id: 7, method, params })).body
  const tool = async (name: string, input: object) => (await call('tools/call', { name, arguments: input })).result

  const hello = await call('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  })
  assert.equal(hello.id, 7)
  assert.equal(hello.result.protocolVersion, '2025-06-18')
  assert.ok(hello.result.capabilities.tools)
  assert.equal((await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)

  const { tools } = (await call('tools/list')).result
  assert.deepEqual(
    tools.map((one: { name: string }) => one.name),
    ['search', 'ask', 'ingest', 'list_documents'],
  )
  for (const one of tools) assert.equal(one.inputSchema.type, 'object')

  const stored = await tool('ingest', {
    content: 'The lighthouse was built by Amélie Duroc in 1882.',
    metadata: { place: 'coast' },
  })
  assert.equal(stored.isError, false)
  assert.equal(stored.structuredContent.chunks_created, 1)
  const hits = await tool('search', { query: 'Who built the lighthouse?', filter: { place: 'coast' } })
  assert.match(hits.structuredContent.results[0].content, /Duroc/)
  assert.deepEqual(JSON.parse(hits.content[0].text), hits.structuredContent)
  const asked = await tool('ask', { question: 'Who built the lighthouse?' })
  assert.match(asked.structuredContent.answer, /Duroc/)
  const listed = await tool('list_documents', {})
  assert.equal(listed.structuredContent.total, 1)

  const wrong = await tool('search', { query: 'x', top_k: 500 })
  assert.equal(wrong.isError, true)
  assert.match(wrong.content[0].text, /top_k/)
  assert.equal((await tool('search', { query: 'x', filter: { a: { $regex: 1 } } })).isError, true)
  assert.equal((await call('tools/call', { name: 'constructor' })).error.code, -32602)
  assert.equal((await call('resources/list')).error.code, -32601)
  assert.equal((await send([{ jsonrpc: '2.0', id: 1, method: 'ping' }])).status, 400)
  assert.equal((await send({ id: 1, method: 'ping' })).body.error.code, -32600)

  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
  for (const [origin, withSession] of [
    ['https://tool.example', 403],
    [app.config.urls.base, 200],
  ] as const) {
    assert.equal((await send(ping, { headers: { origin } })).status, 200, 'a page with a key speaks for itself')
    assert.equal((await ada.post('/mcp', ping, { headers: { origin } })).status, withSession)
    assert.equal((await app.post('/mcp', ping, { headers: { origin } })).status, 401)
  }
  const listening = await app.get('/mcp', { headers })
  assert.equal(listening.status, 405)
  assert.equal(listening.headers.get('allow'), 'POST')
})

test('a wrong envelope is told in the protocol’s words', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const send = (body: string, headers: Record<string, string> = {}) =>
    ada.request('POST', '/mcp', { body, headers: { 'content-type': 'application/json', ...headers } })
  const ping = '{"jsonrpc":"2.0","id":7,"method":"ping"}'

  const cases: [string, number, unknown][] = [
    ['{"jsonrpc":', -32700, null],
    ['', -32700, null],
    ['null', -32600, null],
    ['"text"', -32600, null],
    ['[]', -32600, null],
    [`[${ping}]`, -32600, null],
    ['{}', -32600, null],
    ['{"params":null}', -32600, null],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, null],
    ['{"jsonrpc":"2.0","id":7,"method":5}', -32600, null],
    ['{"jsonrpc":"2.0","id":7}', -32600, 7],
    ['{"jsonrpc":"2.0","id":7,"method":"initialize","params":null}', -32602, 7],
    ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}', -32602, 7],
    ['{"jsonrpc":"2.0","id":"a","method":"tools/call","params":[1]}', -32602, 'a'],
    ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"x"}', -32602, 7],
  ]
  for (const [body, code, id] of cases) {
    const reply = await send(body)
    assert.equal(reply.status, 400, `${body}: ${reply.text}`)
    assert.equal(reply.body.jsonrpc, '2.0', body)
    assert.equal(reply.body.error.code, code, body)
    assert.equal(reply.body.id, id, body)
  }

  for (const params of ['{}', '{"name":null}', '{"name":{}}', '{"name":"none","arguments":null}']) {
    const reply = await send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":${params}}`)
    assert.equal(reply.body.error.code, -32602, params)
  }
  const odd = await send('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":[]}}')
  assert.equal(odd.body.result.isError, true)

  const unknown = await send(ping, { 'mcp-protocol-version': '1999-01-01' })
  assert.equal(unknown.status, 400)
  assert.equal(unknown.body.error.code, -32600)
  assert.equal((await send(ping, { 'mcp-protocol-version': '2025-11-25' })).status, 200)
  assert.equal((await send('{"jsonrpc":"2.0","id":1,"result":{}}')).status, 202)
  assert.equal((await send('{"jsonrpc":"2.0","method":"notifications/initialized"}')).status, 202)
})

test('optional arguments are optional in the schemas, and when they are left out', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const call = async (method: string, params: object) =>
    (await ada.post('/mcp', { jsonrpc: '2.0', id: 1, method, params })).body.result

  const { tools } = await call('tools/list', {})
  const required = Object.fromEntries(
    tools.map(({ name, inputSchema }: { name: string; inputSchema: { required?: string[] } }) => [
      name,
      inputSchema.required ?? [],
    ]),
  )
  assert.deepEqual(required, { search: ['query'], ask: ['question'], ingest: ['content'], list_documents: [] })

  for (let i = 0; i < 7; i++) await call('tools/call', { name: 'ingest', arguments: { content: `Lighthouse ${i}.` } })
  const { structuredContent } = await call('tools/call', { name: 'search', arguments: { query: 'lighthouse' } })
  assert.equal(structuredContent.results.length, 5)
})

test('a key that is confined to other scopes is refused', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { key } = (await ada.post('/api/api-keys', { name: 'chat', scopes: ['ai'] })).body

  const reply = await app.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { headers: { authorization: `Bearer ${key}` } },
  )

  assert.equal(reply.status, 403)
})

// A key's limits at creation and by PATCH: each limit's refusals, immediate effect of a change, and
// the limits shown to the key.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hasScope } from '#platform/http/access-control.ts'
import { isInNetworks, isNetwork } from '#platform/http/address.ts'
import { testApp } from '#testing/app.ts'
import { changeKey } from './keys.ts'

const HI = { messages: [{ role: 'user', content: 'Hi' }] }

async function setting(t: TestContext, settings: object = {}, env: Record<string, string> = {}) {
  const app = await testApp(t, { env: { EMBEDDER: 'local', ...env } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { body: key, status } = await ada.post('/api/api-keys', { name: 'k', ...settings })
  assert.equal(status, 201, JSON.stringify(key))
  const withKey = (headers: Record<string, string> = {}) => ({
    headers: { authorization: `Bearer ${key.key}`, ...headers },
  })
  return {
    app,
    ada,
    key,
    get: (path: string, headers?: Record<string, string>) => app.get(path, withKey(headers)),
    post: (path: string, body: object, headers?: Record<string, string>) =>
      app.post(path, body, withKey(headers)),
    patch: (body: object) => ada.patch(`/api/api-keys/${key.id}`, body),
  }
}

const LIMITS = {
  scopes: ['ai', 'usage'],
  models: ['gpt-*'],
  addresses: ['127.0.0.1', '2001:db8::/32'],
  rate_limit: { requests: 5, seconds: 60 },
  monthly_token_limit: 5_000,
  budget: { limit_usd: 2.5, period: 'week' },
  expires_at: '2099-01-01T00:00:00.000Z',
}
const limitsOf = (key: Record<string, unknown>) =>
  Object.fromEntries(
    Object.keys(LIMITS).flatMap((name) => (name in key ? [[name, key[name]]] : [])),
  )

test('all limits are set at creation and by PATCH, what is left out stays, and null lifts', async (t) => {
  const { ada, key, patch } = await setting(t, LIMITS)
  assert.deepEqual(limitsOf(key), LIMITS)
  const { body: other } = await ada.post('/api/api-keys', { name: 'bare' })
  assert.deepEqual(limitsOf(other), { expires_at: null })
  const set = await ada.patch(`/api/api-keys/${other.id}`, { ...LIMITS, name: 'set' })
  assert.deepEqual([set.status, set.body.name, limitsOf(set.body)], [200, 'set', LIMITS])

  let left: Record<string, unknown> = LIMITS
  for (const name of Object.keys(LIMITS)) {
    const { status, body } = await patch({ [name]: null })
    const { [name]: _, ...rest } = left
    left = name === 'expires_at' ? { ...rest, expires_at: null } : rest
    assert.deepEqual([status, limitsOf(body), body.name], [200, left, 'k'], name)
  }
  const listed = (await ada.get('/api/api-keys')).body
  assert.deepEqual(limitsOf(listed.find(({ id }: { id: string }) => id === other.id)), LIMITS)
})

test('wrong limits are refused with their place, at both addresses, and change nothing', async (t) => {
  const { ada, key, patch } = await setting(t, LIMITS)
  const wrong: [object, string][] = [
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['rag:write'] }, 'scopes'],
    [{ rate_limit: { requests: 0, seconds: 60 } }, 'rate_limit'],
    [{ rate_limit: { requests: 5 } }, 'rate_limit'],
    [{ monthly_token_limit: 0 }, 'monthly_token_limit'],
    [{ monthly_token_limit: 1.5 }, 'monthly_token_limit'],
    [{ budget: { limit_usd: 0, period: 'day' } }, 'budget'],
    [{ budget: { limit_usd: -1, period: 'day' } }, 'budget'],
    [{ budget: { limit_usd: '5', period: 'day' } }, 'budget'],
    [{ budget: { limit_usd: 5, period: 'year' } }, 'budget'],
    [{ budget: { limit_usd: 5 } }, 'budget'],
    [{ addresses: [] }, 'addresses'],
    [{ addresses: ['10.0.0.0/33'] }, 'addresses'],
    [{ addresses: ['example.com'] }, 'addresses'],
    [{ addresses: ['10.0.0.1', '::ffff:10.0.0.0/104'] }, 'addresses'],
    [{ models: ['a b'] }, 'models'],
    [{ expires_at: '2020-01-01' }, 'expires_at'],
    [{ expires_at: 'soon' }, 'expires_at'],
  ]
  for (const [body, place] of wrong) {
    for (const reply of [
      await patch(body),
      await ada.post('/api/api-keys', { name: 'x', ...body }),
    ]) {
      assert.equal(reply.status, 422, JSON.stringify(body))
      assert.deepEqual(
        reply.body.detail[0].loc.slice(0, 2),
        ['body', place],
        JSON.stringify(reply.body),
      )
    }
  }
  assert.equal((await patch({})).status, 422)
  const [kept] = (await ada.get('/api/api-keys')).body
  assert.deepEqual([kept.id, limitsOf(kept)], [key.id, LIMITS])
})

test('a key is used from its networks alone, by the address that the proxy in front has seen', async (t) => {
  const env = { TRUST_PROXY: '1', RATE_LIMIT_AI: '3/60', RATE_LIMIT_GENERAL: '100/60' }
  const { app, post, patch } = await setting(
    t,
    { addresses: ['203.0.113.0/24', '2001:db8::/32'] },
    env,
  )
  const from = (address: string) => post('/api/ai/chat', HI, { 'x-forwarded-for': address })

  for (const address of ['198.51.100.9', '2001:db9::1', '127.0.0.1', '::ffff:198.51.100.9']) {
    const { status, body } = await from(address)
    const seen = address.replace('::ffff:', '')
    assert.deepEqual(
      [status, body],
      [403, { detail: `This API key may not be used from ${seen}`, code: 'address_not_allowed' }],
    )
  }
  // Addresses that the client adds before the proxy's are ignored.
  assert.equal((await from('203.0.113.7, 198.51.100.9')).status, 403)
  const openAi = await post(
    '/v1/chat/completions',
    { model: 'gpt-6-luna', ...HI },
    { 'x-forwarded-for': '192.0.2.1' },
  )
  assert.deepEqual([openAi.status, openAi.body.error.code], [403, 'address_not_allowed'])

  // A thief's calls use none of the owner's three calls a minute and have a separate limit.
  for (const address of ['203.0.113.7', '2001:db8:1::7', '::ffff:203.0.113.8']) {
    assert.equal((await from(address)).status, 200, address)
  }
  assert.equal((await from('203.0.113.7')).status, 429)
  assert.deepEqual(
    [(await from('198.51.100.9')).status, (await from('198.51.100.9')).status],
    [429, 429],
  )

  app.clock.advance(61_000)
  assert.equal((await patch({ addresses: ['198.51.100.0/24'] })).status, 200)
  assert.deepEqual(
    [(await from('198.51.100.9')).status, (await from('203.0.113.7')).status],
    [200, 403],
  )
  assert.equal((await patch({ addresses: null })).status, 200)
  assert.equal((await from('192.0.2.1')).status, 200)
})

test('networks are recognized among other texts and contain the right addresses', () => {
  for (const good of [
    '10.0.0.1',
    '0.0.0.0/0',
    '10.1.2.3/8',
    '::1',
    '::/0',
    '2001:DB8::/32',
    '2001:db8::1/128',
  ]) {
    assert.ok(isNetwork(good), good)
  }
  for (const bad of [
    '',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0/8',
    '::1/129',
    '10.0.0.0/8/8',
    'fe80::1%eth0',
  ]) {
    assert.ok(!isNetwork(bad), bad)
  }
  for (const bad of ['::ffff:10.0.0.0/104', '::10.0.0.1', '10.0.0.0/-1', '10.0.0.0/8 ', '*'])
    assert.ok(!isNetwork(bad))
  for (const [network, inside, outside] of [
    ['10.1.2.3/8', '10.255.0.1', '11.0.0.1'],
    ['0.0.0.0/0', '203.0.113.7', '2001:db8::1'],
    ['::/0', '2001:db8::1', '203.0.113.7'],
    ['2001:db8::/33', '2001:db8:7fff::1', '2001:db8:8000::1'],
    ['fe80::/10', 'fe80::1%eth0', 'fec0::1'],
    ['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.8'],
  ] as const) {
    assert.ok(isInNetworks([network], inside), `${inside} in ${network}`)
    assert.ok(!isInNetworks([network], outside), `${outside} not in ${network}`)
  }
  for (const none of ['', 'unix:', 'undefined'])
    assert.ok(!isInNetworks(['0.0.0.0/0', '::/0'], none))
})

test('a key that may only read the documents searches, asks and lists, and changes nothing, over MCP neither', async (t) => {
  const { ada, get, post, patch, app, key } = await setting(t, { scopes: ['rag:read'] })
  const content = 'Parental leave is sixteen weeks for every parent.'
  const { body: stored } = await ada.post('/api/rag/ingest/text', { content })
  const before = (await ada.get('/api/rag/documents')).body
  const said = (method: string, params: object) =>
    post('/mcp', { jsonrpc: '2.0', id: 1, method, params })
  const mcp = async (method: string, params: object = {}) =>
    (await said(method, params)).body.result
  const toolsOf = async () =>
    (await mcp('tools/list')).tools.map(({ name }: { name: string }) => name)
  const ingest = async () => {
    const { status, body } = await said('tools/call', {
      name: 'ingest',
      arguments: { content: 'Eve was here.' },
    })
    return [status, body.result ?? body]
  }

  assert.equal((await post('/api/rag/search', { query: 'parental leave' })).status, 200)
  assert.equal(
    (await post('/api/rag/query', { question: 'How long is parental leave?' })).status,
    200,
  )
  assert.equal((await get('/api/rag/documents')).status, 200)
  assert.deepEqual(await toolsOf(), [
    'search',
    'ask',
    'fetch',
    'list_collections',
    'list_documents',
  ])
  const found = await mcp('tools/call', { name: 'search', arguments: { query: 'parental leave' } })
  assert.equal(found.isError, false)

  const refused = { detail: "This API key is not allowed to use 'rag'", code: 'scope_missing' }
  const removal = await app.request('DELETE', `/api/rag/documents/${stored.document_id}`, {
    headers: { authorization: `Bearer ${key.key}` },
  })
  for (const { status, body } of [await post('/api/rag/ingest/text', { content: 'x' }), removal]) {
    assert.deepEqual([status, body], [403, refused])
  }
  assert.deepEqual(await ingest(), [403, refused])
  for (const path of ['/api/ai/models', '/api/usage', '/api/usage/allowance']) {
    assert.equal((await get(path)).status, 403, path)
  }
  assert.deepEqual((await ada.get('/api/rag/documents')).body, before)

  await patch({ scopes: ['rag'] })
  assert.ok((await toolsOf()).includes('ingest'))
  assert.equal((await ingest())[0], 200)
  await patch({ scopes: ['usage'] })
  assert.deepEqual(
    [(await get('/api/usage')).status, (await get('/api/usage/allowance')).status],
    [200, 200],
  )
  assert.equal((await post('/api/rag/search', { query: 'x' })).status, 403)
})

test('a scope includes its parts, but not a scope that only starts with its name', () => {
  assert.ok(
    hasScope(null, 'rag') && hasScope(['rag'], 'rag:read') && hasScope(['rag:read'], 'rag:read'),
  )
  assert.ok(
    !hasScope(['rag:read'], 'rag') && !hasScope(['ai'], 'rag:read') && !hasScope(['ra'], 'rag'),
  )
})

test('a key can read its rights, its remaining limits and their renewal; a JWT cannot', async (t) => {
  const { app, ada, get, post } = await setting(t, LIMITS)
  assert.equal((await post('/api/ai/chat', HI)).status, 200)
  const { status, body } = await get('/api/api-keys/self')
  assert.equal(status, 200)
  assert.deepEqual([body.name, limitsOf(body), 'key' in body], ['k', LIMITS, false])
  const { requests, tokens, budget } = body.left
  assert.equal(requests.left, 3, 'two have been counted, this one too')
  const wait = Date.parse(requests.renews_at) - app.clock.ms()
  assert.ok(wait > 50_000 && wait <= 60_000, requests.renews_at)
  assert.ok(tokens.used > 0 && tokens.left === 5_000 - tokens.used)
  assert.match(tokens.renews_at, /-01T00:00:00.000Z$/)
  assert.ok(budget.used_usd > 0 && Math.abs(budget.used_usd + budget.left_usd - 2.5) < 1e-9)
  assert.equal(new Date(budget.renews_at).getUTCDay(), 1)

  const session = await ada.get('/api/api-keys/self')
  assert.deepEqual([session.status, session.body.code], [403, 'api_key_needed'])
  const bare = (await ada.post('/api/api-keys', { name: 'bare' })).body
  const told = await app.get('/api/api-keys/self', {
    headers: { authorization: `Bearer ${bare.key}` },
  })
  assert.deepEqual([told.body.id, told.body.left], [bare.id, {}])
  assert.equal((await app.get('/api/api-keys/self')).status, 401)
  const eve = await app.as('eve', { tier: 'pro' })
  assert.deepEqual((await eve.get('/api/usage/allowance')).body.keys, [], 'nobody sees another’s')
})

test('a session that has ended widens no limit, whichever it is; a key that has ended is not revived', async (t) => {
  const { app, ada, key, patch } = await setting(t, LIMITS)
  const [session] = (await ada.get('/api/users/me/sessions')).body
  const ended = { userId: ada.userId, sessionId: session.id }
  app.clock.advance(1_000)
  const expiresAt = new Date(app.clock.ms() + 60_000).toISOString()
  assert.equal((await patch({ expires_at: expiresAt })).status, 200)
  const limits = [
    { scopes: null },
    { models: null },
    { addresses: null },
    { rate: null },
    { monthlyTokens: null },
    { budget: null },
    { expiresAt: null },
  ]
  const { body: spare } = await ada.post('/api/api-keys', { name: 'short', expires_at: expiresAt })
  app.clock.advance(61_000)
  for (const body of [{ expires_at: null }, { budget: null }]) {
    const { status, body: refused } = await ada.patch(`/api/api-keys/${spare.id}`, body)
    assert.deepEqual([status, refused.code], [409, 'key_not_active'])
  }
  assert.equal((await ada.patch(`/api/api-keys/${spare.id}`, { name: 'was short' })).status, 200)

  // The request has passed the check of its bearer when the owner ends the session.
  assert.equal((await ada.delete(`/api/users/me/sessions/${session.id}`)).status, 200)
  for (const change of limits) {
    await assert.rejects(
      changeKey(app.platform, ended, key.id, change),
      { status: 401 },
      JSON.stringify(change),
    )
  }
  const row = await app.platform.db
    .selectFrom('api_keys')
    .select(['scopes_json', 'budget_nanos', 'addresses_json'])
    .where('id', '=', key.id)
    .executeTakeFirstOrThrow()
  assert.deepEqual(
    [row.scopes_json, row.budget_nanos, row.addresses_json?.length],
    [['ai', 'usage'], 2.5e9, 2],
  )
})

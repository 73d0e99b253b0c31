// What a call on a hot path asks of the database names its user, so that the rows of all users may lie on many servers (docs/scaling.md).
import assert from 'node:assert/strict'
import { StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { clientOf, PASSWORD, testApp } from '#testing/app.ts'
import { ON_POSTGRES } from '#testing/database.ts'
import { shopOf } from '#testing/shop.ts'

/** By which column each table of users' rows is spread. Switches are few, and each process holds them all. */
const SPREAD: Record<string, string> = {
  users: 'id',
  one_time_tokens: 'owner',
  ...Object.fromEntries(
    [
      ...['sessions', 'session_tokens', 'user_devices', 'oauth_links', 'totp', 'recovery_codes', 'passkeys'],
      ...['api_keys', 'store_sessions', 'store_checkouts', 'purchases', 'downloads'],
      ...['usage_records', 'usage_days', 'usage_budgets', 'usage_alerts', 'usage_reservations', 'usage_open_calls'],
      ...[
        'ai_replies',
        'rag_stores',
        'rag_documents',
        'rag_external_ids',
        'rag_chunks',
        'rag_vectors',
        'audit_persons',
      ],
      ...['billing_accounts'],
    ].map((table) => [table, 'user_id']),
  ),
}

/** Statements of hot paths that ask all servers, or one that is not the user's, and why. */
const CROSSING: [statement: RegExp, why: string][] = [
  [/from "users" .*where "(users"\.")?email_key" = \?/, 'who signs in says an address: it wants a table of addresses'],
  [
    /from "api_keys".* where .*"(hash|previous_hash)" = \?/,
    'a key does not say whose it is: it wants a table of hashes',
  ],
]

test('no statement of a hot path goes to the rows of several users', {
  skip: ON_POSTGRES && 'the statements are the same',
}, async (t) => {
  const app = await testApp(t)
  const shop = shopOf(app)
  const ada = await app.as('ada', { tier: 'pro' })
  const key = clientOf(app.url, (await ada.post('/api/api-keys', { name: 'one' })).body.key, ada)
  const session = await app.store('POST', '/api/session', { body: { email: ada.email, password: PASSWORD } })
  const cookie = (session.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const hosted = await app.store('GET', '/api/checkout?tier=basic', { headers: { cookie } })
  await shop.pay(hosted.headers.get('location') ?? '')
  await app.settle()
  const refreshed = await app.post('/api/auth/login', { email: ada.email, password: PASSWORD })
  const asked = new Set<string>()
  for (const method of ['run', 'all', 'get', 'iterate'] as const) {
    const real = StatementSync.prototype[method] as (...given: unknown[]) => unknown
    t.mock.method(StatementSync.prototype, method, function (this: StatementSync, ...given: unknown[]) {
      asked.add(this.sourceSQL)
      return real.apply(this, given)
    })
  }

  const messages = [{ role: 'user', content: 'Hello' }]
  const replies = [
    await app.post('/api/auth/login', { email: ada.email, password: PASSWORD }),
    await app.post('/api/auth/refresh', { refresh_token: refreshed.body.refresh_token }),
    await ada.get('/api/auth/me'),
    await ada.post('/api/ai/chat', { messages }),
    await key.post('/api/ai/chat', { messages }),
    await key.post('/v1/chat/completions', { model: 'gpt-6-luna', messages }),
    await ada.get('/api/usage'),
    await ada.get('/api/usage/calls'),
    await ada.get('/api/usage/allowance'),
    await ada.post('/api/rag/ingest/text', { content: 'The lighthouse was lit by forty-one lamps.' }),
    await key.post('/api/rag/search', { query: 'how many lamps' }),
    await ada.get('/api/rag/documents'),
    await app.store('GET', '/api/purchases', { headers: { cookie } }),
    await app.store('GET', '/api/download', { headers: { cookie } }),
  ]
  assert.deepEqual(
    replies.map(({ status }) => status).filter((status) => status >= 300),
    [],
    JSON.stringify(replies.map(({ status, text }) => [status, text.slice(0, 100)])),
  )
  t.mock.restoreAll()

  const crossing = [...asked].filter(crosses)
  const excused = new Set<RegExp>()
  const wrong = crossing.filter((statement) => {
    const known = CROSSING.find(([pattern]) => pattern.test(statement))
    if (known) excused.add(known[0])
    return known === undefined
  })
  assert.deepEqual(wrong, [])
  assert.equal(excused.size, CROSSING.length, 'an excuse that nothing needs')
  assert.ok(asked.size > 40, `${asked.size} statements were seen`)
})

/** Whether a table of users' rows is asked without the user. */
function crosses(statement: string): boolean {
  const tables = [...statement.matchAll(/(?:from|join|update|into) "(\w+)"/g)].map(([, table = '']) => table)
  return tables.some((table) => {
    const column = SPREAD[table]
    if (column === undefined) return false
    if (new RegExp(`insert into "${table}" \\([^)]*"${column}"`).test(statement)) return false
    return !new RegExp(`"(${column}|user_id)" (= \\?|in \\(\\?\\)|= "\\w+"\\.)`).test(statement)
  })
}

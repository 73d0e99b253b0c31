// The allowance of the free plan, which each mailbox has once.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { callerNow } from '#api-keys/caller-now.ts'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop } from '#testing/shop.ts'
import { spend } from '#testing/spend.ts'
import { computeSpan } from '#usage/periods.ts'

const CHAT = { messages: [{ role: 'user', content: 'Hello' }], model: 'gpt-6-luna' }

async function createVerified(app: TestApp, name: string): Promise<Client> {
  const client = await app.as(name)
  await createShop(app).verify(client)
  return client
}

async function readAllowance(client: Client) {
  const { limit_usd, used_usd, period_start } = (await client.get('/api/usage/allowance')).body
  return { limit_usd, used_usd, period_start }
}

/** Reserves a call of this cost and returns the refusal's code, or null. */
async function refusalOf(app: TestApp, { userId }: Client, usd: number): Promise<string | null> {
  const caller = await callerNow(app.platform, { userId, keyId: null })
  assert.ok(caller)
  const { ledger } = app.service.usage
  try {
    const reservation = await ledger.reserve({
      userId,
      keyId: null,
      tier: caller.tier,
      slices: caller.slices,
      promptTokens: 1,
      promptNanos: usd * 1e9,
      tokenNanos: 0,
      completionTokens: 1,
      isTrial: true,
    })
    await ledger.release(reservation)
    return null
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('the free plan has ten cents of calls in each UTC month', async (t) => {
  const app = await testApp(t)
  const ada = await createVerified(app, 'ada')
  assert.deepEqual(await readAllowance(ada), {
    limit_usd: 0.1,
    used_usd: 0,
    period_start: computeSpan('month', app.clock.now()).start,
  })
  assert.deepEqual(
    [await spend(app, ada.userId, 0.06), await spend(app, ada.userId, 0.05)],
    [true, false],
  )
  assert.equal(await refusalOf(app, ada, 0.05), 'budget_exhausted')
  app.clock.advance(31 * DAY_MS)
  assert.equal(await spend(app, ada.userId, 0.1), true)
  assert.equal(await refusalOf(app, ada, 0.01), 'budget_exhausted')
})

test('the free plan stays closed for the APIs of models, documents and keys', async (t) => {
  const app = await testApp(t)
  const ada = await createVerified(app, 'ada')
  const replies = [
    await ada.post('/api/ai/chat', CHAT),
    await ada.get('/api/ai/models'),
    await ada.post('/v1/chat/completions', CHAT),
    await ada.post('/v1/messages', { ...CHAT, max_tokens: 5 }),
    await ada.post('/api/rag/search', { query: 'Hello?' }),
    await ada.get('/api/rag/documents'),
    await ada.post('/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    await ada.post('/api/api-keys', { name: 'laptop' }),
  ]
  assert.deepEqual(
    replies.map(({ status }) => status),
    replies.map(() => 403),
  )
  assert.deepEqual((await ada.get('/api/users/me')).body.entitlements, ['home', 'library'])
})

test('a call that costs needs a verified address on the free plan, others do not', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  assert.equal((await ada.get('/api/users/me')).body.is_verified, false)
  assert.equal(await refusalOf(app, ada, 0.01), 'free_needs_verified_email')
  assert.equal(await refusalOf(app, ada, 0), null)
  const paid = await app.as('paula', { tier: 'pro' })
  assert.equal(await refusalOf(app, paid, 0.01), null)
  await createShop(app).verify(ada)
  assert.equal(await refusalOf(app, ada, 0.01), null)
})

test('a mailbox has one allowance, however its address is written', async (t) => {
  const app = await testApp(t)
  const first = await createVerified(app, 'ada')
  const second = await createVerified(app, 'ada+again')
  assert.equal((await readAllowance(second)).limit_usd, 0.1, 'nobody has used it yet')
  assert.equal(await spend(app, first.userId, 0.02), true)
  assert.equal((await readAllowance(second)).limit_usd, 0)
  assert.equal(await refusalOf(app, second, 0.01), 'free_allowance_taken')
  assert.equal(await refusalOf(app, second, 0), null)

  const other = await createVerified(app, 'ada.b')
  assert.equal(await spend(app, other.userId, 0.02), true, 'another mailbox')
  const gmail = await registerAs(app, 'a.da@gmail.com')
  assert.equal(await spend(app, gmail.userId, 0.02), true)
  const dotted = await registerAs(app, 'A.D.A+x@googlemail.com')
  assert.equal(await refusalOf(app, dotted, 0.01), 'free_allowance_taken')
})

test('a new account of the mailbox has no allowance after the first was deleted', async (t) => {
  const app = await testApp(t)
  const first = await createVerified(app, 'ada')
  assert.equal(await spend(app, first.userId, 0.02), true)
  const gone = await first.delete('/api/users/me', { password: PASSWORD })
  assert.equal(gone.status, 200)
  await app.settle()
  const again = await registerAs(app, first.email)
  assert.notEqual(again.userId, first.userId)
  assert.equal(await refusalOf(app, again, 0.01), 'free_allowance_taken')
  assert.equal((await readAllowance(again)).limit_usd, 0)
  const rows = await app.platform.db.selectFrom('free_marks').selectAll().execute()
  const text = JSON.stringify(rows)
  assert.equal(rows.length, 1)
  for (const secret of [first.email, first.userId, 'ada']) assert.ok(!text.includes(secret), secret)
})

test('an account that moves to another address keeps its allowance, and leaves none behind', async (t) => {
  const app = await testApp(t)
  const ada = await createVerified(app, 'ada')
  assert.equal(await spend(app, ada.userId, 0.02), true)
  await app.platform.db
    .updateTable('users')
    .set({ email: 'lovelace@example.com', email_key: 'lovelace@example.com' })
    .where('id', '=', ada.userId)
    .execute()
  assert.equal(await refusalOf(app, ada, 0.01), null)
  const stranger = await registerAs(app, 'ada+new@example.com')
  assert.equal(await refusalOf(app, stranger, 0.01), 'free_allowance_taken')
})

test('of two accounts of a mailbox that call at the same time, one has the allowance', async (t) => {
  const app = await testApp(t)
  const people = await Promise.all(
    ['ada+1', 'ada+2', 'ada+3'].map((name) => createVerified(app, name)),
  )
  const results = await Promise.all(people.map((one) => refusalOf(app, one, 0.01)))
  assert.deepEqual(results.toSorted(), ['free_allowance_taken', 'free_allowance_taken', null])
})

test('a former subscriber has the free allowance of the month, not the rest of the paid one', async (t) => {
  const app = await testApp(t)
  const ada = await createVerified(app, 'ada')
  const shop = createShop(app)
  await shop.subscribe(ada)
  assert.equal(await spend(app, ada.userId, 0.03), true)
  await shop.portal(ada, 'cancel-now')
  await app.settle()
  const { body } = await ada.get('/api/billing/subscription')
  assert.equal(body.tier, 'free')
  const { limit_usd, used_usd } = await readAllowance(ada)
  assert.deepEqual([limit_usd, used_usd], [0.1, 0.03])
  assert.deepEqual(
    [await spend(app, ada.userId, 0.07), await spend(app, ada.userId, 0.01)],
    [true, false],
  )
})

test('a catalogue’s own free plan can have an allowance, and has none without one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'free-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const pro = { tier: 'pro', name: 'Pro', grants: ['ai'], prices: {} }
  const start = async (name: string, plans: object[]) => {
    const CATALOGUE = join(folder, `${name}.json`)
    writeFileSync(CATALOGUE, JSON.stringify({ plans }))
    return testApp(t, { env: { CATALOGUE } })
  }
  const free = { tier: 'free', name: 'Visitor', grants: ['home'], allowance_usd: 0.5 }
  const given = await start('given', [free, pro])
  const ada = await createVerified(given, 'ada')
  assert.equal((await readAllowance(ada)).limit_usd, 0.5)
  assert.equal(await spend(given, ada.userId, 0.5), true)
  const again = await createVerified(given, 'ada+again')
  assert.equal(await refusalOf(given, again, 0.01), 'free_allowance_taken')

  const closed = await start('closed', [pro])
  const eve = await closed.as('eve')
  assert.deepEqual((await eve.get('/api/users/me')).body.entitlements, [])
})

async function registerAs(app: TestApp, email: string): Promise<Client> {
  const reply = await app.post('/api/auth/register', { email, password: PASSWORD })
  assert.ok(reply.status < 300, reply.text)
  const { body } = await app.post('/api/auth/login', { email, password: PASSWORD })
  const client = createClient(app.url, body.access_token, {
    email,
    userId: body.user.id,
    refreshToken: body.refresh_token,
  })
  await createShop(app).verify(client)
  return client
}

// The operator's view of all usage: exact sums, and durations from the calls. Customers cannot see
// it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, testApp } from '#testing/app.ts'
import { cuts, mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { sampleCalls, sumUsersUsage } from '#usage/operator-sums.ts'

const SECRET = 'The lighthouse key lies under the third stone.'
const HI = [{ role: 'user', content: SECRET }]

type Group = {
  key: string
  requests: number
  failed: number
  cost_usd: number
  email: string | null
}
const nanos = (usd: number) => Math.round(usd * 1e9)

test('usage of all users is summed exactly by each grouping and shown only to superusers', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, ...vendor.env.anthropic } })
  const ada = await app.as('ada', { tier: 'pro' })
  const bob = await app.as('bob', { tier: 'enterprise' })
  const root = await app.as('root', { superuser: true })
  const ask = async (who: Client, model: string, more: object = {}) =>
    (await who.post('/v1/chat/completions', { model, messages: HI, ...more })).status

  vendor.play(says('Yes it does', { usage: { prompt: 3_331, completion: 777 } }))
  for (const model of ['gpt-6-luna', 'claude-haiku-5-5', 'claude-haiku-5-5']) await ask(ada, model)
  for (let n = 0; n < 3; n++) await ask(bob, 'gpt-6-luna', { stream: true })
  vendor.play(refuses(400))
  await ask(bob, 'gpt-6-luna')
  vendor.play(cuts('Half an'))
  await ask(ada, 'gpt-6-luna', { stream: true })

  const seen = async (query: string) => {
    const { status, body, text } = await root.get(`/api/admin/usage?${query}`)
    assert.equal(status, 200, text)
    assert.equal(text.includes('lighthouse'), false)
    return body as {
      totals: Group & Record<string, never>
      groups: Group[]
      top_users: { email: string }[]
    }
  }
  const own = await Promise.all(
    [ada, bob].map(async (who) => (await who.get('/api/usage')).body.totals),
  )
  const { totals, groups: days, top_users } = await seen('')
  const all = own.reduce((sum, { cost_usd }) => sum + nanos(cost_usd), 0)
  assert.ok(all > 0)
  assert.deepEqual([totals.requests, totals.failed, nanos(totals.cost_usd)], [8, 2, all])
  assert.deepEqual(
    days.map(({ key, requests }) => [key, requests]),
    [[app.clock.now().slice(0, 10), 8]],
  )
  const ofGroups = async (by: string) =>
    (await seen(`group_by=${by}`)).groups
      .map(({ key, requests, failed }) => [key, requests, failed])
      .sort()
  const expected: Record<string, unknown[][]> = {
    vendor: [
      ['anthropic', 2, 0],
      ['openai', 6, 2],
    ],
    model: [
      ['claude-haiku-5-5', 2, 0],
      ['gpt-6-luna', 6, 2],
    ],
    plan: [
      ['enterprise', 4, 1],
      ['pro', 4, 1],
    ],
    outcome: [
      ['failed', 2, 2],
      ['ok', 6, 0],
    ],
    user: [
      [ada.userId, 4, 1],
      [bob.userId, 4, 1],
    ].sort(),
  }
  for (const [by, groups] of Object.entries(expected)) {
    assert.deepEqual(await ofGroups(by), groups, by)
    const costs = (await seen(`group_by=${by}`)).groups.reduce(
      (sum, { cost_usd }) => sum + nanos(cost_usd),
      0,
    )
    assert.equal(costs, all, by)
  }
  const users = (await seen('group_by=user')).groups
  assert.deepEqual(users.map(({ email }) => email).sort(), [ada.email, bob.email])
  assert.deepEqual(top_users.map(({ email }) => email).sort(), [ada.email, bob.email])

  const latencies = await app.platform.db
    .selectFrom('usage_records')
    .select('latency_ms')
    .where('outcome', '=', 'ok')
    .orderBy('latency_ms')
    .execute()
  const { body } = await root.get('/api/admin/usage?group_by=vendor')
  const sorted = latencies.map(({ latency_ms }) => latency_ms)
  assert.deepEqual(body.totals.latency_ms, { p50: sorted[2], p95: sorted[5] })
  assert.equal(body.is_sampled, false)
  const ofVendor = Object.fromEntries(body.groups.map((group: Group) => [group.key, group]))
  assert.equal(ofVendor.anthropic.first_token_ms, null, 'none was streamed')
  assert.ok(ofVendor.openai.first_token_ms.p50 >= 0)
  const today = app.clock.now().slice(0, 10)
  const span = { from: today, to: today }
  const sample = await sampleCalls(app.platform.db, span, 'vendor', 8, 3)
  assert.equal(sample.isSampled, true)
  assert.ok(sample.users.length > 0)
  const everyone = await sumUsersUsage(app.platform.db, span, null, 10)
  const found = await sumUsersUsage(app.platform.db, span, sample.users, 10)
  // A filtered user has exact sums.
  for (const one of found)
    assert.deepEqual(
      one,
      everyone.find(({ key }) => key === one.key),
    )
  assert.ok(sample.ofAll.latency_ms !== null)

  const { body: key } = await ada.post('/api/api-keys', { name: 'laptop' })
  const asked = [ada.get('/api/admin/usage'), app.get('/api/admin/usage')]
  const withKey = app.get('/api/admin/usage', { headers: { authorization: `Bearer ${key.key}` } })
  assert.deepEqual(
    (await Promise.all([...asked, withKey])).map(({ status }) => status),
    [403, 401, 401],
  )
  for (const query of [
    'from=2025-01-01&to=2026-06-01',
    'group_by=end_user',
    'group_by=key',
    'from=x',
  ]) {
    assert.equal((await root.get(`/api/admin/usage?${query}`)).status, 422, query)
  }
  const before = await seen('from=2026-01-01&to=2026-01-31')
  assert.deepEqual([before.totals.requests, before.totals.cost_usd, before.groups], [0, 0, []])
})

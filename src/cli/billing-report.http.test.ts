import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { PRICES, shopOf } from '#testing/shop.ts'
import { totalQueries } from '#usage/totals.ts'
import { monthOf, printReport } from './billing-report.ts'

test('a month is told with revenue, refunds, model cost and margin by plan, and by the customers who cost most', async (t) => {
  const app = await testApp(t)
  const shop = shopOf(app)
  const [ada, bob, eve] = [await app.as('ada'), await app.as('bob'), await app.as('eve')]
  await shop.subscribe(ada)
  await shop.subscribe(bob, { price: PRICES.enterprise })
  await shop.subscribe(eve)
  await app.service.billing.sync()
  const [charge] = (await shop.processor.charges.list({ limit: 1 })).data
  await shop.processor.refunds.create({ charge: charge?.id ?? '', amount: 900 })
  await app.service.billing.sync()

  const day = app.clock.now().slice(0, 10)
  const month = day.slice(0, 7)
  const called = (userId: string, tier: string, usd: number) => ({
    user_id: userId,
    day,
    key_id: 'session',
    model: 'gpt-5',
    vendor: 'openai',
    tier,
    outcome: 'ok' as const,
    end_user: '',
    requests: 1,
    prompt_tokens: 1,
    completion_tokens: 1,
    cached_tokens: 0,
    cost_nanos: usd * 1e9,
  })
  const days = [called(ada.userId, 'pro', 40), called(bob.userId, 'enterprise', 12.5), called(eve.userId, 'pro', 1)]
  await app.platform.db.insertInto('usage_days').values(days).execute()
  for (const query of totalQueries(app.platform.db, days, 1)) await app.platform.db.executeQuery(query)

  const lines: string[] = []
  const told = { db: app.platform.db, config: app.config, print: (line = '') => void lines.push(line) }
  await printReport(told, month)
  const cells = (start: string) =>
    lines
      .find((line) => line.startsWith(`  ${start}`))
      ?.trim()
      .split(/ {2,}/)
  assert.deepEqual(cells('Plan Pro'), ['Plan Pro', '2', '$58.00', '$9.00', '$0.00', '$0.00', '$41.00', '$8.00'])
  assert.deepEqual(cells('Plan Enterprise'), [
    'Plan Enterprise',
    '1',
    '$99.00',
    '$0.00',
    '$0.00',
    '$0.00',
    '$12.50',
    '$86.50',
  ])
  assert.deepEqual(cells('All'), ['All', '$157.00', '$9.00', '$0.00', '$0.00', '$53.50', '$94.50'])
  assert.deepEqual(
    lines.filter((line) => line.includes('@')).map((line) => line.trim().split(/ {2,}/)),
    [
      ['ada@example.com', '$29.00', '$0.00', '$0.00', '$0.00', '$40.00', '-$11.00'],
      ['bob@example.com', '$99.00', '$0.00', '$0.00', '$0.00', '$12.50', '$86.50'],
      ['eve@example.com', '$29.00', '$9.00', '$0.00', '$0.00', '$1.00', '$19.00'],
    ],
  )

  lines.length = 0
  await printReport(told, '2001-02')
  assert.deepEqual(cells('All'), ['All', '$0.00', '$0.00', '$0.00', '$0.00', '$0.00', '$0.00'])
})

test('what is no month is refused, and a month ends with its last day', () => {
  for (const wrong of [undefined, '', '2026', '2026-13', '2026-9', '2026-09-01', "2026-09'"])
    assert.equal(monthOf(wrong), null)
  assert.deepEqual(monthOf('2028-02')?.days, { from: '2028-02-01', to: '2028-02-29' })
  assert.equal(monthOf('2026-12')?.before, '2027-01-01T00:00:00.000Z')
})

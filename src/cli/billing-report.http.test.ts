import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listMovements } from '#billing/money/revenue.ts'
import { testApp } from '#testing/app.ts'
import { createShop, intercept, PRICES, SLOW_DEBIT } from '#testing/shop.ts'
import { buildTotalQueries } from '#usage/totals.ts'
import { parseMonth, printMovements, printReport } from './billing-report.ts'

test('reports revenue, refunds, fees, model cost and margin by plan and for the customers with the highest cost', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
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
  const days = [
    called(ada.userId, 'pro', 40),
    called(bob.userId, 'enterprise', 12.5),
    called(eve.userId, 'pro', 1),
  ]
  await app.platform.db.insertInto('usage_days').values(days).execute()
  for (const query of buildTotalQueries(app.platform.db, days, 1))
    await app.platform.db.executeQuery(query)

  const lines: string[] = []
  const reportDeps = {
    db: app.platform.db,
    config: app.config,
    print: (line = '') => void lines.push(line),
  }
  await printReport(reportDeps, month)
  const cells = (start: string) =>
    lines
      .find((line) => line.startsWith(`  ${start}`))
      ?.trim()
      .split(/ {2,}/)
  assert.deepEqual(cells('Plan Pro'), [
    'Plan Pro',
    '2',
    '$58.00',
    '$9.00',
    '$0.00',
    '$0.00',
    '$2.28',
    '$41.00',
    '$5.72',
  ])
  assert.deepEqual(cells('Plan Enterprise'), [
    'Plan Enterprise',
    '1',
    '$99.00',
    '$0.00',
    '$0.00',
    '$0.00',
    '$3.17',
    '$12.50',
    '$83.33',
  ])
  assert.deepEqual(cells('All'), [
    'All',
    '$157.00',
    '$9.00',
    '$0.00',
    '$0.00',
    '$5.45',
    '$53.50',
    '$89.05',
  ])
  assert.deepEqual(
    lines.filter((line) => line.includes('@')).map((line) => line.trim().split(/ {2,}/)),
    [
      ['ada@example.com', '$29.00', '$0.00', '$0.00', '$0.00', '$1.14', '$40.00', '-$12.14'],
      ['bob@example.com', '$99.00', '$0.00', '$0.00', '$0.00', '$3.17', '$12.50', '$83.33'],
      ['eve@example.com', '$29.00', '$9.00', '$0.00', '$0.00', '$1.14', '$1.00', '$17.86'],
    ],
  )

  lines.length = 0
  await printReport(reportDeps, '2001-02')
  assert.deepEqual(cells('All'), ['All', ...Array(7).fill('$0.00')])
})

test('reports the fees of payments, refunds and disputes to the cent as the processor lists them', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const { balanceTransactions, charges, disputes, refunds } = shop.processor
  for (const name of ['ada', 'bob', 'eve']) await shop.subscribe(await app.as(name))
  await shop.subscribe(await app.as('dan'), { card: SLOW_DEBIT })
  const [first, second] = (await charges.list({ limit: 100 })).data.filter(({ paid }) => paid)
  await shop.press(`/sandbox/processor/charges/${first?.id}/dispute`)
  const [dispute] = (await disputes.list({ charge: first?.id ?? '' })).data
  await shop.press(`/sandbox/processor/charges/${first?.id}/lose`)
  await refunds.create({ charge: second?.id ?? '' })
  await app.settle()
  await app.service.billing.sync()

  const transactions = await Array.fromAsync(balanceTransactions.list({ limit: 100 }))
  const fee = transactions.reduce((sum, one) => sum + one.fee, 0)
  const net = transactions.reduce((sum, one) => sum + one.net, 0)
  assert.ok(transactions.some((one) => one.source === dispute?.id && one.fee === 1500))
  const month = app.clock.now().slice(0, 7)
  const movements = await listMovements(app.platform.db, parseMonth(month) ?? assert.fail())
  const fees = movements.filter(({ type }) => type === 'fee')
  assert.equal(
    fees.reduce((sum, one) => sum - one.amount_cents, 0),
    fee,
  )
  assert.equal(
    movements.reduce((sum, one) => sum + one.amount_cents, 0),
    net,
  )

  const lines: string[] = []
  const print = (line = '') => void lines.push(line)
  await printReport({ db: app.platform.db, config: app.config, print }, month)
  assert.match(lines.find((line) => line.startsWith('  All')) ?? '', new RegExp(`\\$${fee / 100} `))
})

test('keeps the state of a payment whose balance transaction is missing or may not be read', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  let refusals = 0
  intercept(app, (request, response) => {
    const isExpanded = /\/v1\/(charges|refunds)\?.*balance_transaction/.test(request.url ?? '')
    if (!isExpanded || refusals === Number.POSITIVE_INFINITY) return false
    refusals++
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end('{"error":{"type":"invalid_request_error","code":"more_permissions_required"}}')
    return true
  })
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.service.billing.sync()
  const readRow = () => app.platform.db.selectFrom('payments').selectAll().executeTakeFirstOrThrow()
  assert.ok(refusals > 0)
  assert.equal((await readRow()).fee_cents, null)
  assert.equal((await readRow()).amount_cents, 2900)
  assert.equal((await shop.subscription(ada)).status, 'active')

  refusals = Number.POSITIVE_INFINITY
  await app.service.billing.sync()
  assert.equal((await readRow()).fee_cents, 114)
  assert.equal((await readRow()).fee_currency, 'usd')
})

test('fills in the fees of refunds and disputes that become known after their rows', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const shop = createShop(app)
  for (const name of ['ada', 'bob']) await shop.subscribe(await app.as(name))
  const [first, second] = (await shop.processor.charges.list({ limit: 100 })).data
  await shop.press(`/sandbox/processor/charges/${first?.id}/dispute`)
  await shop.processor.refunds.create({ charge: second?.id ?? '' })
  await app.settle()
  await app.service.billing.sync()
  const readFees = async () =>
    Promise.all(
      (['refunds', 'disputes'] as const).map((table) =>
        db.selectFrom(table).select(['fee_cents', 'fee_currency']).execute(),
      ),
    )
  const known = await readFees()
  assert.deepEqual(known, [
    [{ fee_cents: 0, fee_currency: 'usd' }],
    [{ fee_cents: 1500, fee_currency: 'usd' }],
  ])

  for (const table of ['refunds', 'disputes'] as const)
    await db.updateTable(table).set({ fee_cents: null, fee_currency: null }).execute()
  await app.service.billing.sync()
  assert.deepEqual(await readFees(), known)
})

test('rejects an invalid month, and ends a month with its last day', () => {
  for (const wrong of [undefined, '', '2026', '2026-13', '2026-9', '2026-09-01', "2026-09'"])
    assert.equal(parseMonth(wrong), null)
  assert.deepEqual(parseMonth('2028-02')?.days, { from: '2028-02-01', to: '2028-02-29' })
  assert.equal(parseMonth('2026-12')?.before, '2027-01-01T00:00:00.000Z')
})

test('splits the tax of a payment over its partial refunds to the cent, with a CSV line for each movement', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const ada = await app.as('ada')
  const payment = {
    customer_id: null,
    kind: 'purchase',
    tier: 'basic',
    currency: 'usd',
    version: 1,
  } as const
  const paid_at = '2026-03-01T00:00:00.000Z'
  await db
    .insertInto('payments')
    .values({
      ...payment,
      id: 'pi_1',
      user_id: ada.userId,
      amount_cents: 3480,
      tax_cents: 580,
      paid_at,
      seen_at: paid_at,
      refunded_cents: 3480,
      is_refunded: true,
      dispute: null,
    })
    .execute()
  const refund = (id: string, day: string, amount_cents: number, status = 'succeeded') => ({
    id,
    payment_id: 'pi_1',
    amount_cents,
    currency: 'usd',
    status,
    reason: null,
    created_at: `2026-${day}T00:00:00.000Z`,
  })
  const refunds = [
    refund('re_1', '03-02', 333),
    refund('re_2', '03-03', 334),
    refund('re_3', '03-04', 335),
    refund('re_failed', '03-05', 999, 'failed'),
    refund('re_4', '04-01', 2478),
  ]
  await db.insertInto('refunds').values(refunds).execute()

  const lines: string[] = []
  const reportDeps = { db, config: app.config, print: (line = '') => void lines.push(line) }
  const report = async (month: string) => {
    lines.length = 0
    await printMovements(reportDeps, month)
    return lines.map((line) => line.split(','))
  }
  const march = await report('2026-03')
  assert.deepEqual(
    march[0],
    'date,type,id,payment,invoice,customer,sold,currency,amount,tax,net'.split(','),
  )
  assert.deepEqual(march[1], [
    paid_at,
    'payment',
    'pi_1',
    'pi_1',
    '',
    'ada@example.com',
    'Basic',
    'usd',
    '34.8',
    '5.8',
    '29',
  ])
  assert.deepEqual(
    march.slice(2).map(([, type, id, , , , , , amount, tax]) => [type, id, amount, tax]),
    [
      ['refund', 're_1', '-3.33', '-0.56'],
      ['refund', 're_2', '-3.34', '-0.55'],
      ['refund', 're_3', '-3.35', '-0.56'],
    ],
  )
  assert.deepEqual(
    (await report('2026-04')).slice(1).map((cells) => cells.slice(8)),
    [['-24.78', '-4.13', '-20.65']],
  )

  await printReport(reportDeps, '2026-03')
  const product = lines
    .find((line) => line.startsWith('  Product Basic'))
    ?.trim()
    .split(/ {2,}/)
  assert.deepEqual(product?.slice(2), ['$29.00', '$8.35', '$0.00', '$4.13', '$0.00', '$20.65'])
})

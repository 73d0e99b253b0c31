// The founder's metrics, from payments, subscriptions and calls of a small business.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { recordSubscriptionChanges } from '#billing/metrics/subscription-changes.ts'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { mockVendor, refuses, says } from '#testing/mock-vendor.ts'
import { createShop, PRICES } from '#testing/shop.ts'

type Series = { name: string; currency: string | null; values: (number | null)[] }
type Total = { name: string; currency: string | null; value: number | null }

/** Tokens expire while the clock moves. */
async function signIn(app: TestApp, client: Client): Promise<Client> {
  const { body } = await app.post('/api/auth/login', { email: client.email, password: PASSWORD })
  return createClient(app.url, body.access_token, client)
}

async function read(root: Client, query: string) {
  const { status, body, text } = await root.get(`/api/admin/metrics?${query}`)
  assert.equal(status, 200, text)
  const series = new Map(
    (body.series as Series[]).map((one) => [
      `${one.name} ${one.currency ?? ''}`.trim(),
      one.values,
    ]),
  )
  const of = (totals: Total[]) =>
    Object.fromEntries(totals.map((one) => [`${one.name} ${one.currency ?? ''}`.trim(), one.value]))
  return {
    starts: body.starts as string[],
    series,
    totals: of(body.totals),
    previous: of(body.previous),
  }
}

const advance = async (app: TestApp, days: number) => {
  const to = new Date(app.clock.ms() + days * DAY_MS)
  const reply = await app.post('/sandbox/processor/clock', { to })
  assert.equal(reply.status, 200, reply.text)
  await app.settle()
}
const dayOf = (app: TestApp) => app.clock.now().slice(0, 10)

test('each month’s recurring revenue is the month before plus its changes', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const from = dayOf(app)
  const [ada, bob, cleo] = [await app.as('ada'), await app.as('bob'), await app.as('cleo')]
  await shop.subscribe(ada)
  await shop.subscribe(bob, { price: PRICES.proYearly })
  await app.service.billing.sync()
  const yearly = await app.platform.db
    .selectFrom('billing_accounts')
    .select('price_cents')
    .where('user_id', '=', bob.userId)
    .executeTakeFirstOrThrow()
  const monthOfYear = Math.round((yearly.price_cents ?? 0) / 12)
  await advance(app, 2)
  const ada2 = await signIn(app, ada)
  const { body } = await ada2.post('/api/billing/change/preview', { price_id: PRICES.enterprise })
  const changed = await ada2.post('/api/billing/change', {
    price_id: PRICES.enterprise,
    proration_at: body.proration_at,
  })
  assert.equal(changed.status, 200, changed.text)
  await shop.subscribe(await signIn(app, cleo), { price: PRICES.enterprise })
  await app.service.billing.sync()
  await advance(app, 2)
  const gone = await (await signIn(app, cleo)).delete('/api/users/me', { password: PASSWORD })
  assert.equal(gone.status, 200, gone.text)
  await app.settle()
  await recordSubscriptionChanges(app.platform)
  await advance(app, 1)

  const operator = await signIn(app, root)
  const to = dayOf(app)
  const { series, totals } = await read(operator, `from=${from}&to=${to}`)
  const line = (name: string) => series.get(name) as number[]
  assert.deepEqual(line('mrr usd'), [
    2_900 + monthOfYear,
    2_900 + monthOfYear,
    9_900 + monthOfYear + 9_900,
    9_900 + monthOfYear + 9_900,
    9_900 + monthOfYear,
    9_900 + monthOfYear,
  ])
  assert.deepEqual(line('new_mrr usd'), [2_900 + monthOfYear, 0, 9_900, 0, 0, 0])
  assert.deepEqual(line('expansion usd'), [0, 0, 7_000, 0, 0, 0])
  assert.deepEqual(line('churned_mrr usd'), [0, 0, 0, 0, 9_900, 0])
  assert.deepEqual(line('active_accounts'), [2, 2, 3, 3, 2, 2])
  assert.deepEqual(line('new_accounts'), [2, 0, 1, 0, 0, 0])
  assert.deepEqual(line('churned_accounts'), [0, 0, 0, 0, 1, 0])
  assert.deepEqual(line('churn_rate'), [null, 0, 0, 0, 33.3333, 0])
  assertBalanced(series)
  assert.equal(totals['mrr usd'], 9_900 + monthOfYear)

  const { body: listed } = await operator.get(
    `/api/admin/subscription-changes?from=${from}&to=${to}&limit=2`,
  )
  assert.deepEqual(
    listed.changes.map(({ kind, email, before_cents, after_cents }: Record<string, unknown>) => [
      kind,
      email,
      before_cents,
      after_cents,
    ])[0],
    ['churned', null, 9_900, 0],
  )
  const rest = await operator.get(
    `/api/admin/subscription-changes?from=${from}&to=${to}&limit=100&cursor=${listed.next_cursor}`,
  )
  assert.equal(listed.changes.length + rest.body.changes.length, 5)
  const one = await operator.get(
    `/api/admin/subscription-changes?from=${from}&to=${to}&kind=expansion`,
  )
  assert.deepEqual(
    one.body.changes.map(({ email, tier }: Record<string, unknown>) => [email, tier]),
    [[ada.email, 'enterprise']],
  )
})

function assertBalanced(series: Map<string, (number | null)[]>) {
  for (const name of [...series.keys()].filter((name) => name.startsWith('mrr '))) {
    const currency = name.slice(4)
    const at = (metric: string, index: number) => series.get(`${metric} ${currency}`)?.[index] ?? 0
    for (let index = 1; index < (series.get(name)?.length ?? 0); index++) {
      const flow =
        at('new_mrr', index) +
        at('expansion', index) -
        at('contraction', index) -
        at('churned_mrr', index)
      assert.equal(at('mrr', index), at('mrr', index - 1) + flow, `${name} at ${index}`)
    }
  }
}

test('a run that repeats on the same day, or on two nodes, changes nothing', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  await shop.subscribe(await app.as('ada'))
  await app.service.billing.sync()
  const rows = () => app.platform.db.selectFrom('subscription_changes').selectAll().execute()
  const before = await rows()
  assert.equal(before.length, 1)
  await Promise.all(Array.from({ length: 4 }, () => recordSubscriptionChanges(app.platform)))
  assert.deepEqual(await rows(), before)
})

test('trials count no recurring revenue until they convert', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const [ada, eve] = [await app.as('ada'), await app.as('eve')]
  await shop.subscribe(ada)
  await shop.subscribe(eve)
  await app.service.billing.sync()
  const { db } = app.platform
  const from = dayOf(app)
  const setState = async (userId: string, status: string) => {
    await db
      .updateTable('billing_accounts')
      .set({ processor_status: status })
      .where('user_id', '=', userId)
      .execute()
    await recordSubscriptionChanges(app.platform)
  }
  await setState(ada.userId, 'trialing')
  await setState(eve.userId, 'trialing')
  const trial = await read(root, `from=${from}&names=mrr,trials,active_accounts,trial_conversion`)
  assert.deepEqual(trial.totals, {
    'mrr usd': 0,
    trials: 2,
    active_accounts: 0,
    trial_conversion: null,
  })
  app.clock.advance(DAY_MS)
  await setState(ada.userId, 'active')
  await setState(eve.userId, 'canceled')
  const after = await read(
    await signIn(app, root),
    `from=${from}&names=mrr,trials,active_accounts,trial_conversion,new_mrr`,
  )
  assert.deepEqual(after.totals, {
    'mrr usd': 2_900,
    trials: 0,
    active_accounts: 1,
    trial_conversion: 50,
    'new_mrr usd': 2_900,
  })
})

test('a change while no run happened counts on its own day, and before the first run', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const { db } = app.platform
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  await app.service.billing.sync()
  const began = dayOf(app)
  const forget = async () => {
    await db.deleteFrom('subscription_changes').execute()
    await db.deleteFrom('billing_cursors').where('name', '=', 'subscription-changes').execute()
  }
  await forget()
  app.clock.advance(3 * DAY_MS)
  await recordSubscriptionChanges(app.platform)
  const days = async () =>
    (await db.selectFrom('subscription_changes').select('day').orderBy('day').execute()).map(
      ({ day }) => day,
    )
  assert.deepEqual(await days(), [began])

  app.clock.advance(DAY_MS)
  const ended = app.clock.now()
  app.clock.advance(3 * DAY_MS)
  await db.updateTable('billing_accounts').set({ ended_at: ended }).execute()
  await recordSubscriptionChanges(app.platform)
  assert.deepEqual(await days(), [began, ended.slice(0, 10)])
  await recordSubscriptionChanges(app.platform)
  assert.equal((await days()).length, 2)
})

test('a refund reduces revenue on its own day, without tax, and currencies stay apart', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const { db } = app.platform
  const at = (day: number) => new Date(app.clock.ms() - day * DAY_MS).toISOString()
  const pay = async (id: string, currency: string, cents: number, tax: number, day: number) => {
    await db
      .insertInto('payments')
      .values({
        id,
        user_id: null,
        customer_id: null,
        kind: 'purchase',
        tier: 'basic',
        amount_cents: cents,
        tax_cents: tax,
        currency,
        fee_cents: 100,
        fee_currency: currency,
        paid_at: at(day),
        refunded_cents: 0,
        is_refunded: false,
        dispute: null,
        version: 1,
        seen_at: at(day),
      })
      .execute()
  }
  await pay('pi_1', 'usd', 12_000, 2_000, 2)
  await db
    .insertInto('refunds')
    .values({
      id: 're_1',
      payment_id: 'pi_1',
      amount_cents: 6_000,
      currency: 'usd',
      fee_cents: null,
      fee_currency: null,
      status: 'succeeded',
      reason: null,
      created_at: at(1),
    })
    .execute()
  const span = `from=${at(2).slice(0, 10)}&to=${at(0).slice(0, 10)}`
  const names = 'names=revenue,refunds,gross_margin,margin_percent'
  const dollars = await read(root, `${span}&${names}`)
  assert.deepEqual(dollars.series.get('revenue usd'), [10_000, -5_000, 0])
  assert.deepEqual(dollars.series.get('refunds usd'), [0, 5_000, 0])
  assert.deepEqual(dollars.series.get('gross_margin usd'), [9_900, -5_000, 0])
  assert.equal(dollars.totals.margin_percent, 98)

  await pay('pi_2', 'eur', 5_000, 0, 0)
  const both = await read(root, `${span}&${names}`)
  assert.deepEqual(both.series.get('revenue usd'), [10_000, -5_000, 0])
  assert.deepEqual(both.series.get('revenue eur'), [0, 0, 5_000])
  assert.equal(both.totals['gross_margin usd'], null)

  const later = await read(root, `from=${at(-2).slice(0, 10)}&to=${at(-4).slice(0, 10)}&${names}`)
  const { previous } = later
  assert.deepEqual([previous['revenue usd'], previous['revenue eur']], [-5_000, 5_000])
  assert.deepEqual([later.totals['revenue usd'], later.totals['revenue eur']], [0, 0])

  const csv = await root.get(`/api/admin/metrics.csv?${span}&names=revenue,margin_percent`)
  assert.deepEqual(csv.text.split('\r\n'), [
    'start,revenue_eur,revenue_usd,margin_percent',
    `${at(2).slice(0, 10)},0,100,99`,
    `${at(1).slice(0, 10)},0,-50,`,
    `${at(0).slice(0, 10)},50,0,`,
    '',
  ])
})

test('calls, costs, sign-ups, documents and checkouts count on their day', async (t) => {
  const vendor = await mockVendor(t)
  const app = await testApp(t, { env: { ...vendor.env.openai, EMBEDDER: 'local' } })
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const ada = await app.as('ada')
  await shop.subscribe(ada)
  const bob = await app.as('bob', { tier: 'pro' })
  await shop.verify(bob)
  await bob.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  await bob.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
  const content = 'The lighthouse has forty-one lamps.'
  const ingested = await ada.post('/api/rag/ingest/text', { content })
  assert.equal(ingested.status, 200, ingested.text)
  const ask = () =>
    ada.post('/v1/chat/completions', {
      model: 'gpt-6-luna',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    })
  vendor.play(says('Yes', { usage: { prompt: 30_000, completion: 10_000 } }))
  await ask()
  await ask()
  await ask()
  vendor.play(refuses(400))
  await ask()
  await app.settle()
  const day = dayOf(app)
  const names = 'calls,failure_rate,model_cost,ttft_p95,signups,documents,checkout_conversion'
  const { totals } = await read(root, `from=${day}&names=${names}`)
  const { body: usage } = await root.get('/api/admin/usage')
  assert.deepEqual(
    [totals.calls, totals.failure_rate],
    [usage.totals.requests, round((100 * usage.totals.failed) / usage.totals.requests)],
  )
  assert.ok(usage.totals.cost_usd > 0)
  assert.equal(totals['model_cost usd'], round(usage.totals.cost_usd * 100))
  assert.equal(totals.ttft_p95, usage.totals.first_token_ms.p95)
  assert.deepEqual([totals.signups, totals.documents], [3, 1])
  assert.equal(totals.checkout_conversion, 50)

  // Costs of deleted users are known by month.
  const deleted = await ada.delete('/api/users/me', { password: PASSWORD })
  assert.equal(deleted.status, 200, deleted.text)
  await app.settle()
  const month = await read(
    root,
    `from=${day.slice(0, 7)}-01&to=${day}&interval=month&names=model_cost,signups`,
  )
  assert.equal(month.totals['model_cost usd'], totals['model_cost usd'])
  assert.deepEqual(month.starts, [`${day.slice(0, 7)}-01`])
})

const round = (value: number) => Math.round(value * 10_000) / 10_000

test('intervals follow weeks and months, and wrong requests are refused', async (t) => {
  const app = await testApp(t)
  const root = await app.as('root', { superuser: true })
  const starts = async (query: string) => (await read(root, query)).starts
  assert.deepEqual(await starts('from=2026-10-28&to=2026-11-10&interval=week&names=calls'), [
    '2026-10-28',
    '2026-11-02',
    '2026-11-09',
  ])
  assert.deepEqual(await starts('from=2026-01-31&to=2026-03-01&interval=month&names=calls'), [
    '2026-01-31',
    '2026-02-01',
    '2026-03-01',
  ])
  for (const query of [
    'names=profit',
    'interval=year',
    'from=2026-02-01&to=2026-01-01',
    'from=2024-01-01&to=2026-01-01',
  ])
    assert.equal((await root.get(`/api/admin/metrics?${query}`)).status, 422, query)
  for (const path of ['metrics', 'metrics.csv', 'subscription-changes'])
    assert.equal((await (await app.as('ada')).get(`/api/admin/${path}`)).status, 403, path)
})

test('all states of an account in random order keep the balance', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const root = await app.as('root', { superuser: true })
  const { db } = app.platform
  const people = [await app.as('ada'), await app.as('bob'), await app.as('cleo')]
  for (const person of people) await shop.subscribe(person)
  await app.service.billing.sync()
  await db.deleteFrom('subscription_changes').execute()
  const from = dayOf(app)
  // A fixed generator, so that a failure repeats.
  let seed = 7
  const draw = <T>(from: readonly T[]): T => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return from[(seed >> 16) % from.length] as T
  }
  for (let day = 0; day < 30; day++) {
    for (const { userId } of people) {
      if (draw([0, 1]) === 0) continue
      await db
        .updateTable('billing_accounts')
        .set({
          processor_status: draw(['active', 'trialing', 'past_due', 'paused', 'canceled']),
          is_grace_over: draw([true, false]),
          price_cents: draw([2_900, 9_900, 0]),
          currency: draw(['usd', 'eur']),
          interval: draw(['month', 'year']),
        })
        .where('user_id', '=', userId)
        .execute()
      if (draw([0, 1]) === 0) await recordSubscriptionChanges(app.platform)
    }
    await recordSubscriptionChanges(app.platform)
    app.clock.advance(DAY_MS)
  }
  const operator = await signIn(app, root)
  const { series } = await read(operator, `from=${from}&to=${dayOf(app)}`)
  assertBalanced(series)
  const rows = await db
    .selectFrom('subscription_changes')
    .select(({ fn }) => [fn.countAll<number>().as('count')])
    .executeTakeFirstOrThrow()
  assert.ok(Number(rows.count) > 30)
  await sql`update billing_accounts set processor_status = 'canceled'`.execute(db)
  await recordSubscriptionChanges(app.platform)
  const end = await read(operator, `from=${from}&to=${dayOf(app)}&names=mrr,active_accounts`)
  assert.deepEqual(Object.values(end.totals), [0, 0, 0])
})

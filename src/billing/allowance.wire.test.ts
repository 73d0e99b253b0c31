// Allowances follow payments. All tests share one shop, on the sandbox's clock.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD } from '#testing/app.ts'
import { holdDebits } from '#testing/billing-chaos/world.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import { createShop, PRICES, SLOW_DEBIT } from '#testing/shop.ts'
import { spend } from '#testing/spend.ts'
import { suiteContext } from '#testing/suite.ts'

suite('an allowance belongs to a payment', () => {
  const context = suiteContext()
  let store: Shop
  let shop: ReturnType<typeof createShop>
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'allowance-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const plans = [
      {
        tier: 'pro',
        name: 'Pro',
        trial_days: 14,
        grants: ['ai', 'rag', 'api_keys'],
        allowance_usd: 20,
      },
      {
        tier: 'enterprise',
        name: 'Enterprise',
        grants: ['ai', 'rag', 'api_keys'],
        allowance_usd: 80,
      },
    ]
    const CATALOGUE = join(folder, 'catalogue.json')
    writeFileSync(CATALOGUE, JSON.stringify({ plans }))
    store = await openShop(context, { CATALOGUE })
    shop = createShop(store.app)
  })

  /** Signs in again: tokens expire while the clock moves. */
  const signedIn = async (name: string): Promise<Client> => {
    const person = await store.as(name)
    const { body } = await store.post('/api/auth/login', {
      email: person.email,
      password: PASSWORD,
    })
    return createClient(store.url, body.access_token, person)
  }
  const after = async (ms: number) => {
    const reply = await store.post('/sandbox/processor/clock', {
      to: new Date(store.clock.ms() + ms),
    })
    assert.equal(reply.status, 200, reply.text)
    await store.app.service.billing.sync()
  }
  const allowance = async (name: string) =>
    (await (await signedIn(name)).get('/api/usage/allowance')).body
  const limit = async (name: string) => Math.round((await allowance(name)).limit_usd * 100) / 100
  const view = async (name: string) =>
    (await (await signedIn(name)).get('/api/billing/subscription')).body
  const buys = async (name: string, amount: number) =>
    spend(store.app, (await store.as(name)).userId, amount)
  const subscribe = async (name: string, price: string) => {
    await shop.subscribe(await store.as(name), { price })
    await store.settle()
    await store.app.service.billing.sync()
  }
  const change = async (name: string, price_id: string) => {
    const client = await signedIn(name)
    const { body } = await client.post('/api/billing/change/preview', { price_id })
    const reply = await client.post('/api/billing/change', {
      price_id,
      proration_at: body.proration_at,
    })
    assert.equal(reply.status, 200, reply.text)
  }

  test('a trial has one allowance, however many calendar months it spans', async () => {
    await subscribe('tess', PRICES.pro)
    const trial = await allowance('tess')
    const { trial_ends_at } = await view('tess')
    assert.deepEqual(
      [trial.limit_usd, trial.period_end, trial.renews_at],
      [2, trial_ends_at, trial_ends_at],
    )
    assert.deepEqual([await buys('tess', 1.5), await buys('tess', 1)], [true, false])
    await after(13 * DAY_MS)
    assert.equal(await buys('tess', 1), false, 'another month of the same trial')
    const { used_usd } = await allowance('tess')
    assert.equal(used_usd, 1.5)
    await after(2 * DAY_MS)
    assert.deepEqual(
      [await limit('tess'), await buys('tess', 19)],
      [20, true],
      'the first payment buys a full allowance',
    )
  })

  test('a billing month runs from billing day to billing day and has one allowance', async () => {
    await subscribe('mona', PRICES.enterprise)
    const { period_start, period_end, limit_usd } = await allowance('mona')
    const { current_period_end } = await view('mona')
    assert.deepEqual([period_end, limit_usd], [current_period_end, 80])
    assert.equal(await buys('mona', 79), true)
    await after(20 * DAY_MS)
    assert.deepEqual(
      [await buys('mona', 2), (await allowance('mona')).period_start],
      [false, period_start],
    )
    await after(12 * DAY_MS)
    const next = await allowance('mona')
    assert.deepEqual(
      [next.period_start, next.used_usd, await buys('mona', 79)],
      [period_end, 0, true],
    )
  })

  test('an upgrade hours before the period ends adds the difference for those hours only', async () => {
    await shop.subscribe(await store.as('uma+x'), { price: PRICES.enterprise })
    await shop.portal(await store.as('uma+x'), 'cancel-now')
    // Two subscriptions of one second would share a slice.
    shop.later()
    await subscribe('uma+x', PRICES.pro)
    assert.equal(await limit('uma+x'), 20)
    const end = Date.parse((await view('uma+x')).current_period_end)
    await after(end - store.clock.ms() - 6 * HOUR_MS)
    await change('uma+x', PRICES.enterprise)
    const now = await limit('uma+x')
    assert.ok(now > 20 && now < 21, `${now}`)
    await after(DAY_MS)
    assert.equal(await limit('uma+x'), 80)
  })

  test('a failed payment buys nothing, and the rest of the last allowance stays usable in the grace period', async () => {
    await shop.subscribe(await store.as('greg'), {
      price: PRICES.enterprise,
      card: '4000000000000341',
    })
    assert.equal(await buys('greg', 50), true)
    await after(33 * DAY_MS)
    const grace = await allowance('greg')
    assert.deepEqual(
      [(await view('greg')).status, grace.renews_at, grace.used_usd],
      ['past_due', null, 50],
    )
    assert.deepEqual([await buys('greg', 31), await buys('greg', 29)], [false, true])
  })

  test('a refunded or disputed payment buys nothing, and its used part reduces the next allowance', async () => {
    await subscribe('rita', PRICES.enterprise)
    assert.equal(await buys('rita', 15), true)
    const { processor_customer_id: customer } = await view('rita')
    const [charge] = (await shop.processor.charges.list({ customer })).data
    await shop.press(`/sandbox/processor/charges/${charge?.id}/dispute`)
    await store.settle()
    assert.deepEqual([await buys('rita', 1), (await allowance('rita')).limit_usd ?? 0], [false, 0])
    await shop.press(`/sandbox/processor/charges/${charge?.id}/lose`)
    await store.settle()
    await store.app.service.billing.sync()
    if (['active', 'past_due'].includes((await view('rita')).status))
      await shop.portal(await signedIn('rita'), 'cancel-now')
    await after(HOUR_MS)
    await shop.subscribe(await signedIn('rita'), { price: PRICES.enterprise })
    await store.settle()
    assert.equal(await limit('rita'), 65)
  })

  test('a credit in the second of the purchase carries over what was used before it', async () => {
    await shop.subscribe(await store.as('cora'), { price: 'price_sandbox_enterprise_yearly' })
    assert.equal(await buys('cora', 80), true)
    await shop.portal(await signedIn('cora'), 'change-plan', { price: PRICES.pro })
    await store.settle()
    await store.app.service.billing.sync()
    await after(32 * DAY_MS)
    assert.deepEqual([(await view('cora')).tier, await limit('cora')], ['pro', 0])
  })

  test('a disputed upgrade carries over what it opened', async () => {
    await shop.subscribe(await store.as('dora+x'), { price: PRICES.enterprise })
    await shop.portal(await store.as('dora+x'), 'cancel-now')
    await after(32 * DAY_MS)
    await shop.subscribe(await signedIn('dora+x'), { price: PRICES.pro })
    await store.settle()
    await after(HOUR_MS)
    await change('dora+x', PRICES.enterprise)
    await store.settle()
    assert.equal(await buys('dora+x', 70), true)
    const { processor_customer_id: customer } = await view('dora+x')
    const [upgrade] = (await shop.processor.charges.list({ customer })).data
    await shop.press(`/sandbox/processor/charges/${upgrade?.id}/dispute`)
    await shop.press(`/sandbox/processor/charges/${upgrade?.id}/lose`)
    await store.settle()
    await store.app.service.billing.sync()
    await after(HOUR_MS)
    await shop.subscribe(await signedIn('dora+x'), { price: PRICES.enterprise })
    await store.settle()
    const left = await limit('dora+x')
    assert.ok(left > 29.5 && left < 30.5, `${left}: 50 of 70 were taken back`)
  })

  test('use until a bank debit is paid counts against the payment that it replaces', async () => {
    const yearly = { price: 'price_sandbox_enterprise_yearly' }
    await shop.subscribe(await store.as('bea'), yearly)
    await store.settle()
    const end = Date.parse((await allowance('bea')).period_end)
    await after(end - store.clock.ms() - HOUR_MS)
    holdDebits(store.app)
    const client = await signedIn('bea')
    const path = `/api/billing/create-checkout-session?price_id=${PRICES.enterprise}`
    await shop.pay((await client.post(path)).body.url, SLOW_DEBIT, { email: client.email })
    await after(20 * HOUR_MS)
    assert.equal(await buys('bea', 80), true, 'the second month of the year')
    const { data: charges } = await shop.processor.charges.list({ limit: 100 })
    const debit = charges.find(({ status }) => status === 'pending')
    await shop.press(`/sandbox/processor/charges/${debit?.id}/settle`)
    await store.settle()
    await store.app.service.billing.sync()
    const left = await limit('bea')
    assert.ok(left > 1 && left < 3, `${left}: of 80 dollars 19 hours' share was paid`)
  })

  test('a change from monthly to yearly carries over usage beyond the paid share', async () => {
    await shop.subscribe(await store.as('mia+x'), { price: PRICES.enterprise })
    await shop.portal(await store.as('mia+x'), 'cancel-now')
    await after(32 * DAY_MS)
    await shop.subscribe(await signedIn('mia+x'), { price: PRICES.pro })
    await store.settle()
    assert.equal(await buys('mia+x', 20), true)
    await after(DAY_MS)
    await change('mia+x', PRICES.proYearly)
    const left = await limit('mia+x')
    assert.ok(
      left > 0 && left < 1,
      `${left}: of twenty dollars a day's share was paid, and all was used`,
    )
    const end = Date.parse((await allowance('mia+x')).period_end)
    await after(end - store.clock.ms() + HOUR_MS)
    assert.equal(await limit('mia+x'), 20, 'the second of twelve')
  })

  test('an unpaid plan has its allowance by calendar month', async () => {
    const client = await store.as('hanna', { tier: 'pro' })
    const { period_start, limit_usd } = (
      await (await signedIn('hanna')).get('/api/usage/allowance')
    ).body
    assert.match(period_start, /-01T00:00:00.000Z$/)
    assert.equal(limit_usd, 20)
    assert.equal(await spend(store.app, client.userId, 19), true)
  })
})

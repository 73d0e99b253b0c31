// Nothing is sold below its price, charged twice or emailed twice, despite repeated clicks and
// failing cards.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { sandboxClock } from '#sandbox/clock.ts'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import {
  createShop,
  FAILS_AT_RENEWAL,
  GOOD_CARD,
  intercept,
  PRICES,
  SLOW_DEBIT,
} from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'
import type { SubscriptionFacts } from './subscription-state.ts'
import { claimTrials } from './trials.ts'

suite('money of subscriptions', () => {
  const context = suiteContext()
  let app: TestApp
  let shop: ReturnType<typeof createShop>
  let isRefusing = false
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'money-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const plan = (tier: string, name: string, trial_days: number) => ({
      tier,
      name,
      trial_days,
      grants: ['ai', 'rag', 'api_keys'],
      allowance_usd: 20,
    })
    const CATALOGUE = join(folder, 'catalogue.json')
    writeFileSync(
      CATALOGUE,
      JSON.stringify({ plans: [plan('pro', 'Pro', 3), plan('enterprise', 'Enterprise', 0)] }),
    )
    app = await testApp(context, { env: { CATALOGUE, TAX: 'stripe' } })
    shop = createShop(app)
    intercept(app, (request, response) => {
      if (!isRefusing || request.method !== 'POST' || !request.url?.includes('/v1/subscriptions/'))
        return false
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ error: { type: 'invalid_request_error', message: 'Not today' } }),
      )
      return true
    })
  })

  const view = async (client: Client) => (await client.get('/api/billing/subscription')).body
  const count = async (client: Client, subject: RegExp) =>
    (await app.mail(client.email)).filter((mail) => subject.test(mail.subject)).length
  const refused = (reply: { status: number; body: { code?: string } }) => [
    reply.status,
    reply.body.code,
  ]
  const preview = async (client: Client, price_id: string) =>
    (await client.post('/api/billing/change/preview', { price_id })).body
  const change = async (client: Client, price_id: string) => {
    const shown = await preview(client, price_id)
    return client.post('/api/billing/change', { price_id, proration_at: shown.proration_at })
  }
  /** In the currency's smallest unit. */
  const money = async (client: Client) => {
    const { processor_customer_id: customer } = await view(client)
    const { data } = await shop.processor.charges.list({ customer, limit: 100 })
    const saved = (await shop.processor.customers.retrieve(customer)) as { balance: number }
    const charged = data.filter(({ paid }) => paid).reduce((sum, { amount }) => sum + amount, 0)
    return { charged, balance: saved.balance }
  }
  const caughtUp = async () => {
    await app.service.billing.sync()
    await app.settle()
    await app.service.billing.sync()
  }
  const open = async (client: Client, price: string) => {
    await shop.verify(client)
    const { body, status, text } = await client.post(
      `/api/billing/create-checkout-session?price_id=${price}`,
    )
    assert.equal(status, 200, text)
    return body.url as string
  }
  const buy = async (client: Client, price: string, card = GOOD_CARD) => {
    const back = await shop.pay(await open(client, price), card, { terms: 'on' })
    assert.equal(back.status, 303, back.text)
    await view(client)
    await caughtUp()
    // The order of two subscriptions of one second is undefined.
    app.clock.advance(1_000)
  }
  /** Forgets all used trials. */
  const forgetTrials = () => app.platform.db.deleteFrom('trial_marks').execute()
  const userOf = (client: Client) =>
    app.platform.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', client.userId)
      .executeTakeFirstOrThrow()

  test('never refunds a large plan for a smaller one, by any interval, price or route', async () => {
    const ada = await app.as('ada')
    await buy(ada, PRICES.enterprise)
    const paid = await money(ada)
    const proration_at = Math.floor(app.clock.ms() / 1000)
    const body = { price_id: PRICES.proYearly, proration_at }
    assert.deepEqual(refused(await ada.post('/api/billing/change/preview', body)), [
      409,
      'smaller_longer',
    ])
    assert.deepEqual(refused(await ada.post('/api/billing/change', body)), [409, 'smaller_longer'])

    const { items, id } = await shop.readSubscription(ada)
    const { product } = await shop.processor.prices.retrieve(PRICES.enterprise)
    const old = await shop.processor.prices.create({
      product: String(product),
      currency: 'usd',
      unit_amount: 8900,
      recurring: { interval: 'month' },
    })
    const item = { id: items.data[0]?.id ?? '', price: old.id }
    await shop.processor.subscriptions.update(id, { items: [item], proration_behavior: 'none' })
    await caughtUp()
    const later = await preview(ada, PRICES.pro)
    assert.deepEqual([later.due_now, later.takes_effect], [0, (await view(ada)).current_period_end])
    assert.deepEqual(refused(await ada.post('/api/billing/change/preview', body)), [
      409,
      'smaller_longer',
    ])
    assert.deepEqual(await money(ada), paid)

    await buy(ada, PRICES.pro)
    const { tier, processor_status } = await view(ada)
    assert.deepEqual([tier, processor_status], ['pro', 'active'])
    assert.equal((await money(ada)).balance, 0)
    const { data } = await shop.processor.subscriptions.list({
      customer: (await view(ada)).processor_customer_id,
    })
    assert.equal(data.filter(({ status }) => status === 'active').length, 1)
    const before = await money(ada)
    await buy(ada, PRICES.enterprise)
    assert.ok((await money(ada)).balance < 0, 'the rest of the smaller plan is credited')
    assert.ok((await money(ada)).charged > before.charged)
  })

  test('choosing another smaller plan while one is pending keeps the paid plan', async () => {
    const ben = await app.as('ben')
    await shop.processor.prices.update(PRICES.pro, { tax_behavior: 'inclusive' })
    await buy(ben, PRICES.enterprise)
    const wish = { tier: 'pro', interval: 'month', amount: 19.5 } as const
    const { price_id } = await app.service.billing.makeDeal(await userOf(ben), wish)
    for (const next of [PRICES.pro, price_id, PRICES.pro]) {
      const { body, status } = await change(ben, next)
      assert.deepEqual([status, body.tier, body.next_price_id], [200, 'enterprise', next])
    }
    await shop.portal(ben, 'renew-well')
    assert.deepEqual([(await view(ben)).tier, (await view(ben)).next_tier], ['pro', null])
    const [deal, listed] = await Promise.all(
      [price_id, PRICES.pro].map((id) => shop.processor.prices.retrieve(id)),
    )
    assert.deepEqual([listed?.tax_behavior, deal?.tax_behavior], ['inclusive', 'inclusive'])
  })

  test('a trial needs a card and is announced once, only to users who get it', async () => {
    await forgetTrials()
    const cleo = await app.as('cleo')
    const url = await open(cleo, PRICES.proYearly)
    assert.equal((await shop.pay(url, SLOW_DEBIT, { terms: 'on' })).status, 402)
    await shop.pay(url, GOOD_CARD, { terms: 'on' })
    await view(cleo)
    await caughtUp()
    assert.equal((await view(cleo)).processor_status, 'trialing')
    assert.deepEqual([await count(cleo, /trial of Pro ends/), await count(cleo, /renews/)], [1, 0])

    const dora = await app.as('dora')
    const back = await shop.pay(await open(dora, PRICES.proYearly), GOOD_CARD, { terms: 'on' })
    assert.equal(back.status, 303)
    const at = await view(dora)
    assert.deepEqual(
      [at.status, at.tier],
      ['cancelled', 'free'],
      'also before its cancellation is complete',
    )
    await caughtUp()
    const subjects = (await app.mail(dora.email)).map(({ subject }) => subject)
    assert.deepEqual(
      subjects.filter((subject) => /trial|renews|ended/i.test(subject)),
      ['Your trial could not start'],
    )
  })

  test('claims a card that appears later, and ignores another card after that', async () => {
    await forgetTrials()
    const tryIt = async (name: string, fingerprint: string | null) => {
      const { userId } = await app.as(name)
      const one = trialOf(`sub_${name}`, userId, fingerprint)
      const ended = await transaction(app.platform.db, (tx) =>
        claimTrials(app.platform, tx, userId, [one]),
      )
      return ended.size === 0
    }
    assert.deepEqual([await tryIt('eli', null), await tryIt('eli', 'ONE')], [true, true])
    for (const name of ['flo', 'gus']) {
      assert.deepEqual([await tryIt(name, null), await tryIt(name, 'ONE')], [true, false], name)
    }
    assert.deepEqual(
      [await tryIt('hal', 'TWO'), await tryIt('hal', 'ONE'), await tryIt('hal', null)],
      [true, true, true],
    )
  })

  test('charges a trial that ends by a plan change once despite repeated clicks, and not with a declined card', async () => {
    await forgetTrials()
    const ida = await app.as('ida')
    await buy(ida, PRICES.pro)
    const shown = await preview(ida, PRICES.enterprise)
    const press = () =>
      ida.post('/api/billing/change', {
        price_id: PRICES.enterprise,
        proration_at: shown.proration_at,
      })
    const replies = await Promise.all([press(), press(), press()])
    assert.ok(replies.some(({ status }) => status === 200))
    await caughtUp()
    assert.equal((await money(ida)).charged, Math.round(shown.due_now * 100))
    const { invoices } = (await ida.get('/api/billing/invoices')).body
    assert.equal(invoices.filter(({ total }: { total: number }) => total > 0).length, 1)

    await forgetTrials()
    const jo = await app.as('jo')
    await buy(jo, PRICES.pro, FAILS_AT_RENEWAL)
    assert.deepEqual(refused(await change(jo, PRICES.enterprise)), [402, 'payment_refused'])
    const unchanged = await view(jo)
    assert.deepEqual(
      [unchanged.tier, unchanged.processor_status, unchanged.price_id],
      ['pro', 'trialing', PRICES.pro],
    )
    assert.equal((await money(jo)).charged, 0)
  })

  test('stays paused without a debt when the payment is declined', async () => {
    const kai = await app.as('kai')
    await buy(kai, PRICES.enterprise, FAILS_AT_RENEWAL)
    const paid = await money(kai)
    await shop.pause(kai)
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(refused(await kai.post('/api/billing/resume')), [402, 'payment_refused'])
      const { tier, processor_status, open_until } = await view(kai)
      assert.deepEqual([tier, processor_status, open_until], ['free', 'paused', null])
    }
    const { invoices } = (await kai.get('/api/billing/invoices')).body
    assert.ok(invoices.every(({ status }: { status: string }) => status !== 'open'))
    assert.deepEqual(await money(kai), paid)
  })

  test('emails each suspension for a missing payment, and each recovery', async () => {
    const lou = await app.as('lou')
    await buy(lou, PRICES.enterprise)
    for (const times of [1, 2]) {
      await shop.portal(lou, 'give-up')
      await app.service.billing.sync()
      assert.deepEqual(
        [(await view(lou)).tier, await count(lou, /is suspended until it is paid/)],
        ['free', times],
      )
      app.clock.advance(1_000)
      await shop.portal(lou, 'retry')
      await app.service.billing.sync()
      assert.deepEqual(
        [(await view(lou)).tier, await count(lou, /plan is paid/)],
        ['enterprise', times],
      )
      app.clock.advance(1_000)
    }
  })

  test('emails subscribers once before moving them to another price, and skips those about to leave', async () => {
    const may = await app.as('may')
    const ned = await app.as('ned')
    const { product } = await shop.processor.prices.retrieve(PRICES.enterprise)
    const old = await shop.processor.prices.create({
      product: String(product),
      currency: 'usd',
      unit_amount: 8900,
      recurring: { interval: 'month' },
    })
    for (const client of [may, ned]) {
      await buy(client, PRICES.enterprise)
      const { id, items } = await shop.readSubscription(client)
      const item = { id: items.data[0]?.id ?? '', price: old.id }
      await shop.processor.subscriptions.update(id, {
        items: [item],
        proration_behavior: 'none',
        cancel_at_period_end: client === ned,
      })
    }
    await caughtUp()
    const countEmails = () =>
      Promise.all([may, ned].map((client) => count(client, /price of your Enterprise plan/)))
    const skipped = [`${ned.email}: subscription is about to end`]
    isRefusing = true
    assert.deepEqual(await app.service.billing.movePrice(old.id, PRICES.enterprise), {
      moved: 0,
      skipped,
      failed: 1,
    })
    assert.deepEqual(await countEmails(), [1, 0])
    isRefusing = false
    assert.deepEqual(await app.service.billing.movePrice(old.id, PRICES.enterprise), {
      moved: 1,
      skipped,
      failed: 0,
    })
    assert.deepEqual(await countEmails(), [1, 0])
    const [mail] = (await app.mail(may.email)).filter(({ subject }) =>
      /price of your/.test(subject),
    )
    assert.match(mail?.text ?? '', /\$99\.00 a month/)
    assert.equal((await view(may)).price_id, PRICES.enterprise)
  })

  test('a code typed on the checkout page counts as used', async () => {
    const oda = await app.as('oda')
    const coupon = await shop.processor.coupons.create({ percent_off: 50, duration: 'once' })
    for (const code of ['TYPED', 'OTHER'])
      await shop.processor.promotionCodes.create({
        code,
        promotion: { type: 'coupon', coupon: coupon.id },
      })
    const url = await open(oda, PRICES.enterprise)
    assert.equal((await shop.press(`${new URL(url).pathname}/code`, { code: 'TYPED' })).status, 303)
    assert.equal((await shop.pay(url, GOOD_CARD, { terms: 'on' })).status, 303)
    await view(oda)
    await caughtUp()
    const address = (code: string) =>
      `/api/billing/create-checkout-session?price_id=${PRICES.pro}&promotion_code=${code}`
    assert.deepEqual(refused(await oda.post(address('TYPED'))), [409, 'promotion_code_used'])
    assert.equal((await oda.post(address('OTHER'))).status, 200)
    const again = await open(oda, PRICES.pro)
    await shop.press(`${new URL(again).pathname}/code`, { code: 'TYPED' })
    const session = await shop.processor.checkout.sessions.retrieve(
      new URL(again).pathname.split('/').at(-1) ?? '',
    )
    assert.deepEqual([session.allow_promotion_codes, session.discounts], [null, []])
  })
})

test('the sandbox clock keeps fractions of a day', () => {
  const folder = mkdtempSync(join(tmpdir(), 'clock-'))
  const clock = sandboxClock(folder)
  clock.advance(30 * DAY_MS)
  clock.advance(DAY_MS / 7)
  assert.ok(clock.movedMs() > 30 * DAY_MS)
  assert.equal(sandboxClock(folder).movedMs(), clock.movedMs())
  rmSync(folder, { recursive: true, force: true })
})

function trialOf(id: string, userId: string, fingerprint: string | null): SubscriptionFacts {
  return {
    id,
    userId,
    customerId: 'cus',
    status: 'trialing',
    created: 1,
    priceIds: [PRICES.pro],
    periodEnd: 2,
    cancelAtPeriodEnd: false,
    details: {
      trialEnd: 2,
      isFirstTrial: true,
      priceCents: 1,
      currency: 'usd',
      interval: 'month',
      nextPriceId: null,
      pausesAt: null,
      canceledAt: null,
      endsAt: null,
      endedAt: null,
      feedback: null,
      comment: null,
      card: fingerprint === null ? null : { fingerprint, last4: '1', expiresAt: null },
    },
  }
}

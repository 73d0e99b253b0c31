// Cards whose bank requires a confirmation (3-D Secure): at the checkout, at renewals, changes and
// pauses, and in the storefront.
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, type Reply } from '#testing/app.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import {
  ASKS_ALWAYS,
  ASKS_ONCE,
  createShop,
  FAILS_AT_RENEWAL,
  GOOD_CARD,
  PRICES,
} from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'

suite('a bank that asks its customer to confirm', () => {
  const context = suiteContext()
  let store: Shop
  let shop: ReturnType<typeof createShop>
  before(async () => {
    store = await openShop(context)
    shop = createShop(store.app)
  })

  const view = async (client: Client) => (await client.get('/api/billing/subscription')).body
  const state = async (client: Client) => {
    const { status, tier, processor_status, payment_status } = await view(client)
    return [status, tier, processor_status, payment_status]
  }
  const open = async (client: Client, price: string = PRICES.pro) =>
    (await client.post(`/api/billing/create-checkout-session?price_id=${price}`)).body.url as string
  const countEmails = async (client: { email: string }, subject: RegExp) =>
    (await store.mail(client.email)).filter((one) => subject.test(one.subject)).length
  /** Submits a button of the page that a reply redirects to. */
  const answer = (reply: Reply, word: 'complete' | 'fail') => {
    assert.equal(reply.status, 303, reply.text)
    const { pathname } = new URL(reply.headers.get('location') ?? '', store.url)
    assert.match(pathname, /^\/sandbox\/confirm\//)
    return shop.press(pathname, { answer: word })
  }
  const toConfirm = async (client: Client) => {
    const { body } = await client.post('/api/billing/create-payment-session')
    const page = new URL(body.url).pathname
    const challenge =
      /href="(\/sandbox\/confirm\/\w+)"/.exec((await store.get(page)).text)?.[1] ?? ''
    return { page, challenge }
  }

  test('a first payment opens the plan once it is confirmed, also after the customer left the page', async () => {
    const ada = await store.as('ada')
    const url = await open(ada)
    const redirect = await shop.pay(url, ASKS_ALWAYS)
    await store.settle()
    assert.deepEqual(await state(ada), ['free', 'free', 'incomplete', 'requires_action'])
    assert.equal((await ada.get('/api/api-keys')).status, 403, 'the gate is closed')
    assert.equal((await shop.readSubscription(ada)).status, 'incomplete')

    // The customer left the page: the billing page links to the invoice, and the invoice to the
    // bank.
    const { page, challenge } = await toConfirm(ada)
    assert.match((await store.get(page)).text, /Your bank asks you to confirm this payment/)
    assert.equal(redirect.headers.get('location')?.endsWith(challenge), true)
    const back = await shop.press(challenge, { answer: 'complete' })
    assert.equal(
      back.headers.get('location'),
      `${store.config.urls.frontend}/dashboard?success=true`,
    )
    assert.deepEqual(await state(ada), ['active', 'pro', 'active', null])
    assert.equal((await shop.press(challenge, { answer: 'complete' })).status, 410, 'once')
    assert.equal((await shop.pay(url, GOOD_CARD)).status, 400, 'the checkout is done')
    const { processor_customer_id: customer } = await view(ada)
    assert.equal((await shop.processor.charges.list({ customer })).data.length, 1)
  })

  test('a failed confirmation leaves the checkout open, and another card pays the same subscription', async () => {
    const bob = await store.as('bob')
    const url = await open(bob)
    const failed = await answer(await shop.pay(url, ASKS_ONCE), 'fail')
    assert.match(failed.text, /unable to authenticate/)
    await store.settle()
    assert.deepEqual(await state(bob), ['free', 'free', 'incomplete', 'requires_payment_method'])
    assert.equal((await shop.pay(url, GOOD_CARD)).status, 303)
    assert.deepEqual(await state(bob), ['active', 'pro', 'active', null])
    const { processor_customer_id: customer } = await view(bob)
    assert.equal(
      (await shop.processor.subscriptions.list({ customer, status: 'all' })).data.length,
      1,
    )
    assert.equal((await shop.processor.charges.list({ customer })).data.length, 1)
  })

  test('a renewal that needs a confirmation keeps the plan open, sends one email and is paid on the invoice’s page', async () => {
    const dora = await store.as('dora')
    await answer(await shop.pay(await open(dora), ASKS_ALWAYS), 'complete')
    await shop.portal(dora, 'renew-well')
    for (let time = 0; time < 3; time++) await store.app.service.billing.sync()
    assert.deepEqual(await state(dora), ['past_due', 'pro', 'past_due', 'requires_action'])
    assert.equal((await dora.get('/api/api-keys')).status, 200, 'the gate is open')
    assert.ok((await view(dora)).open_until > store.clock.now())
    assert.equal(await countEmails(dora, /bank asks you to confirm/), 1)
    assert.equal(await countEmails(dora, /did not go through/), 0, 'one email for the failure')

    const { challenge } = await toConfirm(dora)
    const refused = await shop.press(challenge, { answer: 'fail' })
    assert.match(refused.text, /unable to authenticate/)
    await store.settle()
    assert.deepEqual(await state(dora), ['past_due', 'pro', 'past_due', 'requires_payment_method'])
    assert.equal(
      await countEmails(dora, /did not go through/),
      0,
      'also when it was failed at the bank',
    )
    const { page } = await toConfirm(dora)
    await answer(await shop.press(page, { card: ASKS_ONCE }), 'complete')
    await store.settle()
    assert.deepEqual(await state(dora), ['active', 'pro', 'active', null])
    assert.equal(await countEmails(dora, /plan is paid/), 1)

    // The confirmed card is saved, and its bank requires no further confirmation.
    await shop.portal(dora, 'renew-well')
    assert.deepEqual(await state(dora), ['active', 'pro', 'active', null])
  })

  test('a change that needs a confirmation changes nothing and succeeds at a checkout', async () => {
    const fred = await store.as('fred')
    await answer(await shop.pay(await open(fred), ASKS_ALWAYS), 'complete')
    const preview = await fred.post('/api/billing/change/preview', { price_id: PRICES.enterprise })
    const change = { price_id: PRICES.enterprise, proration_at: preview.body.proration_at }
    const refused = await fred.post('/api/billing/change', change)
    assert.deepEqual([refused.status, refused.body.code], [402, 'payment_to_confirm'])
    assert.deepEqual(await state(fred), ['active', 'pro', 'active', null])

    // Creation times have whole seconds, and the second checkout must be newer.
    store.clock.advance(60_000)
    await answer(await shop.pay(await open(fred, PRICES.enterprise), ASKS_ALWAYS), 'complete')
    await store.settle()
    await store.app.service.billing.sync()
    assert.deepEqual(await state(fred), ['active', 'enterprise', 'active', null])
    const { processor_customer_id: customer } = await view(fred)
    const { data } = await shop.processor.subscriptions.list({ customer, status: 'active' })
    assert.equal(data.length, 1)
  })

  test('a change by the operator that needs a confirmation is emailed to the customer as a checkout', async () => {
    const rita = await store.as('rita')
    await answer(await shop.pay(await open(rita), ASKS_ALWAYS), 'complete')
    const root = await store.as('root', { superuser: true })
    const plan = `/api/admin/users/${rita.userId}/plan`
    const { body } = await root.post(`${plan}/preview`, { price_id: PRICES.enterprise })
    const change = { price_id: PRICES.enterprise, proration_at: body.proration_at }
    const sent = await root.post(plan, change)
    assert.deepEqual([sent.status, sent.body.is_to_confirm], [200, true], sent.text)
    await store.settle()
    assert.deepEqual(await state(rita), ['active', 'pro', 'active', null])
    const [entry] = (await root.get(`/api/admin/audit?user_id=${rita.userId}`)).body.entries
    assert.equal(entry.action, 'plan.confirmation-sent')

    store.clock.advance(60_000)
    const email = (await store.mail(rita.email)).find(({ subject }) =>
      /^Confirm your change/.test(subject),
    )
    const [, url = ''] = /Confirm and pay:\n(\S+)/.exec(email?.text ?? '') ?? []
    await answer(await shop.pay(url, ASKS_ALWAYS), 'complete')
    await store.settle()
    await store.app.service.billing.sync()
    assert.deepEqual(await state(rita), ['active', 'enterprise', 'active', null])
  })

  const pending = async (client: Client) => (await view(client)).pending_checkout

  test('shows a second checkout, confirms it separately from the plan’s debt, and replaces the plan', async () => {
    const otto = await store.as('otto')
    await shop.pay(await open(otto), FAILS_AT_RENEWAL)
    await store.settle()
    await shop.portal(otto, 'renew-well')
    store.clock.advance(60_000)
    await shop.pay(await open(otto, PRICES.enterprise), ASKS_ALWAYS)
    await store.settle()
    assert.deepEqual(await state(otto), ['past_due', 'pro', 'past_due', 'requires_payment_method'])
    assert.deepEqual(await pending(otto), {
      price_id: PRICES.enterprise,
      tier: 'enterprise',
      payment_status: 'requires_action',
      replaces: true,
    })
    const pageFor = async (what: string) =>
      (
        await store.get(
          new URL((await otto.post(`/api/billing/create-payment-session?for=${what}`)).body.url)
            .pathname,
        )
      ).text
    assert.doesNotMatch(await pageFor('plan'), /href="\/sandbox\/confirm/, 'what the plan owes')
    const [, challenge = ''] =
      /href="(\/sandbox\/confirm\/\w+)"/.exec(await pageFor('checkout')) ?? []
    await shop.press(challenge, { answer: 'complete' })
    await store.settle()
    await store.app.service.billing.sync()
    assert.deepEqual(await state(otto), ['active', 'enterprise', 'active', null])
    assert.equal(await pending(otto), null)
    assert.equal((await otto.post('/api/billing/create-payment-session?for=both')).status, 422)
  })

  test('of two pending checkouts the paid one wins; the earlier one is credited if it is confirmed later', async () => {
    const paula = await store.as('paula')
    const first = await shop.pay(await open(paula, PRICES.enterprise), ASKS_ALWAYS)
    store.clock.advance(60_000)
    await shop.pay(await open(paula), GOOD_CARD)
    await store.settle()
    assert.deepEqual(await state(paula), ['active', 'pro', 'active', null])
    assert.deepEqual(await pending(paula), {
      price_id: PRICES.enterprise,
      tier: 'enterprise',
      payment_status: 'requires_action',
      replaces: false,
    })
    await answer(first, 'complete')
    await store.settle()
    await store.app.service.billing.sync()
    await store.settle()
    assert.deepEqual(await state(paula), ['active', 'pro', 'active', null])
    assert.equal(await pending(paula), null)
    const { processor_customer_id: customer } = await view(paula)
    const live = await shop.processor.subscriptions.list({ customer, status: 'active' })
    assert.equal(live.data.length, 1, 'only one is live')
    const { balance } = (await shop.processor.customers.retrieve(customer)) as { balance: number }
    assert.ok(balance <= -9_800, `the earlier payment is credited: ${balance}`)
  })

  test('a pause ends when its payment is confirmed, regardless of clicks in between', async () => {
    const gina = await store.as('gina')
    await answer(await shop.pay(await open(gina), ASKS_ALWAYS), 'complete')
    await shop.pause(gina)
    for (let time = 0; time < 2; time++) {
      assert.equal((await gina.post('/api/billing/resume')).status, 200)
      assert.deepEqual(await state(gina), ['past_due', 'free', 'paused', 'requires_action'])
    }
    const { invoices } = (await gina.get('/api/billing/invoices')).body
    assert.equal(invoices.filter(({ status }: { status: string }) => status === 'open').length, 1)
    const { challenge } = await toConfirm(gina)
    await shop.press(challenge, { answer: 'complete' })
    await store.settle()
    assert.deepEqual(await state(gina), ['active', 'pro', 'active', null])
    assert.ok(Date.parse((await view(gina)).current_period_end) - store.clock.ms() > 27 * DAY_MS)
  })

  const invoicesOf = async (
    client: Client,
  ): Promise<{ id: string; status: string; pay_url: string }[]> =>
    (await client.get('/api/billing/invoices')).body.invoices
  const payInvoice = async (payUrl: string) => {
    const { headers } = await store.get(payUrl.slice(payUrl.indexOf('/api/')))
    return shop.press(new URL(headers.get('location') ?? '').pathname, { card: GOOD_CARD })
  }
  const openOf = async (client: Client) =>
    (await invoicesOf(client)).filter(({ status }) => status === 'open')

  test('retries a resumption that failed at the bank with one open invoice, not two', async () => {
    const iris = await store.as('iris')
    await answer(await shop.pay(await open(iris), ASKS_ALWAYS), 'complete')
    await shop.pause(iris)
    await iris.post('/api/billing/resume')
    await shop.press((await toConfirm(iris)).challenge, { answer: 'fail' })
    await store.settle()
    assert.deepEqual(await state(iris), ['past_due', 'free', 'paused', 'requires_payment_method'])
    const [failed] = await openOf(iris)
    assert.equal((await iris.post('/api/billing/resume')).status, 200)
    const [again, ...more] = await openOf(iris)
    assert.ok(again && again.id !== failed?.id)
    assert.deepEqual(more, [])
    const late = await payInvoice(failed?.pay_url ?? '')
    assert.notEqual(late.status, 303, 'the one before is paid no more')
    await payInvoice(again.pay_url)
    await store.settle()
    assert.deepEqual(await state(iris), ['active', 'pro', 'active', null])
    const { processor_customer_id: customer } = await view(iris)
    const { data } = await shop.processor.charges.list({ customer })
    assert.equal(
      data.filter(({ status }) => status === 'succeeded').length,
      2,
      'the first period and this one',
    )
  })

  test('two concurrent resume requests start one period', async () => {
    for (const [name, card, then] of [
      ['jane', ASKS_ALWAYS, 'paused'],
      ['kim', GOOD_CARD, 'active'],
    ] as const) {
      const client = await store.as(name)
      const paid = await shop.pay(await open(client), card)
      if (card === ASKS_ALWAYS) await answer(paid, 'complete')
      await store.settle()
      await shop.pause(client)
      const both = await Promise.all([1, 2].map(() => client.post('/api/billing/resume')))
      // The second request may also arrive after the first is done.
      for (const { status, body } of both)
        assert.ok(status === 200 || body.code === 'nothing_to_resume', name)
      assert.equal((await shop.readSubscription(client)).status, then)
      assert.equal(
        (await invoicesOf(client)).filter(({ status }) => status !== 'void').length,
        2,
        name,
      )
    }
  })

  test('a debt from before a pause stays open and is not part of the resumption', async () => {
    const lea = await store.as('lea')
    await shop.pay(await open(lea), FAILS_AT_RENEWAL)
    await store.settle()
    await shop.portal(lea, 'renew-well')
    await store.settle()
    const [owed] = await openOf(lea)
    assert.ok(owed)
    store.clock.advance(60_000)
    // Only the operator can pause an overdue subscription, at the processor.
    await shop.processor.subscriptions.pause((await shop.readSubscription(lea)).id, {
      type: 'subscription',
      bill_for: { unused_time_from: { type: 'none' } },
    })
    await store.settle()
    await store.app.service.billing.sync()
    assert.deepEqual(await state(lea), ['past_due', 'free', 'paused', null])
    store.clock.advance(60_000)
    const refused = await lea.post('/api/billing/resume')
    assert.deepEqual([refused.status, refused.body.code], [402, 'payment_refused'])
    assert.deepEqual(
      (await openOf(lea)).map(({ id }) => id),
      [owed.id],
    )
  })

  test('records a purchase once, when its payment is confirmed', async () => {
    const hugo = await store.buyer('hugo')
    const url = (await hugo.get('/api/checkout?tier=basic')).headers.get('location') ?? ''
    const redirect = await shop.pay(url, ASKS_ALWAYS)
    await store.settle()
    assert.deepEqual((await hugo.get('/api/purchases')).body, [])
    const failed = await answer(redirect, 'fail')
    assert.match(failed.text, /unable to authenticate/)
    assert.equal(
      (await hugo.get('/api/checkout?tier=basic')).headers.get('location'),
      url,
      'it is still open',
    )
    const again = await shop.pay(url, ASKS_ONCE)
    assert.match((await store.get(new URL(url).pathname)).text, /href="\/sandbox\/confirm\//)
    const back = await answer(again, 'complete')
    const { pathname, search } = new URL(back.headers.get('location') ?? '')
    assert.match((await hugo.get(pathname + search)).text, /your payment has arrived/)
    assert.equal((await hugo.get('/api/purchases')).body.length, 1)
    assert.equal((await answer(again, 'complete')).status, 410)
    assert.equal(await countEmails(hugo, /license/i), 1)
  })

  test('rejects a confirmation of an unknown or a paid payment', async () => {
    for (const id of ['pi_nope', 'cs_test_nope', 'in_x', '..%2F..%2Fmail']) {
      assert.ok(
        (await shop.press(`/sandbox/confirm/${id}`, { answer: 'complete' })).status >= 400,
        id,
      )
    }
    const eve = await store.as('eve')
    await shop.subscribe(eve)
    const { processor_customer_id: customer } = await view(eve)
    const [paid] = (await shop.processor.paymentIntents.list({ customer })).data
    assert.equal(
      (await shop.press(`/sandbox/confirm/${paid?.id}`, { answer: 'complete' })).status,
      410,
    )
  })

  test('ignores a first payment for a foreign product', async () => {
    const noa = await store.as('noa')
    await open(noa)
    const { processor_customer_id: customer } = await view(noa)
    const price = await shop.processor.prices.create({
      currency: 'usd',
      unit_amount: 500,
      recurring: { interval: 'month' },
      product_data: { name: 'A magazine' },
    })
    const { url } = await shop.processor.checkout.sessions.create({
      mode: 'subscription',
      customer,
      line_items: [{ price: price.id, quantity: 1 }],
      success_url: 'http://127.0.0.1/read',
    })
    await shop.pay(url ?? '', ASKS_ALWAYS)
    await store.settle()
    await store.app.service.billing.sync()
    assert.equal((await shop.readSubscription(noa)).status, 'incomplete')
    assert.deepEqual((await state(noa)).at(-1), null)
  })

  test('abandons a payment that is not confirmed within a day', async () => {
    const cleo = await store.as('cleo')
    const redirect = await shop.pay(await open(cleo), ASKS_ALWAYS)
    const moved = await store.post('/sandbox/processor/clock', {
      to: new Date(store.clock.ms() + 25 * HOUR_MS),
    })
    assert.equal(moved.status, 200, moved.text)
    await store.app.service.billing.sync()
    const { body } = await store.post('/api/auth/login', { email: cleo.email, password: PASSWORD })
    const later = createClient(store.url, body.access_token, cleo)
    assert.deepEqual(await state(later), ['cancelled', 'free', null, null])
    const late = await answer(redirect, 'complete')
    assert.equal(late.status, 410)
    const { processor_customer_id: customer } = await view(later)
    assert.equal((await shop.processor.charges.list({ customer })).data.length, 0)
  })

  test('stays paused without a debt when the resumption is never confirmed', async () => {
    const mia = await store.as('mia')
    await answer(await shop.pay(await open(mia), ASKS_ALWAYS), 'complete')
    await shop.pause(mia)
    await mia.post('/api/billing/resume')
    const { challenge } = await toConfirm(mia)
    for (const days of [1, 31]) {
      const moved = await store.post('/sandbox/processor/clock', {
        to: new Date(store.clock.ms() + days * 25 * HOUR_MS),
      })
      assert.equal(moved.status, 200, moved.text)
      await store.app.service.billing.sync()
      const { body } = await store.post('/api/auth/login', { email: mia.email, password: PASSWORD })
      const later = createClient(store.url, body.access_token, mia)
      assert.deepEqual(await state(later), ['past_due', 'free', 'paused', null])
      assert.deepEqual(await openOf(later), [])
    }
    assert.equal((await shop.press(challenge, { answer: 'complete' })).status, 410)
  })
})

// The life of a subscription, through the API and the processor's pages. All tests share one shop,
// each with its own users.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop, FAILS_AT_RENEWAL, GOOD_CARD, PRICES } from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'

const OTHER_CARD = '5200828282828210'

suite('the life of a subscription', () => {
  const context = suiteContext()
  let app: TestApp
  let shop: ReturnType<typeof createShop>
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'life-'))
    context.after(() => rmSync(folder, { recursive: true, force: true }))
    const plan = (tier: string, name: string, trial_days: number) => ({
      tier,
      name,
      trial_days,
      grants: ['ai', 'rag', 'api_keys'],
      allowance_usd: 20,
    })
    const plans = [plan('pro', 'Pro', 14), plan('enterprise', 'Enterprise', 0)]
    const CATALOGUE = join(folder, 'catalogue.json')
    writeFileSync(CATALOGUE, JSON.stringify({ plans }))
    app = await testApp(context, { env: { CATALOGUE, RETENTION_COUPON: '' } })
    shop = createShop(app)
  })

  const view = async (client: Client) => (await client.get('/api/billing/subscription')).body
  const listSubjects = async (client: Client) =>
    (await app.mail(client.email)).map(({ subject }) => subject)
  const count = async (client: Client, subject: RegExp) =>
    (await listSubjects(client)).filter((one) => subject.test(one)).length
  const change = async (client: Client, price_id: string) => {
    const preview = await client.post('/api/billing/change/preview', { price_id })
    assert.equal(preview.status, 200, preview.text)
    const { proration_at } = preview.body
    return {
      preview: preview.body,
      reply: await client.post('/api/billing/change', { price_id, proration_at }),
    }
  }
  /** Waits until the processor's events and the jobs that they enqueue are done. */
  const caughtUp = async () => {
    await app.service.billing.sync()
    await app.settle()
    await app.service.billing.sync()
  }
  const refused = (reply: { status: number; body: { code?: string } }) => [
    reply.status,
    reply.body.code,
  ]

  test('a trial opens the plan, charges nothing, and is announced once before it ends', async () => {
    const ada = await app.as('ada')
    assert.equal((await view(ada)).trial_available, true)
    const checkout = () => ada.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
    assert.deepEqual(
      refused(await checkout()),
      [403, 'trial_needs_verified_email'],
      'a trial needs a verified address',
    )
    await shop.verify(ada)
    assert.equal((await checkout()).status, 200)
    await shop.subscribe(ada)
    const trial = await view(ada)
    assert.deepEqual(
      [trial.status, trial.tier, trial.processor_status],
      ['active', 'pro', 'trialing'],
    )
    assert.deepEqual(
      [trial.amount, trial.currency, trial.interval, trial.card.last4],
      [29, 'usd', 'month', '4242'],
    )
    assert.equal(Date.parse(trial.trial_ends_at) - app.clock.ms() > 13 * DAY_MS, true)
    assert.equal(trial.trial_available, false)
    const { invoices } = (await ada.get('/api/billing/invoices')).body
    assert.ok(invoices.every(({ total }: { total: number }) => total === 0))

    await app.service.billing.sync()
    assert.equal(await count(ada, /trial of Pro ends/), 0)
    app.clock.advance(12 * DAY_MS)
    for (let time = 0; time < 2; time++) await app.service.billing.sync()
    assert.equal(await count(ada, /trial of Pro ends/), 1)
    const [mail] = await app.mail(ada.email)
    assert.match(mail?.text ?? '', /\$29\.00 a month/)
    app.clock.advance(-12 * DAY_MS)
  })

  test('rejects a second trial under another spelling of the address, another card, or a new account', async () => {
    const spelt = await app.as('ada+again')
    assert.equal((await view(spelt)).trial_available, false)
    await shop.subscribe(spelt, { card: OTHER_CARD })
    assert.equal((await view(spelt)).processor_status, 'active', 'it is paid at once')

    const gone = await app.as('gone')
    await shop.subscribe(gone, { card: FAILS_AT_RENEWAL })
    assert.equal((await view(gone)).processor_status, 'trialing')
    assert.equal((await gone.delete('/api/users/me', { password: PASSWORD })).status, 200)
    await app.settle()
    const email = 'gone@example.com'
    assert.equal(
      (await app.post('/api/auth/register', { email, password: PASSWORD, full_name: 'gone' }))
        .status,
      201,
    )
    const { body } = await app.post('/api/auth/login', { email, password: PASSWORD })
    const authorization = `Bearer ${body.access_token}`
    const again = await app.get('/api/billing/subscription', { headers: { authorization } })
    assert.equal(again.body.trial_available, false)
  })

  test('a reused card ends the next trial uncharged, with an email, and opens nothing', async () => {
    const eve = await app.as('eve')
    assert.equal((await view(eve)).trial_available, true)
    await shop.subscribe(eve, { card: GOOD_CARD })
    await caughtUp()
    const { status, tier, trial_available } = await view(eve)
    assert.deepEqual([status, tier, trial_available], ['cancelled', 'free', false])
    assert.deepEqual(
      (await listSubjects(eve)).filter((subject) => /trial|ended/i.test(subject)),
      ['Your trial could not start'],
    )
    const { processor_customer_id: customer } = await view(eve)
    assert.equal((await shop.processor.charges.list({ customer })).data.length, 0)
    await shop.subscribe(eve)
    assert.equal((await view(eve)).processor_status, 'active')
    assert.equal((await shop.processor.charges.list({ customer })).data.length, 1)
  })

  test('a trial whose first charge fails closes at once; a failed renewal has a grace period', async () => {
    const card = await app.as('no-money')
    await shop.subscribe(card, { card: OTHER_CARD })
    assert.equal((await view(card)).processor_status, 'trialing')
    await shop.portal(card, 'renew-badly')
    const closed = await view(card)
    assert.deepEqual(
      [closed.status, closed.tier, closed.processor_status, closed.open_until],
      ['past_due', 'free', 'past_due', null],
    )
    assert.deepEqual(
      [await count(card, /is suspended until it is paid/), await count(card, /did not go through/)],
      [1, 0],
    )
    assert.equal((await card.get('/api/api-keys')).status, 403)
  })

  test('two checkouts opened before either is paid give one trial', async () => {
    const cara = await app.as('cara')
    await shop.verify(cara)
    const open = () => cara.post(`/api/billing/create-checkout-session?price_id=${PRICES.pro}`)
    const [first, second] = [await open(), await open()]
    const number = '5555555555554444'
    await shop.pay(first.body.url, number)
    await shop.subscription(cara)
    await shop.pay(second.body.url, number)
    await shop.subscription(cara)
    await caughtUp()
    const { processor_customer_id: customer } = await view(cara)
    const { data } = await shop.processor.subscriptions.list({ customer, status: 'all' })
    const statuses = data.map(({ status }) => status).sort()
    assert.deepEqual(statuses, ['canceled', 'trialing'])
    assert.equal((await view(cara)).tier, 'pro')
  })

  test('a larger plan opens at once for the previewed amount; a smaller one waits for the period’s end', async () => {
    const dan = await app.as('dan')
    await shop.subscribe(dan, { price: PRICES.enterprise })
    const down = await change(dan, PRICES.pro)
    assert.deepEqual([down.preview.due_now, down.preview.due_later], [0, 29])
    assert.equal(down.reply.status, 200, down.reply.text)
    const waiting = down.reply.body
    assert.deepEqual(
      [waiting.tier, waiting.next_tier, waiting.next_price_id],
      ['enterprise', 'pro', PRICES.pro],
    )
    assert.equal(down.preview.takes_effect, waiting.current_period_end)
    const { balance } = (await shop.processor.customers.retrieve(
      waiting.processor_customer_id,
    )) as { balance: number }
    assert.equal(balance, 0, 'nothing is credited')

    const back = await change(dan, PRICES.enterprise)
    assert.deepEqual(
      [back.preview.due_now, back.reply.body.next_tier, back.reply.body.tier],
      [0, null, 'enterprise'],
    )
    await change(dan, PRICES.pro)
    await shop.portal(dan, 'renew-well')
    const renewed = await view(dan)
    assert.deepEqual([renewed.tier, renewed.next_tier, renewed.amount], ['pro', null, 29])

    const up = await change(dan, PRICES.enterprise)
    assert.equal(up.reply.status, 200, up.reply.text)
    assert.equal(up.reply.body.tier, 'enterprise')
    assert.ok(up.preview.due_now > 60 && up.preview.due_now <= 70, `${up.preview.due_now}`)
    const [paid] = (await dan.get('/api/billing/invoices')).body.invoices
    assert.deepEqual([paid.status, paid.total], ['paid', up.preview.due_now])
  })

  test('rejects attempts to pay less by price, timestamp or repeated clicks', async () => {
    const dan = await app.as('dan')
    const now = Math.floor(app.clock.ms() / 1000)
    const post = (body: object) => dan.post('/api/billing/change', body)
    for (const price_id of ['price_nope', 'price_sandbox_store_pro']) {
      assert.deepEqual(refused(await dan.post('/api/billing/change/preview', { price_id })), [
        400,
        'unknown_price',
      ])
      assert.deepEqual(refused(await post({ price_id, proration_at: now })), [400, 'unknown_price'])
    }
    for (const proration_at of [now + 3_600, now + 29 * 86_400, now - 86_400, 0, -1]) {
      assert.deepEqual(refused(await post({ price_id: PRICES.pro, proration_at })), [
        409,
        'preview_outdated',
      ])
    }
    assert.deepEqual(refused(await post({ price_id: PRICES.enterprise, proration_at: now })), [
      409,
      'same_plan',
    ])
    assert.equal((await post({ price_id: PRICES.pro, proration_at: 'now' })).status, 422)
    const eva = await app.as('eva')
    const none = await eva.post('/api/billing/change', {
      price_id: PRICES.pro,
      proration_at: now,
      subscription: 'x',
    })
    assert.ok([409, 422].includes(none.status), none.text)
    assert.deepEqual(refused(await eva.post('/api/billing/pause')), [409, 'no_subscription'])
    assert.deepEqual(refused(await eva.post('/api/billing/resume')), [409, 'no_subscription'])
  })

  test('a change during a trial is free if the new plan has a trial, and otherwise ends it', async () => {
    const ada = await app.as('ada')
    const same = await change(ada, PRICES.proYearly)
    assert.deepEqual([same.preview.due_now, same.reply.body.processor_status], [0, 'trialing'])
    const { preview, reply } = await change(ada, PRICES.enterprise)
    assert.equal(preview.due_now, 99)
    assert.deepEqual([reply.body.processor_status, reply.body.tier], ['active', 'enterprise'])
  })

  test('a declined card changes nothing', async () => {
    const fay = await app.as('fay+x')
    await app.platform.db
      .insertInto('trial_marks')
      .values(await buildMark(app, fay.email))
      .execute()
    await shop.subscribe(fay, { card: FAILS_AT_RENEWAL })
    const { reply } = await change(fay, PRICES.enterprise)
    assert.deepEqual(refused(reply), [402, 'payment_refused'])
    assert.deepEqual((await view(fay)).tier, 'pro')
    assert.equal((await shop.readSubscription(fay)).items.data[0]?.price.id, PRICES.pro)
  })

  test('a pause waits for the end of the paid period, and can be withdrawn for free before', async () => {
    const dan = await app.as('dan')
    const before = await view(dan)
    for (let time = 0; time < 2; time++) {
      const { status, body } = await dan.post('/api/billing/pause')
      assert.deepEqual(
        [status, body.status, body.tier, body.pauses_at],
        [200, 'active', 'enterprise', before.current_period_end],
      )
    }
    const now = Math.floor(app.clock.ms() / 1000)
    const moved = await dan.post('/api/billing/change', { price_id: PRICES.pro, proration_at: now })
    assert.deepEqual(
      refused(moved),
      [409, 'subscription_pausing'],
      'voided invoices would make the change free',
    )
    const withdrawn = await dan.post('/api/billing/resume')
    assert.deepEqual(
      [withdrawn.status, withdrawn.body.pauses_at, withdrawn.body.tier],
      [200, null, 'enterprise'],
    )
    const after = await view(dan)
    assert.deepEqual(
      [after.price_id, after.current_period_end],
      [before.price_id, before.current_period_end],
    )
    assert.deepEqual(refused(await dan.post('/api/billing/resume')), [409, 'nothing_to_resume'])
  })

  test('charges a yearly plan once for its year despite a pause', async () => {
    const yan = await app.as('yan+x')
    await app.platform.db
      .insertInto('trial_marks')
      .values(await buildMark(app, yan.email))
      .execute()
    await shop.subscribe(yan, { price: PRICES.proYearly })
    for (let time = 0; time < 3; time++) {
      assert.equal((await yan.post('/api/billing/pause')).status, 200)
      assert.equal((await yan.post('/api/billing/resume')).status, 200)
    }
    const { processor_customer_id: customer, tier } = await view(yan)
    const { data } = await shop.processor.charges.list({ customer })
    assert.deepEqual([tier, data.map(({ amount }) => amount)], ['pro', [29_000]])
  })

  test('a pause closes the plan at the end of its period; resuming bills a new period', async () => {
    const dan = await app.as('dan')
    await shop.pause(dan)
    const paused = await view(dan)
    assert.deepEqual(
      [paused.status, paused.tier, paused.processor_status],
      ['past_due', 'free', 'paused'],
    )
    assert.deepEqual(refused(await dan.post('/api/billing/pause')), [409, 'subscription_paused'])
    const now = Math.floor(app.clock.ms() / 1000)
    const moved = await dan.post('/api/billing/change', { price_id: PRICES.pro, proration_at: now })
    assert.deepEqual(refused(moved), [409, 'subscription_paused'])
    const paidBefore = (await dan.get('/api/billing/invoices')).body.invoices.length
    const resumed = await dan.post('/api/billing/resume')
    assert.deepEqual(
      [resumed.status, resumed.body.status, resumed.body.tier],
      [200, 'active', 'enterprise'],
    )
    const { invoices } = (await dan.get('/api/billing/invoices')).body
    assert.deepEqual(
      [invoices.length, invoices[0].total, invoices[0].status],
      [paidBefore + 1, 99, 'paid'],
    )
    assert.deepEqual(refused(await dan.post('/api/billing/resume')), [409, 'nothing_to_resume'])
  })

  test('a pause of collection that voids invoices closes the plan', async () => {
    const dan = await app.as('dan')
    const { id } = await shop.readSubscription(dan)
    for (const [behavior, status, tier] of [
      ['void', 'past_due', 'free'],
      ['keep_as_draft', 'active', 'enterprise'],
    ] as const) {
      await shop.processor.subscriptions.update(id, { pause_collection: { behavior } })
      await app.service.billing.sync()
      const shown = await view(dan)
      assert.deepEqual([shown.status, shown.tier], [status, tier], behavior)
    }
    await shop.processor.subscriptions.update(id, { pause_collection: '' })
    await app.service.billing.sync()
  })

  test('emails a cancellation, stores its reason, and sends offers only after an opt-in', async () => {
    const dan = await app.as('dan')
    const { id } = await shop.readSubscription(dan)
    const cancel = () =>
      shop.processor.subscriptions.update(id, {
        cancel_at_period_end: true,
        cancellation_details: { feedback: 'too_expensive', comment: 'for now' },
      })
    await cancel()
    await app.service.billing.sync()
    assert.equal((await view(dan)).cancel_at_period_end, true)
    assert.equal(await count(dan, /plan ends on/), 1)
    const resumed = await dan.post('/api/billing/resume')
    assert.deepEqual([resumed.status, resumed.body.cancel_at_period_end], [200, false])
    const rows = () =>
      app.platform.db
        .selectFrom('cancellations')
        .selectAll()
        .where('user_id', '=', dan.userId)
        .execute()
    assert.deepEqual(await rows(), [])

    await dan.patch('/api/billing/offers', { by_mail: true })
    await cancel()
    await shop.portal(dan, 'renew-well')
    assert.deepEqual([(await view(dan)).status, (await view(dan)).tier], ['cancelled', 'free'])
    const [row] = await rows()
    assert.deepEqual(
      [row?.feedback, row?.comment, row?.ended_at !== null],
      ['too_expensive', 'for now', true],
    )
    await app.service.billing.sync()
    assert.equal(await count(dan, /plan has ended/), 1)
    assert.equal(await count(dan, /plan ends on/), 1, 'one email for one end')

    app.clock.advance(15 * DAY_MS)
    for (let time = 0; time < 2; time++) await app.service.billing.sync()
    assert.equal(await count(dan, /Come back to/), 1)
    const [mail] = (await app.mail(dan.email)).filter(({ subject }) => /Come back to/.test(subject))
    app.clock.advance(-15 * DAY_MS)
    const token =
      new URL(mail?.links.find((link) => link.includes('/unsubscribe')) ?? '').searchParams.get(
        'token',
      ) ?? ''
    const end = (some: string) =>
      app.request('POST', `/api/billing/offers/unsubscribe?token=${encodeURIComponent(some)}`, {
        body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
      })
    for (const forged of [
      'x',
      `${dan.userId}.`,
      `${dan.userId}.${'A'.repeat(43)}`,
      token.slice(0, -1),
    ]) {
      assert.equal((await end(forged)).status, 400, forged)
    }
    assert.equal((await view(dan)).offers_by_mail, true)
    assert.equal((await end(token)).status, 200)
    assert.equal((await view(dan)).offers_by_mail, false)
  })

  test('emails a failed payment, its recovery and the end of the grace period once each', async () => {
    const kim = await app.as('kim+x')
    await app.platform.db
      .insertInto('trial_marks')
      .values(await buildMark(app, kim.email))
      .execute()
    await shop.subscribe(kim)
    await shop.portal(kim, 'renew-badly')
    const { id, customer } = await shop.readSubscription(kim)
    const failed = {
      type: 'invoice.payment_failed',
      object: {
        id: 'in_x',
        object: 'invoice',
        customer,
        parent: { subscription_details: { subscription: id } },
      },
    }
    for (let time = 0; time < 3; time++) await shop.send(failed)
    const due = await view(kim)
    assert.deepEqual([due.status, due.tier, due.processor_status], ['past_due', 'pro', 'past_due'])
    assert.ok(due.open_until > app.clock.now())
    assert.equal(await count(kim, /did not go through/), 1)
    const now = Math.floor(app.clock.ms() / 1000)
    for (const reply of [
      await kim.post('/api/billing/pause'),
      await kim.post('/api/billing/change', { price_id: PRICES.enterprise, proration_at: now }),
    ]) {
      assert.deepEqual(refused(reply), [409, 'payment_due'])
    }
    // The first view enqueues a job that reads invoices whose events did not arrive.
    await kim.get('/api/billing/invoices')
    await app.settle()
    const { invoices } = (await kim.get('/api/billing/invoices')).body
    assert.deepEqual([invoices[0].status, invoices[0].due], ['open', 29])
    assert.match((await kim.post('/api/billing/create-payment-session')).body.url, /^http/)

    await shop.portal(kim, 'retry')
    await app.service.billing.sync()
    assert.deepEqual([(await view(kim)).status, await count(kim, /plan is paid/)], ['active', 1])
    await shop.portal(kim, 'give-up')
    await app.service.billing.sync()
    assert.deepEqual(
      [(await view(kim)).tier, await count(kim, /is suspended until it is paid/)],
      ['free', 1],
    )
    assert.equal(await count(kim, /plan is paid/), 1)
  })

  test('a deal is for one customer only', async () => {
    const dan = await app.as('dan')
    const eve = await app.as('eve')
    const user = await app.platform.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', dan.userId)
      .executeTakeFirstOrThrow()
    const { price_id } = await app.service.billing.makeDeal(user, {
      tier: 'pro',
      interval: 'month',
      amount: 19.5,
    })
    assert.deepEqual((await view(dan)).deal, {
      price_id,
      tier: 'pro',
      amount: 19.5,
      currency: 'usd',
      interval: 'month',
    })
    assert.equal((await view(eve)).deal, null)
    const stolen = await eve.post(`/api/billing/create-checkout-session?price_id=${price_id}`)
    assert.deepEqual(refused(stolen), [400, 'unknown_price'])
    assert.deepEqual(refused(await eve.post('/api/billing/change/preview', { price_id })), [
      400,
      'unknown_price',
    ])
    await shop.subscribe(dan, { price: price_id })
    const taken = await view(dan)
    assert.deepEqual(
      [taken.status, taken.tier, taken.amount, taken.deal],
      ['active', 'pro', 19.5, null],
    )
    await app.service.billing.sync()
    assert.deepEqual((await app.service.billing.reportDisagreements()).disagreements, [])
    await assert.rejects(
      app.service.billing.makeDeal(user, { tier: 'free', interval: 'month', amount: 5 }),
      /no plan 'free'/,
    )
    await assert.rejects(
      app.service.billing.makeDeal(user, { tier: 'pro', interval: 'month', amount: -5 }),
      /needs an amount above 0/,
    )
  })

  test('old subscribers keep their price until they are moved, with an email beforehand', async () => {
    const eve = await app.as('eve')
    const { id } = await shop.readSubscription(eve)
    const { product } = await shop.processor.prices.retrieve(PRICES.pro)
    const old = await shop.processor.prices.create({
      product: String(product),
      currency: 'usd',
      unit_amount: 1900,
      recurring: { interval: 'month' },
    })
    const [item] = (await shop.processor.subscriptions.retrieve(id)).items.data
    await shop.processor.subscriptions.update(id, {
      items: [{ id: item?.id ?? '', price: old.id }],
      proration_behavior: 'none',
    })
    await caughtUp()
    const before = await view(eve)
    assert.deepEqual([before.tier, before.amount, before.price_id], ['pro', 19, old.id])
    await assert.rejects(
      app.service.billing.movePrice(old.id, 'price_nope'),
      /is not in the catalogue/,
    )
    await assert.rejects(
      app.service.billing.movePrice(old.id, PRICES.proYearly),
      /different intervals/,
    )
    assert.deepEqual(
      await app.service.billing.movePrice(old.id, PRICES.enterprise).then(({ moved }) => moved),
      0,
    )
    assert.deepEqual(await app.service.billing.movePrice(old.id, PRICES.pro), {
      moved: 1,
      skipped: [],
      failed: 0,
    })
    assert.deepEqual(await app.service.billing.movePrice(old.id, PRICES.pro), {
      moved: 0,
      skipped: [],
      failed: 0,
    })
    const after = await view(eve)
    assert.deepEqual([after.tier, after.amount, after.price_id], ['pro', 29, PRICES.pro])
    assert.equal(after.current_period_end, before.current_period_end)
    assert.equal(await count(eve, /price of your Pro plan changes/), 1)
  })

  test('a promotion code in the URL reduces the price, once for each person', async () => {
    const liv = await app.as('liv')
    const url = (code: string) =>
      `/api/billing/create-checkout-session?price_id=${PRICES.enterprise}&promotion_code=${code}`
    assert.deepEqual(refused(await liv.post(url('NONE'))), [400, 'unknown_promotion_code'])
    const coupon = await shop.processor.coupons.create({ percent_off: 50, duration: 'once' })
    await shop.processor.promotionCodes.create({
      code: 'HALF',
      promotion: { type: 'coupon', coupon: coupon.id },
    })
    const opened = await liv.post(url('HALF'))
    assert.equal(opened.status, 200, opened.text)
    await shop.pay(opened.body.url)
    const [invoice] = (await liv.get('/api/billing/invoices')).body.invoices
    assert.equal(invoice.total, 49.5)
    await shop.portal(liv, 'cancel-now')
    await caughtUp()
    assert.deepEqual(refused(await liv.post(url('HALF'))), [409, 'promotion_code_used'])
  })

  test('the portal opens the requested page if it applies', async () => {
    const liv = await app.as('liv')
    assert.equal((await liv.post('/api/billing/create-portal-session?flow=card')).status, 200)
    assert.deepEqual(refused(await liv.post('/api/billing/create-portal-session?flow=cancel')), [
      409,
      'no_subscription',
    ])
    for (const flow of ['steal', 'change']) {
      assert.equal((await liv.post(`/api/billing/create-portal-session?flow=${flow}`)).status, 422)
    }
    const eve = await app.as('eve')
    assert.equal((await eve.post('/api/billing/create-portal-session?flow=cancel')).status, 200)
  })
})

/** Returns the mark of an address that has used its trial. */
async function buildMark(app: TestApp, email: string) {
  const { normalizeAddress } = await import('./trials.ts')
  const mark = app.platform.secrets.hash('trial-address', normalizeAddress(email))
  return { mark, subscription_id: 'sub_before', begun_at: app.clock.now() }
}

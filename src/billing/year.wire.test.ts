// A year of a business on the sandbox's clock, through the whole service: its API, events, jobs and
// emails.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD } from '#testing/app.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import { ASKS_ALWAYS, createShop, FAILS_AT_RENEWAL, PRICES } from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'

/** A card other than those of the earlier trials. */
const EXPIRES_NEXT_MONTH = '5555555555554444'
const ANOTHER = '5200828282828210'

suite('a year of a business', () => {
  const context = suiteContext()
  let store: Shop
  let shop: ReturnType<typeof createShop>
  let begun = 0
  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'year-'))
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
      JSON.stringify({ plans: [plan('pro', 'Pro', 14), plan('enterprise', 'Enterprise', 0)] }),
    )
    store = await openShop(context, { CATALOGUE })
    shop = createShop(store.app)
    begun = store.clock.ms()
  })

  /** Signs everybody in again: tokens expire while the clock moves. */
  const signedIn = async (name: string): Promise<Client> => {
    const person = await store.as(name)
    const { body } = await store.post('/api/auth/login', {
      email: person.email,
      password: PASSWORD,
    })
    return createClient(store.url, body.access_token, person)
  }
  /** Advances to that day of the year. */
  const toDay = async (day: number): Promise<string[]> => {
    const reply = await store.post('/sandbox/processor/clock', {
      to: new Date(begun + day * DAY_MS),
    })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.happened
  }
  const view = async (name: string) =>
    (await (await signedIn(name)).get('/api/billing/subscription')).body
  const state = async (name: string) => {
    const { status, tier, processor_status } = await view(name)
    return [status, tier, processor_status]
  }
  const gate = async (name: string) => (await (await signedIn(name)).get('/api/api-keys')).status
  /** Subjects of the emails about the subscription, the oldest first. */
  const listSubjects = async (name: string) =>
    (await store.mail(`${name}@example.com`))
      .map(({ subject }) => subject.replace(/\d{4}-\d\d-\d\d/, 'DAY'))
      .filter((subject) => /plan|trial|payment|card/i.test(subject))
      .reverse()
  const invoices = async (name: string): Promise<{ status: string; total: number }[]> =>
    (await (await signedIn(name)).get('/api/billing/invoices')).body.invoices
  const change = async (name: string, price_id: string) => {
    const client = await signedIn(name)
    const { body } = await client.post('/api/billing/change/preview', { price_id })
    const reply = await client.post('/api/billing/change', {
      price_id,
      proration_at: body.proration_at,
    })
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  test('starts with a trial, a failing card, a card that needs confirmation, a yearly plan and a sale', async () => {
    await shop.subscribe(await store.as('ada'), { card: EXPIRES_NEXT_MONTH })
    await shop.subscribe(await store.as('bob'), {
      price: PRICES.enterprise,
      card: FAILS_AT_RENEWAL,
    })
    await shop.subscribe(await store.as('yan'), { price: 'price_sandbox_enterprise_yearly' })
    const cleo = await store.as('cleo')
    const { body } = await cleo.post(
      `/api/billing/create-checkout-session?price_id=${PRICES.enterprise}`,
    )
    const redirect = await shop.pay(body.url, ASKS_ALWAYS)
    await shop.press(new URL(redirect.headers.get('location') ?? '').pathname, {
      answer: 'complete',
    })
    const dina = await store.buyer('dina')
    await shop.pay((await dina.get('/api/checkout?tier=basic')).headers.get('location') ?? '')

    assert.deepEqual(await state('ada'), ['active', 'pro', 'trialing'])
    for (const name of ['bob', 'yan', 'cleo'])
      assert.deepEqual(await state(name), ['active', 'enterprise', 'active'])
    assert.equal((await dina.get('/api/purchases')).body.length, 1)
  })

  test('announces and charges the trial; announces and replaces an expiring card', async () => {
    await toDay(12)
    assert.deepEqual(await listSubjects('ada'), ['Your trial of Pro ends on DAY'])
    await toDay(15)
    assert.deepEqual(await state('ada'), ['active', 'pro', 'active'])
    assert.deepEqual((await invoices('ada')).map(({ status, total }) => [status, total])[0], [
      'paid',
      29,
    ])
    await toDay(40)
    const ada = await signedIn('ada')
    const subjects = await listSubjects('ada')
    assert.equal(
      subjects.filter((one) => one === 'Your card expires before your next payment').length,
      1,
      subjects.join(),
    )
    const portal = await ada.post('/api/billing/create-portal-session?flow=card')
    await shop.press(new URL(portal.body.url).pathname, { card: ANOTHER })
    assert.equal((await view('ada')).card.last4, '8210')
  })

  test('a failed renewal keeps the plan open in the grace period until a payment arrives', async () => {
    assert.deepEqual(await state('bob'), ['past_due', 'enterprise', 'past_due'])
    assert.equal(await gate('bob'), 200)
    assert.deepEqual(await listSubjects('bob'), [
      'Your Enterprise plan has started',
      'The payment for your Enterprise plan did not go through',
      'Reminder: the payment for your Enterprise plan is overdue',
    ])
    const bob = await signedIn('bob')
    const { body } = await bob.post('/api/billing/create-payment-session')
    const paid = await shop.press(new URL(body.url).pathname, { card: '4242424242424242' })
    assert.equal(paid.status, 303, paid.text)
    await store.settle()
    assert.deepEqual(await state('bob'), ['active', 'enterprise', 'active'])
    assert.deepEqual((await listSubjects('bob')).slice(3), ['Your Enterprise plan is paid'])
  })

  test('emails a renewal that needs confirmation, then closes and ends the plan without it', async () => {
    assert.deepEqual(
      (await listSubjects('cleo'))[1],
      'Your bank asks you to confirm the payment for your Enterprise plan',
    )
    await toDay(60)
    assert.deepEqual(await listSubjects('cleo'), [
      'Your Enterprise plan has started',
      'Your bank asks you to confirm the payment for your Enterprise plan',
      'Reminder: the payment for your Enterprise plan is overdue',
      'Last reminder: your Enterprise plan will be suspended on DAY',
      'Your Enterprise plan is suspended until it is paid',
      'Your Enterprise plan has ended',
    ])
    assert.deepEqual(await state('cleo'), ['cancelled', 'free', null])
    assert.equal(await gate('cleo'), 403)
  })

  test('bills an upgrade at once, nothing during a pause, and a new period on resumption', async () => {
    const changed = await change('ada', PRICES.enterprise)
    assert.deepEqual([changed.tier, changed.processor_status], ['enterprise', 'active'])
    await toDay(80)
    const paused = await (await signedIn('ada')).post('/api/billing/pause')
    assert.deepEqual([paused.status, paused.body.tier], [200, 'enterprise'], paused.text)
    assert.equal(await gate('ada'), 200)
    const paid = async () =>
      (await invoices('ada')).filter(({ status }) => status === 'paid').length
    const before = await paid()
    await toDay(110)
    assert.deepEqual(await state('ada'), ['past_due', 'free', 'paused'])
    assert.equal(await gate('ada'), 403)
    await toDay(170)
    assert.deepEqual(await state('ada'), ['past_due', 'free', 'paused'])
    assert.equal(await paid(), before)
    const resumed = await (await signedIn('ada')).post('/api/billing/resume')
    assert.deepEqual([resumed.body.status, resumed.body.tier], ['active', 'enterprise'])
    assert.equal(await gate('ada'), 200)
    const [newest] = await invoices('ada')
    assert.deepEqual([newest?.status, newest?.total], ['paid', 99])
  })

  test('confirms a cancellation until it ends; announces the yearly renewal a month ahead', async () => {
    const bob = await signedIn('bob')
    const portal = await bob.post('/api/billing/create-portal-session?flow=cancel')
    await shop.press(new URL(portal.body.url).pathname, {
      choice: 'cancel',
      feedback: 'unused',
      comment: '',
    })
    assert.equal((await view('bob')).cancel_at_period_end, true)
    const yan = await change('yan', 'price_sandbox_pro_yearly')
    assert.deepEqual([yan.tier, yan.next_tier], ['enterprise', 'pro'])

    await toDay(210)
    assert.deepEqual(await state('bob'), ['cancelled', 'free', null])
    assert.deepEqual((await listSubjects('bob')).slice(4), [
      'Your Enterprise plan ends on DAY',
      'Your Enterprise plan has ended',
    ])
    await toDay(340)
    assert.deepEqual(await listSubjects('yan'), [
      'Your Enterprise plan has started',
      'Your plan becomes Pro on DAY',
    ])
    const [email] = await store.mail('yan@example.com')
    assert.match(
      email?.text ?? '',
      /paid year of Enterprise ends on[\s\S]*continues as Pro[\s\S]*\$290\.00 a year/,
    )
    await toDay(366)
    assert.deepEqual(await state('yan'), ['active', 'pro', 'active'])
    assert.deepEqual((await invoices('yan')).map(({ status, total }) => [status, total])[0], [
      'paid',
      290,
    ])
  })

  test('at the end every payment and invoice has a row, nothing differs, and no email was sent twice', async () => {
    await store.app.service.billing.sync()
    assert.deepEqual((await store.app.service.billing.reportDisagreements()).disagreements, [])
    const { db } = store.platform
    const charges = await all(shop.processor.charges.list({ limit: 100 }))
    const paid = charges.filter(({ status }) => status === 'succeeded')
    const rows = await db.selectFrom('payments').selectAll().execute()
    assert.deepEqual(
      rows.map(({ id, amount_cents }) => [id, Number(amount_cents)]).sort(),
      paid.map((one) => [String(one.payment_intent), one.amount]).sort(),
    )
    const theirs = await all(shop.processor.invoices.list({ limit: 100 }))
    const ours = await db.selectFrom('invoices').selectAll().execute()
    assert.deepEqual(
      ours.map(({ id, status }) => [id, status]).sort(),
      theirs.map(({ id, status }) => [id, status]).sort(),
    )
    assert.ok(
      paid.length > 15 && ours.length > 15,
      `${paid.length} payments, ${ours.length} invoices`,
    )
    for (const name of ['ada', 'bob', 'cleo', 'yan']) {
      const mails = await store.mail(`${name}@example.com`)
      const subjects = mails.map(({ subject }) => subject)
      assert.deepEqual(subjects, [...new Set(subjects)], name)
    }
    assert.deepEqual(await store.platform.jobs.dead(), [])
  })
})

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(list)
}

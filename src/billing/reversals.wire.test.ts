// A subscription follows its payment: disputes and refunds, by the sandbox's clock.
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop, PRICES } from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'

suite('payments that are taken back', () => {
  const context = suiteContext()
  let app: TestApp
  let shop: ReturnType<typeof createShop>
  before(async () => {
    app = await testApp(context)
    shop = createShop(app)
  })

  /** Signs in again: tokens expire while the clock moves. */
  const signIn = async (name: string): Promise<Client> => {
    const person = await app.as(name)
    const { body } = await app.post('/api/auth/login', { email: person.email, password: PASSWORD })
    return createClient(app.url, body.access_token, person)
  }
  const afterDays = async (days: number) => {
    const reply = await app.post('/sandbox/processor/clock', {
      to: new Date(app.clock.ms() + days * DAY_MS),
    })
    assert.equal(reply.status, 200, reply.text)
    await app.settle()
  }
  const press = async (name: string, button: string, form = {}) => {
    const [charge] = await charges(name)
    await pressOn(charge?.id, button, form)
  }
  const pressOn = async (charge: string | undefined, button: string, form = {}) => {
    const reply = await shop.press(`/sandbox/processor/charges/${charge}/${button}`, form)
    assert.equal(reply.status, 303, reply.text)
    await app.settle()
  }
  const charges = async (name: string) => {
    const { processor_customer_id: customer } = await shop.subscription(await signIn(name))
    return (await shop.processor.charges.list({ customer: customer ?? '', limit: 100 })).data
  }
  const look = async (name: string) => {
    const client = await signIn(name)
    const { status, tier } = await shop.subscription(client)
    return [status, tier, (await client.get('/api/api-keys')).status]
  }
  const balance = async (name: string) => {
    const { processor_customer_id: id } = await shop.subscription(await signIn(name))
    return ((await shop.processor.customers.retrieve(id ?? '')) as { balance: number }).balance
  }
  const notices = async () =>
    (await app.mail(app.config.mail.supportEmail)).map(({ subject, text }) => ({
      subject: subject.replace(/^\[.*?\] /, ''),
      text,
    }))
  const count = async (title: string, name: string) =>
    (await notices()).filter(
      ({ subject, text }) => subject.startsWith(title) && text.includes(`${name}@example.com`),
    ).length

  test('an open dispute closes the plan and charges nothing; a won one opens it again', async () => {
    await shop.subscribe(await app.as('won'), { price: PRICES.enterprise })
    assert.deepEqual(await look('won'), ['active', 'enterprise', 200])
    await press('won', 'dispute')
    assert.deepEqual(await look('won'), ['past_due', 'free', 403])
    assert.equal(await count('A payment is disputed: $99.00', 'won'), 1)
    const client = await signIn('won')
    for (const path of ['pause', 'resume', 'change/preview']) {
      const reply = await client.post(`/api/billing/${path}`, { price_id: PRICES.pro })
      assert.deepEqual([reply.status, reply.body.code], [409, 'subscription_disputed'], path)
    }

    await afterDays(40)
    assert.equal(
      (await charges('won')).length,
      1,
      'the card is not charged while its owner disputes',
    )
    assert.deepEqual(await look('won'), ['past_due', 'free', 403])
    await app.service.billing.sync()
    assert.deepEqual(
      await app.service.billing.reportDisagreements().then(({ disagreements }) => disagreements),
      [],
    )

    await press('won', 'win')
    assert.deepEqual(await look('won'), ['active', 'enterprise', 200])
    assert.equal(await count('A dispute was won: $99.00', 'won'), 1)
    await afterDays(31)
    assert.equal((await charges('won')).length, 2, 'renewals are charged again')
    assert.deepEqual(await look('won'), ['active', 'enterprise', 200])
  })

  test('a lost dispute ends the subscription without credit, and the card is never charged again', async () => {
    await shop.subscribe(await app.as('lost'))
    await press('lost', 'dispute')
    await press('lost', 'lose')
    assert.deepEqual(await look('lost'), ['cancelled', 'free', 403])
    assert.equal((await shop.readSubscription(await signIn('lost'))).status, 'canceled')
    assert.equal(await balance('lost'), 0)
    await afterDays(70)
    assert.equal((await charges('lost')).length, 1)
    await app.service.billing.sync()
    assert.equal(await count('A payment is disputed', 'lost'), 1)
    assert.equal(await count('A dispute was lost: $29.00', 'lost'), 1)
    const notice = (await notices()).find(({ subject }) => subject.startsWith('A dispute was lost'))
    assert.match(notice?.text ?? '', /Open the payment:\nhttp:\/\/\S+\/sandbox\/processor/)
  })

  test('a full refund ends the subscription without credit; a partial one and one of an older payment do not', async () => {
    await shop.subscribe(await app.as('refunded'))
    await press('refunded', 'refund', { units: '5' })
    assert.deepEqual(await look('refunded'), ['active', 'pro', 200])
    await afterDays(32)
    const [newest, first] = await charges('refunded')
    await pressOn(first?.id, 'refund')
    assert.deepEqual(await look('refunded'), ['active', 'pro', 200])

    await pressOn(newest?.id, 'refund')
    assert.deepEqual(await look('refunded'), ['cancelled', 'free', 403])
    assert.equal(await balance('refunded'), 0)
    await afterDays(70)
    assert.equal((await charges('refunded')).length, 2)

    await shop.subscribe(await signIn('refunded'))
    assert.deepEqual(await look('refunded'), ['active', 'pro', 200], 'they may subscribe again')
  })

  test('a won dispute keeps a requested pause', async () => {
    await shop.subscribe(await app.as('pausing'))
    assert.equal((await (await signIn('pausing')).post('/api/billing/pause')).status, 200)
    await press('pausing', 'dispute')
    assert.deepEqual(await look('pausing'), ['past_due', 'free', 403])
    await press('pausing', 'win')
    assert.deepEqual(await look('pausing'), ['active', 'pro', 200])
    await afterDays(40)
    assert.equal((await charges('pausing')).length, 1)
    assert.deepEqual(await look('pausing'), ['past_due', 'free', 403])
  })

  test('a disputed paused plan cannot be resumed, and a second checkout gives no credit for it', async () => {
    await shop.subscribe(await app.as('paused'))
    assert.equal((await (await signIn('paused')).post('/api/billing/pause')).status, 200)
    await press('paused', 'dispute')
    assert.deepEqual(await look('paused'), ['past_due', 'free', 403])
    const reply = await (await signIn('paused')).post('/api/billing/resume')
    assert.deepEqual([reply.status, reply.body.code], [409, 'subscription_disputed'])
    shop.later()
    await shop.subscribe(await signIn('paused'), { card: '5200828282828210' })
    await app.settle()
    assert.deepEqual(await look('paused'), ['active', 'pro', 200])
    assert.equal(await balance('paused'), 0)
  })
})

// Emails to subscribers and buyers: each is sent once, even after repeated events and
// reconciliations.
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { type Client, createClient, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop, FAILS_AT_RENEWAL, PRICES } from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'

suite('emails about money', () => {
  const context = suiteContext()
  let app: TestApp
  let shop: ReturnType<typeof createShop>
  before(async () => {
    app = await testApp(context)
    shop = createShop(app)
  })

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
    await caughtUp()
  }
  const caughtUp = async () => {
    for (let time = 0; time < 2; time++) {
      await app.service.billing.sync()
      await app.settle()
    }
  }
  const found = async (name: string, subject: RegExp) =>
    (await app.mail(`${name}@example.com`)).filter((mail) => subject.test(mail.subject))
  /** The text of the only email with that subject. */
  const only = async (name: string, subject: RegExp) => {
    const mails = await found(name, subject)
    assert.equal(mails.length, 1, `${mails.length} of ${subject}`)
    return mails[0]?.text ?? ''
  }
  const press = async (name: string, button: string, form = {}) => {
    const { processor_customer_id: customer } = await shop.subscription(await signIn(name))
    const [charge] = (await shop.processor.charges.list({ customer: customer ?? '' })).data
    assert.equal(
      (await shop.press(`/sandbox/processor/charges/${charge?.id}/${button}`, form)).status,
      303,
    )
    await caughtUp()
  }

  test('emails when a plan starts, changes, pauses and resumes', async () => {
    const ada = await app.as('ada')
    await shop.subscribe(ada)
    await caughtUp()
    const started = await only('ada', /^Your Pro plan has started$/)
    assert.match(started, /Plan: Pro\nPaid: \$29\.00\nInvoice: \S+\n/)
    assert.match(started, /\/billing/)

    const { body } = await ada.post('/api/billing/change/preview', { price_id: PRICES.enterprise })
    const change = { price_id: PRICES.enterprise, proration_at: body.proration_at }
    assert.equal((await ada.post('/api/billing/change', change)).status, 200)
    await caughtUp()
    assert.match(await only('ada', /^Your plan is now Enterprise$/), /\$99\.00 a month/)

    assert.equal((await ada.post('/api/billing/pause')).status, 200)
    await caughtUp()
    await only('ada', /^Your Enterprise plan pauses on \d{4}-\d\d-\d\d$/)
    assert.equal((await ada.post('/api/billing/resume')).status, 200)
    await caughtUp()
    await only('ada', /^Your Enterprise plan is running again$/)
    await only('ada', /has started$/)
  })

  test('emails each refund with its amount, and a dispute', async () => {
    await shop.subscribe(await app.as('bob'), { price: PRICES.enterprise })
    await caughtUp()
    await press('bob', 'refund', { units: '10' })
    assert.match(await only('bob', /^We refunded \$10\.00$/), /Payment: \$99\.00, \d{4}-\d\d-\d\d/)
    await press('bob', 'refund')
    assert.match(await only('bob', /^We refunded \$89\.00$/), /nothing more is charged/)
    await only('bob', /^Your Enterprise plan has ended$/)

    await shop.subscribe(await app.as('eve'))
    await caughtUp()
    await press('eve', 'dispute')
    assert.match(
      await only('eve', /^Your plan is suspended while your bank reviews a payment$/),
      /\$29\.00/,
    )
    await press('eve', 'win')
    await only('eve', /^Your Pro plan is running again$/)
    assert.equal((await found('eve', /refunded|pauses/)).length, 0)
  })

  test('emails a failed payment on the first day, midway and on the last day, with amount, card and reason', async () => {
    await shop.subscribe(await app.as('dan'), { card: FAILS_AT_RENEWAL })
    await afterDays(32)
    const first = await only('dan', /^The payment for your Pro plan did not go through$/)
    assert.match(
      first,
      /Amount due: \$29\.00\nCard or account: ending in 0341\nReason: Your card was declined\./,
    )
    assert.equal((await found('dan', /eminder/)).length, 0)
    await afterDays(7)
    assert.match(
      await only('dan', /^Reminder: the payment for your Pro plan is overdue$/),
      /\$29\.00/,
    )
    await afterDays(6)
    assert.match(
      await only('dan', /^Last reminder: your Pro plan will be suspended on/),
      /ending in 0341/,
    )
    await afterDays(3)
    assert.equal((await found('dan', /did not go through|eminder/)).length, 3)
    await only('dan', /is suspended until it is paid/)
  })
})

// Each state of a subscription and of a purchase: the billing API, access control and the
// storefront.
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { DAY_MS } from '#platform/clock.ts'
import { createClient, PASSWORD } from '#testing/app.ts'
import { type Buyer, openShop, type Shop } from '#testing/buyer.ts'
import { ASKS_ONCE, createShop, SLOW_DEBIT } from '#testing/shop.ts'
import { SUBSCRIPTION_STATES } from '#testing/subscription-states.ts'
import { suiteContext } from '#testing/suite.ts'

suite('replies in each state', () => {
  const context = suiteContext()
  let store: Shop
  let shop: ReturnType<typeof createShop>
  before(async () => {
    store = await openShop(context)
    store.holdDebits()
    shop = createShop(store.app)
  })

  for (const [index, { name, bring, says, gate }] of SUBSCRIPTION_STATES.entries()) {
    test(`a subscription: ${name}`, async () => {
      const client = await store.as(`state-${index}`)
      await bring(shop, client)
      await store.settle()
      const { status, tier, processor_status, payment_status } = (
        await client.get('/api/billing/subscription')
      ).body
      assert.deepEqual([status, tier, processor_status, payment_status], says)
      assert.equal((await client.get('/api/api-keys')).status, gate)
      const user = (await client.get('/api/users/me')).body
      assert.deepEqual(
        [user.subscription_status, user.subscription_tier],
        [status, tier],
        'the account says the same',
      )
    })
  }

  const PURCHASES: [
    what: string,
    bring: (buyer: Buyer) => Promise<unknown>,
    has: string[],
    says: RegExp,
    file: number,
  ][] = [
    ['none', async () => {}, [], /pricing/, 403],
    [
      'to be confirmed',
      async (buyer) => shop.pay(await checkout(buyer), ASKS_ONCE),
      [],
      /pricing/,
      403,
    ],
    [
      'a pending bank debit',
      async (buyer) => shop.pay(await checkout(buyer), SLOW_DEBIT),
      [],
      /pricing/,
      403,
    ],
    ['paid', async (buyer) => shop.pay(await checkout(buyer)), ['completed'], /Download/, 200],
    [
      'refunded in part',
      async (buyer) => press(buyer, 'refund', { units: '10' }),
      ['completed'],
      /Download/,
      200,
    ],
    ['disputed', async (buyer) => press(buyer, 'dispute'), ['disputed'], /dispute|bank/i, 403],
    ['refunded', async (buyer) => press(buyer, 'refund'), ['refunded'], /refunded/i, 403],
  ]
  const checkout = async (buyer: Buyer) =>
    (await buyer.get('/api/checkout?tier=basic')).headers.get('location') ?? ''
  const press = async (buyer: Buyer, action: string, form: Record<string, string> = {}) => {
    await shop.pay(await checkout(buyer))
    const [charge] = (await shop.processor.charges.list({ limit: 1 })).data
    await shop.press(`/sandbox/processor/charges/${charge?.id}/${action}`, form)
  }

  for (const [index, [what, bring, has, says, file]] of PURCHASES.entries()) {
    test(`a purchase: ${what}`, async () => {
      const buyer = await store.buyer(`buyer-${index}`)
      await bring(buyer)
      await store.settle()
      const purchases: { status: string }[] = (await buyer.get('/api/purchases')).body
      assert.deepEqual(
        purchases.map(({ status }) => status),
        has,
      )
      assert.match((await buyer.get('/dashboard')).text, says)
      assert.equal((await buyer.download()).status, file)
    })
  }

  test('closes an overdue plan after the grace period, regardless of its payment’s status', async () => {
    store.clock.advance(15 * DAY_MS)
    await store.app.service.billing.sync()
    for (const [index, { name, says }] of SUBSCRIPTION_STATES.entries()) {
      if (says[2] !== 'past_due') continue
      const person = await store.as(`state-${index}`)
      const { body } = await store.post('/api/auth/login', {
        email: person.email,
        password: PASSWORD,
      })
      const client = createClient(store.url, body.access_token, person)
      const view = (await client.get('/api/billing/subscription')).body
      assert.deepEqual([view.status, view.tier, view.open_until], ['past_due', 'free', null], name)
      assert.equal((await client.get('/api/api-keys')).status, 403, name)
    }
  })
})

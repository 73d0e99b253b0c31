// Events that are lost, late, doubled and out of order on purpose, and the service that ends in the same state.
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Client } from '#testing/app.ts'
import { openShop, type Shop } from '#testing/buyer.ts'
import { ASKS_ALWAYS, FAILS_AT_RENEWAL, shopOf } from '#testing/shop.ts'
import { suiteContext } from '#testing/suite.ts'

type Outstanding = {
  event: string
  type: string
  endpoint: string
  state: string
  attempts: number
}

suite('webhooks in trouble', () => {
  const context = suiteContext()
  let store: Shop
  let shop: ReturnType<typeof shopOf>
  before(async () => {
    store = await openShop(context)
    shop = shopOf(store.app)
  })

  const trouble = async (body: object) => {
    const reply = await store.post('/sandbox/processor/deliveries', body)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }
  const quiet = { lost_percent: 0, delay_seconds: 0, doubled: false, reversed: false }
  const outstanding = async (): Promise<Outstanding[]> =>
    (await store.get('/sandbox/processor/deliveries')).body.outstanding
  /** As the account shows it, without the check that a page makes after a checkout. */
  const kept = async ({ userId }: { userId: string }) => {
    const { db } = store.platform
    const user = await db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    return [user.subscription_status, user.subscription_tier]
  }
  const letters = async ({ email }: Client) =>
    (await store.mail(email))
      .map(({ subject }) => subject)
      .filter((subject) => /plan|payment|bank/i.test(subject))

  test('what is lost is shown, changes nothing, and is found by reading, in both halves', async () => {
    assert.deepEqual(await outstanding(), [])
    await trouble({ lost_percent: 100 })
    const ada = await store.as('ada')
    const adaBuys = await store.buyer('ada')
    const { body } = await ada.post(
      '/api/billing/create-checkout-session?price_id=price_sandbox_pro_monthly',
    )
    await shop.pay(body.url, FAILS_AT_RENEWAL)
    const url = (await adaBuys.get('/api/checkout?tier=basic')).headers.get('location') ?? ''
    await shop.pay(url)
    await store.settle()
    assert.deepEqual(await kept(ada), ['free', 'free'])
    const lost = await outstanding()
    assert.ok(
      lost.length > 10 && lost.every(({ state, attempts }) => state === 'lost' && attempts === 0),
    )
    assert.deepEqual([...new Set(lost.map(({ endpoint }) => endpoint))].sort(), [
      'billing',
      'storefront',
    ])
    assert.match(
      (await store.get('/sandbox/processor')).text,
      />lost<\/span>[\s\S]*Send all of it again/,
    )

    await store.app.service.billing.sync()
    assert.deepEqual(await kept(ada), ['active', 'pro'])
    assert.equal((await adaBuys.get('/api/purchases')).body.length, 1)

    await shop.portal(ada, 'renew-well')
    await store.app.service.billing.sync()
    assert.deepEqual(await kept(ada), ['past_due', 'pro'])
    assert.equal((await outstanding()).length > lost.length, true)
    // All events arrive late, long after reconciliation found the changes: nothing is announced or
    // changed twice.
    const told = await letters(ada)
    await trouble(quiet)
    const after = await store.post('/sandbox/processor/deliveries/send-again')
    assert.deepEqual(after.body.outstanding, [])
    await store.settle()
    assert.deepEqual(await kept(ada), ['past_due', 'pro'])
    assert.deepEqual(await letters(ada), told)
    assert.equal((await adaBuys.get('/api/purchases')).body.length, 1)
  })

  test('doubled and out of order they end the same, and each letter goes out once', async () => {
    await trouble({ ...quiet, doubled: true, reversed: true })
    const bob = await store.as('bob')
    const subscribed = await shop.subscribe(bob)
    assert.deepEqual([subscribed.status, subscribed.tier], ['active', 'pro'])
    await shop.portal(bob, 'renew-badly')
    assert.deepEqual(await kept(bob), ['past_due', 'pro'])
    await shop.portal(bob, 'retry')
    assert.deepEqual(await kept(bob), ['active', 'pro'])
    await shop.portal(bob, 'cancel-now')
    await store.settle()
    assert.deepEqual(await kept(bob), ['cancelled', 'free'])
    assert.deepEqual((await letters(bob)).sort(), [
      'The payment for your Pro plan did not go through',
      'Your Pro plan has ended',
      'Your Pro plan has started',
      'Your Pro plan is paid',
    ])
    const [event] = (await shop.processor.events.list({ limit: 1 })).data
    assert.match((await store.get(`/sandbox/processor/events/${event?.id}`)).text, /2 attempts/)
    await trouble(quiet)
  })

  test('delayed they are waited for, and sent at once when asked', async () => {
    await trouble({ delay_seconds: 3_600 })
    const cleo = await store.as('cleo')
    const { body } = await cleo.post(
      '/api/billing/create-checkout-session?price_id=price_sandbox_pro_monthly',
    )
    const asked = await shop.pay(body.url, ASKS_ALWAYS)
    await shop.press(new URL(asked.headers.get('location') ?? '').pathname, { answer: 'complete' })
    await store.settle()
    assert.deepEqual(await kept(cleo), ['free', 'free'])
    assert.ok((await outstanding()).every(({ state }) => state === 'due'))
    await trouble(quiet)
    assert.ok((await outstanding()).length > 5, 'those that were late are late still')
    assert.deepEqual(
      (await store.post('/sandbox/processor/deliveries/send-again')).body.outstanding,
      [],
    )
    await store.settle()
    assert.deepEqual(await kept(cleo), ['active', 'pro'])
  })

  test('what is no trouble is refused, and changes nothing', async () => {
    for (const body of [
      { lost_percent: 101 },
      { lost_percent: -1 },
      { lost_percent: 'many' },
      { delay_seconds: 1e9 },
      { doubled: 'maybe' },
      { dropped: 5 },
    ]) {
      const reply = await store.post('/sandbox/processor/deliveries', body)
      assert.equal(reply.status, 400, JSON.stringify(body))
      assert.equal(reply.body.error.type, 'invalid_request_error')
    }
    const { outstanding: _, ...set } = (await store.get('/sandbox/processor/deliveries')).body
    assert.deepEqual(set, quiet)
    const form = await shop.press('/sandbox/processor/deliveries', {
      lost_percent: '20',
      delay_seconds: '0',
      doubled: 'on',
    })
    assert.equal(form.status, 303)
    const page = await shop.press('/sandbox/processor/deliveries', {
      lost_percent: '0',
      delay_seconds: '0',
    })
    assert.equal(page.status, 303)
    assert.equal((await store.get('/sandbox/processor/deliveries')).body.doubled, false)
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Stripe } from 'stripe'
import { type Client, type TestApp, testApp } from '#testing/app.ts'
import { createShop, intercept, loseEvents, PRICES } from '#testing/shop.ts'
import { lockAccount } from './accounts.ts'
import { BILLING_EVENT_TYPES, INBOX_SOURCE } from './billing-events.ts'

const SECOND = 1_000

/**
 * A service that receives no events by itself: tests send them, or the service reads the
 * processor's list.
 */
async function deaf(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t)
  loseEvents(app)
  const shop = createShop(app)

  const it = {
    app,
    shop,
    /** Opens a checkout and pays it. */
    async checkOut(client: Client, price: string = PRICES.pro) {
      // The processor counts whole seconds, so later objects must be at least a second later.
      app.clock.advance(2 * SECOND)
      const { body } = await client.post(`/api/billing/create-checkout-session?price_id=${price}`)
      assert.equal((await shop.pay(body.url)).status, 303)
      app.clock.advance(2 * SECOND)
    },
    /** The processor's events of a user, newest first. */
    async events({ userId }: Client): Promise<Stripe.Event[]> {
      const customers = new Set(await it.customers({ userId }))
      const events: Stripe.Event[] = []
      for await (const event of shop.processor.events.list({
        types: [...BILLING_EVENT_TYPES],
        limit: 100,
      })) {
        const { id, customer } = event.data.object as { id: string; customer?: string }
        if (customers.has(customer ?? id)) events.push(event)
      }
      return events
    },
    /** Every customer of a user, including deleted ones. */
    async customers({ userId }: { userId: string }): Promise<string[]> {
      const found: string[] = []
      for await (const event of shop.processor.events.list({
        types: ['customer.created'],
        limit: 100,
      })) {
        const customer = event.data.object as Stripe.Customer
        if (customer.metadata.user_id === userId) found.push(customer.id)
      }
      return found
    },
    deliver: (event: Stripe.Event) =>
      shop.send({
        id: event.id,
        type: event.type,
        object: event.data.object,
        created: event.created,
      }),
    async live(client: Client): Promise<Stripe.Subscription[]> {
      const lists = (await it.customers(client)).map((customer) =>
        shop.processor.subscriptions.list({ customer, status: 'active' }),
      )
      return (await Promise.all(lists))
        .flatMap(({ data }) => data)
        .sort((a, b) => b.created - a.created)
    },
    onRecord: async (client: Client) => (await client.get('/api/auth/me')).body,
  }
  return it
}

const completedFirst = (events: Stripe.Event[]) =>
  events.filter(({ type }) => type === 'checkout.session.completed').at(-1) as Stripe.Event

test('a late event of an earlier checkout does not restore a deleted customer', async (t) => {
  const { app, shop, checkOut, events, deliver, onRecord, customers } = await deaf(t)
  const ada = await app.as('ada')
  await checkOut(ada, PRICES.pro)
  const first = completedFirst(await events(ada))
  const [deleted = ''] = await customers(ada)
  await shop.processor.customers.del(deleted)
  await checkOut(ada, PRICES.enterprise)

  const paying = async () => {
    const { status, tier, processor_customer_id } = await shop.subscription(ada)
    assert.notEqual(processor_customer_id, deleted)
    return [status, tier]
  }
  assert.deepEqual(await paying(), ['active', 'enterprise'])
  assert.deepEqual((await deliver(first)).body, { received: true })
  assert.deepEqual(await paying(), ['active', 'enterprise'], 'after the late event')
  assert.equal((await onRecord(ada)).subscription_tier, 'enterprise')
  assert.equal((await app.service.billing.sync())?.failed, 0)
  assert.deepEqual(await paying(), ['active', 'enterprise'], 'after a reconciliation')
  for (const event of (await events(ada)).reverse())
    await deliver({ ...event, id: `${event.id}again` })
  assert.deepEqual(await paying(), ['active', 'enterprise'], 'after every event of both')

  const portal = await ada.post('/api/billing/create-portal-session')
  assert.equal(portal.status, 200, portal.text)
})

test('reads missed events oldest first, so the last checkout counts', async (t) => {
  const { app, shop, checkOut, customers } = await deaf(t)
  const ada = await app.as('ada')
  await checkOut(ada, PRICES.pro)
  await shop.processor.customers.del((await customers(ada))[0] ?? '')
  await checkOut(ada, PRICES.enterprise)
  const [second] = await customers(ada)
  assert.deepEqual(await shop.subscription(ada), {
    status: 'active',
    tier: 'enterprise',
    processor_customer_id: second,
  })

  await app.platform.db.deleteFrom('billing_cursors').execute()
  assert.ok(((await app.service.billing.sync())?.events ?? 0) > 4)
  assert.deepEqual(await shop.subscription(ada), {
    status: 'active',
    tier: 'enterprise',
    processor_customer_id: second,
  })
  const handled = await app.platform.db
    .selectFrom('inbox')
    .select('event_id')
    .where('source', '=', INBOX_SOURCE)
    .orderBy('received_at')
    .execute()
  const inList = (
    await shop.processor.events.list({ types: [...BILLING_EVENT_TYPES], limit: 100 })
  ).data.map(({ id }) => id)
  assert.deepEqual(
    handled.map(({ event_id }) => event_id),
    inList.reverse(),
  )
})

test('a customer from a payment link is put on record only if its checkout is the newest', async (t) => {
  const { app, shop, checkOut, events, deliver } = await deaf(t)
  const ada = await app.as('ada')
  /** Acts like a payment link: the processor creates the customer, and the URL has a reference. */
  const payLink = async (price: string) => {
    app.clock.advance(2 * SECOND)
    const session = await shop.processor.checkout.sessions.create({
      mode: 'subscription',
      line_items: [{ price, quantity: 1 }],
      client_reference_id: ada.userId,
      success_url: 'http://localhost:1/',
    })
    await shop.pay(session.url ?? '')
    const [completed] = (
      await shop.processor.events.list({ types: ['checkout.session.completed'], limit: 1 })
    ).data
    assert.ok(completed)
    return completed
  }
  const link = await payLink(PRICES.pro)
  await checkOut(ada, PRICES.enterprise)
  await deliver(completedFirst(await events(ada)))
  const { processor_customer_id: own } = await shop.subscription(ada)

  await deliver(link)
  await app.settle()
  assert.deepEqual(await shop.subscription(ada), {
    status: 'active',
    tier: 'enterprise',
    processor_customer_id: own,
  })
  const linked = String((link.data.object as Stripe.Checkout.Session).customer)
  assert.notEqual(linked, own)
  const left = await shop.processor.subscriptions.list({ customer: linked, status: 'active' })
  assert.equal(left.data.length, 0, 'of two subscriptions over two customers the older ends')

  const newer = await payLink(PRICES.pro)
  await deliver(newer)
  await app.settle()
  assert.deepEqual(await shop.subscription(ada), {
    status: 'active',
    tier: 'pro',
    processor_customer_id: String((newer.data.object as Stripe.Checkout.Session).customer),
  })
  assert.equal(
    (await shop.processor.subscriptions.list({ customer: own ?? '', status: 'active' })).data
      .length,
    0,
  )
})

test('keeps one of three checkouts, even if the newest ended first', async (t) => {
  const { app, shop, checkOut, deliver, events, live } = await deaf(t)
  const ada = await app.as('ada')
  for (const price of [PRICES.pro, PRICES.pro, PRICES.enterprise]) await checkOut(ada, price)
  assert.equal((await shop.subscription(ada)).tier, 'enterprise')
  const [newest] = await live(ada)
  assert.ok(newest)
  await shop.processor.subscriptions.cancel(newest.id)
  for (const event of (await events(ada)).reverse()) await deliver(event)
  await app.settle()
  assert.equal((await live(ada)).length, 1)
  assert.equal((await shop.subscription(ada)).tier, 'pro')
})

test('a second checkout does not credit a larger plan that was used', async (t) => {
  const { app, shop, checkOut, live } = await deaf(t)
  const ada = await app.as('ada')
  await checkOut(ada, PRICES.enterprise)
  assert.equal((await shop.subscription(ada)).tier, 'enterprise')
  for (let time = 0; time < 2; time++) {
    await checkOut(ada, PRICES.pro)
    assert.equal((await shop.subscription(ada)).tier, 'pro')
  }
  const [, earlier] = await live(ada)
  assert.ok(earlier)
  await shop.processor.subscriptions.cancel(earlier.id)
  await app.settle()
  const [left, ...others] = await live(ada)
  assert.ok(left && others.length === 0)
  const { balance } = (await shop.processor.customers.retrieve(
    String(left.customer),
  )) as Stripe.Customer
  assert.ok(balance > -5_000, `its allowance may be used: ${balance}`)
})

test('a deleted customer’s subscriptions end, even if they can no longer be listed', async (t) => {
  const { app, shop, checkOut, customers, deliver, events } = await deaf(t)
  const ada = await app.as('ada')
  await checkOut(ada)
  assert.equal((await shop.subscription(ada)).status, 'active')
  const [customer = ''] = await customers(ada)
  await shop.processor.customers.del(customer)
  const gone = (await events(ada)).find(({ type }) => type === 'customer.deleted')
  assert.ok(gone)
  refuseLists(app)
  await deliver(gone)
  assert.deepEqual(await shop.subscription(ada), {
    status: 'cancelled',
    tier: 'free',
    processor_customer_id: null,
  })
})

test('the daily reconciliation finds a deletion without an event', async (t) => {
  const { app, shop, checkOut, customers } = await deaf(t)
  const ada = await app.as('ada')
  await checkOut(ada)
  assert.equal((await shop.subscription(ada)).status, 'active')
  await shop.processor.customers.del((await customers(ada))[0] ?? '')
  refuseLists(app)
  await app.platform.db
    .insertInto('billing_cursors')
    .values({ name: 'events', reached_at: new Date(app.clock.ms() + 86_400_000).toISOString() })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((e) => ({ reached_at: e.ref('excluded.reached_at') })),
    )
    .execute()
  await app.service.billing.sync()
  assert.deepEqual(await shop.subscription(ada), {
    status: 'cancelled',
    tier: 'free',
    processor_customer_id: null,
  })
})

test('deleting the account cancels the subscriptions of all its customers', async (t) => {
  const { app, shop, checkOut, events, deliver } = await deaf(t)
  const ada = await app.as('ada')
  await checkOut(ada)
  const session = await shop.processor.checkout.sessions.create({
    mode: 'subscription',
    line_items: [{ price: 'price_sandbox_pro_yearly', quantity: 1 }],
    client_reference_id: ada.userId,
    success_url: 'http://localhost:1/',
  })
  await shop.pay(session.url ?? '')
  const [linked] = (
    await shop.processor.events.list({ types: ['checkout.session.completed'], limit: 1 })
  ).data
  assert.ok(linked)
  await deliver(completedFirst(await events(ada)))
  await deliver(linked)
  const rows = await app.platform.db.selectFrom('billing_customers').selectAll().execute()
  assert.equal(rows.length, 2)

  const files = await ada.get('/api/users/me/export?full=true')
  assert.equal(files.status, 200)
  await ada.delete('/api/users/me', { password: 'correct horse battery' })
  await app.settle()
  assert.deepEqual(await app.platform.db.selectFrom('billing_customers').selectAll().execute(), [])
  for (const { customer_id: customer } of rows) {
    assert.deepEqual(
      (await shop.processor.subscriptions.list({ customer, status: 'active' })).data,
      [],
    )
  }
})

test('matches the processor for every order and any loss of events', async (t) => {
  const it = await deaf(t)
  const { app, shop } = it
  let people = 0
  const step = fc.constantFrom(
    'pro',
    'pro',
    'enterprise',
    'enterprise',
    'delete',
    'delete',
    'cancel',
    'look',
  )
  const history = fc.record({
    steps: fc.array(step, { minLength: 2, maxLength: 5 }),
    order: fc.array(fc.nat(), { minLength: 40, maxLength: 40 }),
    lost: fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
    losesAny: fc.boolean(),
  })

  await fc.assert(
    fc.asyncProperty(history, async ({ steps, order, lost, losesAny }) => {
      const person = await app.as(`person-${people++}`)
      for (const what of ['pro', ...steps]) {
        const [customer] = await it.customers(person)
        const isThere =
          customer !== undefined && !(await shop.processor.customers.retrieve(customer)).deleted
        const [live] = await it.live(person)
        if (what === 'pro' || what === 'enterprise') await it.checkOut(person, PRICES[what])
        if (what === 'delete' && isThere) await shop.processor.customers.del(customer)
        if (what === 'cancel' && live) await shop.processor.subscriptions.cancel(live.id)
        if (what === 'look') await shop.subscription(person)
      }
      const events = (await it.events(person)).map((event, n) => ({
        event,
        key: order[n] ?? n,
        isLost: lost[n],
      }))
      for (const { event, isLost } of events.sort((a, b) => a.key - b.key)) {
        if (!losesAny || !isLost) await it.deliver(event)
      }
      await app.settle()

      const agree = async (when: string) => {
        const live = await it.live(person)
        assert.ok(live.length <= 1, `${live.length} subscriptions are paid ${when}`)
        const { status, tier, processor_customer_id } = await shop.subscription(person)
        const price = live[0]?.items.data[0]?.price.id
        const paid =
          price === PRICES.pro ? 'pro' : price === PRICES.enterprise ? 'enterprise' : 'free'
        assert.deepEqual([status, tier], live[0] ? ['active', paid] : ['cancelled', 'free'], when)
        if (live[0]) assert.equal(processor_customer_id, live[0].customer, when)
      }
      if (!losesAny) await agree('when every event has come')
      await app.platform.db.deleteFrom('inbox').execute()
      await app.platform.db.deleteFrom('billing_cursors').execute()
      await app.service.billing.sync()
      await app.settle()
      await agree('after a reconciliation')
    }),
    { numRuns: 5, endOnFailure: true },
  )
})

/** Makes the lists of deleted customers fail, as some versions of the processor do. */
function refuseLists(app: TestApp): void {
  intercept(app, (request, response) => {
    const customer = /^\/sandbox\/stripe\/v1\/subscriptions\?.*customer=(\w+)/.exec(
      request.url ?? '',
    )?.[1]
    if (!customer) return false
    const error = {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: `No such customer: '${customer}'`,
      param: 'customer',
    }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    return true
  })
}

test('a full reconciliation ends despite a billing row without its user', async (t) => {
  const { app, shop } = await deaf(t)
  const { db } = app.platform
  const { id: customer_id } = await shop.processor.customers.create({
    metadata: { user_id: 'gone' },
  })
  await db
    .insertInto('billing_customers')
    .values({ customer_id, user_id: 'gone', state: 'present' })
    .execute()
  const { userId } = await app.as('ada')
  await lockAccount(db, userId)
  await db
    .updateTable('billing_accounts')
    .set({ user_id: 'gone' })
    .where('user_id', '=', userId)
    .execute()
  assert.equal((await app.service.billing.sync())?.accounts, 1)
})

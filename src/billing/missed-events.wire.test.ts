import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stripe } from 'stripe'
import { PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop, loseEvents, SLOW_DEBIT } from '#testing/shop.ts'
import { type EventListener, readMissedEvents } from './missed-events.ts'
import type { Processor } from './processor.ts'

const DAY = 86_400

/** A buyer with a storefront session, whose processor sends no events. */
async function deafStorefront(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t)
  loseEvents(app)
  const shop = createShop(app)
  const { email } = await app.as('ada')
  const session = await app.store('POST', '/api/session', { body: { email, password: PASSWORD } })
  const headers = { cookie: (session.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
  const purchases = async () =>
    (await app.store('GET', '/api/purchases', { headers })).body.map(
      ({ tier, status }: { tier: string; status: string }) => `${tier} ${status}`,
    )
  const checkOut = async (card?: string) => {
    const hosted = await app.store('GET', '/api/checkout?tier=basic', { headers })
    assert.equal((await shop.pay(hosted.headers.get('location') ?? '', card)).status, 303)
  }
  return { app, shop, purchases, checkOut }
}

test('one read finds missed purchases, refunds and subscriptions', async (t) => {
  const { app, shop, purchases, checkOut } = await deafStorefront(t)
  await checkOut()
  assert.deepEqual(await purchases(), [])
  assert.ok(((await app.service.billing.sync())?.events ?? 0) > 0)
  assert.deepEqual(await purchases(), ['basic completed'])

  app.clock.advance(20 * 60_000)
  const [charge] = (await shop.processor.charges.list({ limit: 1 })).data
  await shop.processor.refunds.create({ charge: charge?.id ?? '' })
  await app.service.billing.sync()
  assert.deepEqual(await purchases(), ['basic refunded'])
  assert.equal((await app.service.billing.sync())?.events, 0, 'the inbox knows them now')
})

test('finds a bank debit that settled days later without an event', async (t) => {
  const { app, shop, purchases, checkOut } = await deafStorefront(t)
  await checkOut(SLOW_DEBIT)
  await app.service.billing.sync()
  assert.deepEqual(await purchases(), [])
  // The two pending checks of the checkout are done and not repeated.
  app.clock.advance(2 * DAY * 1_000)
  await app.settle()
  const [charge] = (await shop.processor.charges.list({ limit: 1 })).data
  await shop.press(`/sandbox/processor/charges/${charge?.id}/settle`)
  await app.service.billing.sync()
  assert.deepEqual(await purchases(), ['basic completed'])
})

/** A list of events like the processor's, newest first; reading the day `failing` fails. */
function createList(
  events: readonly { id: string; type: string; created: number }[],
  failing = { from: Infinity },
) {
  const requests: Stripe.EventListParams[] = []
  const list = (params: Stripe.EventListParams & { created: { gte: number; lt: number } }) => {
    requests.push(params)
    const { gte, lt } = params.created
    if (gte >= failing.from) throw new Error('the processor is away')
    return (async function* () {
      for (const event of [...events].reverse()) {
        if (params.types?.includes(event.type) && event.created >= gte && event.created < lt) {
          yield { ...event, data: { object: {} } }
        }
      }
    })()
  }
  return { asked: requests, failing, processor: { events: { list } } as unknown as Processor }
}

/** Records events as the inbox hands them over. */
function createListener(app: TestApp, source: string, types: readonly string[]) {
  const heard: string[] = []
  app.platform.inbox.handle<{ id: string }>(source, async ({ id }) => void heard.push(id))
  const listener: EventListener = {
    source,
    types,
    isAwaiting: async () => true,
    read: ({ id }) => ({ id }),
  }
  return { heard, listener }
}

test('reads days of events in portions, oldest first, and keeps its progress when a portion fails', async (t) => {
  const app = await testApp(t)
  const now = Math.floor(app.clock.ms() / 1000)
  const events = Array.from({ length: 9 }, (_, n) => ({
    id: `evt_${n}`,
    type: n % 2 ? 'a.odd' : 'b.even',
    // Three days; the events of one day share a second.
    created: now - (2 - Math.floor(n / 3)) * DAY - 60,
  }))
  const { failing, processor } = createList(events, { from: now - DAY + 3_600 })
  const { heard, listener } = createListener(app, 'test.both', ['a.odd', 'b.even'])
  const deps = { ...app.platform, processor }

  await assert.rejects(readMissedEvents(deps, [listener]), /away/)
  assert.equal(heard.length, 6)
  failing.from = Infinity
  assert.equal(await readMissedEvents(deps, [listener]), 3)
  assert.deepEqual(
    heard,
    events.map(({ id }) => id),
  )
})

test('lists more than twenty event types in several calls, in one order', async (t) => {
  const app = await testApp(t)
  const now = Math.floor(app.clock.ms() / 1000)
  const types = Array.from({ length: 45 }, (_, n) => `type.${n}`)
  const events = types.map((type, n) => ({ id: `evt_${n}`, type, created: now - 900 + n }))
  const { asked: requests, processor } = createList(events)
  const first = createListener(app, 'test.first', types.slice(0, 25))
  const second = createListener(app, 'test.second', types.slice(20))
  await readMissedEvents({ ...app.platform, processor }, [first.listener, second.listener])

  assert.ok(requests.every(({ types: some }) => (some?.length ?? 0) <= 20))
  assert.deepEqual(
    first.heard,
    events.slice(0, 25).map(({ id }) => id),
  )
  assert.deepEqual(
    second.heard,
    events.slice(20).map(({ id }) => id),
  )
})

test('a service without sales does not call the processor', async (t) => {
  const app = await testApp(t)
  const { asked: requests, processor } = createList([])
  const { listener } = createListener(app, 'test.nobody', ['a'])
  const deps = { ...app.platform, processor }
  assert.equal(await readMissedEvents(deps, [{ ...listener, isAwaiting: async () => false }]), 0)
  assert.equal(requests.length, 0)
})

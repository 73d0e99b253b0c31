import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stripe } from 'stripe'
import { PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createShop, loseEvents, SLOW_DEBIT } from '#testing/shop.ts'
import { type EventListener, readMissedEvents } from './missed-events.ts'
import type { Processor } from './processor.ts'

const DAY = 86_400

/** Somebody with a cookie of the storefront, whose processor tells it nothing. */
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

test('a purchase and its refund that no event told of are found by the same reading as subscriptions', async (t) => {
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

test('a bank debit that settles days later without a word is found', async (t) => {
  const { app, shop, purchases, checkOut } = await deafStorefront(t)
  await checkOut(SLOW_DEBIT)
  await app.service.billing.sync()
  assert.deepEqual(await purchases(), [])
  // The two questions about the checkout are answered, and asked no more.
  app.clock.advance(2 * DAY * 1_000)
  await app.settle()
  const [charge] = (await shop.processor.charges.list({ limit: 1 })).data
  await shop.press(`/sandbox/processor/charges/${charge?.id}/settle`)
  await app.service.billing.sync()
  assert.deepEqual(await purchases(), ['basic completed'])
})

/** A list of the processor, newest first, that answers as it is asked; a day of `failing` is refused. */
function listOf(
  events: readonly { id: string; type: string; created: number }[],
  failing = { from: Infinity },
) {
  const asked: Stripe.EventListParams[] = []
  const list = (params: Stripe.EventListParams & { created: { gte: number; lt: number } }) => {
    asked.push(params)
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
  return { asked, failing, processor: { events: { list } } as unknown as Processor }
}

/** Notes what it hears, as the inbox hands it over. */
function listenerOf(app: TestApp, source: string, types: readonly string[]) {
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

test('days of events are read in portions, oldest first, and what was read stays read when the next portion fails', async (t) => {
  const app = await testApp(t)
  const now = Math.floor(app.clock.ms() / 1000)
  const events = Array.from({ length: 9 }, (_, n) => ({
    id: `evt_${n}`,
    type: n % 2 ? 'a.odd' : 'b.even',
    // Three days and a bit, two of each in one second.
    created: now - (2 - Math.floor(n / 3)) * DAY - 60,
  }))
  const { failing, processor } = listOf(events, { from: now - DAY + 3_600 })
  const { heard, listener } = listenerOf(app, 'test.both', ['a.odd', 'b.even'])
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

test('the processor takes twenty types at once: more are asked for in turn, and heard in one order', async (t) => {
  const app = await testApp(t)
  const now = Math.floor(app.clock.ms() / 1000)
  const types = Array.from({ length: 45 }, (_, n) => `type.${n}`)
  const events = types.map((type, n) => ({ id: `evt_${n}`, type, created: now - 900 + n }))
  const { asked, processor } = listOf(events)
  const first = listenerOf(app, 'test.first', types.slice(0, 25))
  const second = listenerOf(app, 'test.second', types.slice(20))
  await readMissedEvents({ ...app.platform, processor }, [first.listener, second.listener])

  assert.ok(asked.every(({ types: some }) => (some?.length ?? 0) <= 20))
  assert.deepEqual(
    first.heard,
    events.slice(0, 25).map(({ id }) => id),
  )
  assert.deepEqual(
    second.heard,
    events.slice(20).map(({ id }) => id),
  )
})

test('a service that has sold nothing asks the processor nothing', async (t) => {
  const app = await testApp(t)
  const { asked, processor } = listOf([])
  const { listener } = listenerOf(app, 'test.nobody', ['a'])
  const deps = { ...app.platform, processor }
  assert.equal(await readMissedEvents(deps, [{ ...listener, isAwaiting: async () => false }]), 0)
  assert.equal(asked.length, 0)
})

// A buyer, a twin with the same ids, and a stranger without rows. The buyer's changes leave the
// twin's rows alone, and the stranger reads and changes no row of either.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, MINUTE_MS, plus } from '#platform/clock.ts'
import { PASSWORD } from '#testing/app.ts'
import { openShop } from '#testing/buyer.ts'
import { createShop } from '#testing/shop.ts'
import { createTwin } from '#testing/twin.ts'
import {
  countResume,
  findLatest,
  giveBack,
  listDelivered,
  listOfPurchases,
} from './downloads/store.ts'
import { closeCheckouts } from './payments/checkout.ts'
import { hasCheckout } from './payments/store.ts'
import { findEnding } from './purchases/store.ts'
import {
  deleteOptout,
  insertNotice,
  insertOptout,
  listOfUser,
  listReaders,
} from './releases/store.ts'
import {
  findStoreCaller,
  listLiveSessions,
  listSessions,
  removeSession,
  removeSessions,
  SESSION_MS,
} from './sessions/sessions.ts'

const BOUNDS = { resumesMax: 1_000_000, bytesMax: 1_000_000_000_000 }

test('downloads and checkouts are those of the buyer, not of a user with the same ids', async (t) => {
  const shop = await openShop(t)
  const { app } = shop
  const { db, clock } = app.platform
  const ada = await shop.buyer('ada')
  const bob = await shop.buyer('bob')
  await shop.sell(ada, 'pro')
  const download = await ada.download()
  assert.equal(download.status, 200)
  const [purchase] = (await ada.get('/api/purchases')).body
  const [{ id }] = (await ada.get('/api/download/history')).body
  const checkout = { user_id: ada.userId, attempt: 'first' }
  await db
    .insertInto('store_checkouts')
    .values([
      { ...checkout, about: 'basic', tier: 'basic', session_id: 'cs_test_of_no_checkout' },
      { ...checkout, about: 'enterprise', tier: 'enterprise', session_id: null },
    ])
    .execute()
  await insertOptout(db, ada.userId, clock.now())
  await insertNotice(db, ada.userId, { tier: 'pro', version: '1.0.0' }, clock.now())
  const since = plus(clock.now(), -DAY_MS)
  const readDownloads = () => listOfPurchases(db, ada.userId, [purchase.id], 10)
  const alone = await readDownloads()
  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()

  assert.deepEqual(await readDownloads(), alone)
  assert.equal(await findLatest(db, bob.userId, { since }), undefined)
  assert.deepEqual(await listDelivered(db, bob.userId), new Set())
  assert.equal(await hasCheckout(db, bob.userId, 'basic'), false)
  assert.deepEqual(await listOfUser(db, bob.userId), { notices: [], optouts: [] })

  assert.equal(await countResume(db, ada.userId, id, 1, BOUNDS), true)
  await giveBack(db, ada.userId, id, 1)
  await deleteOptout(db, ada.userId)
  for (const tier of ['basic', 'enterprise']) {
    const { headers } = await ada.get(`/api/checkout?tier=${tier}`)
    assert.match(headers.get('location') ?? '', /\/cs_test_/)
  }
  assert.deepEqual(await readTwin(), untouched)
})

test('a session of the shop is that of its user, not of a user with the same ids', async (t) => {
  const shop = await openShop(t)
  const { app } = shop
  const { platform, clock } = app
  const { db } = platform
  const ada = await shop.buyer('ada')
  const other = await shop.buyer('ada')
  const readCaller = ({ cookie }: typeof ada) => findStoreCaller(platform, cookie.split('=')[1])
  const otherId = (await readCaller(other))?.sessionId ?? ''
  const readSessions = async () => [
    await listSessions(db, ada.userId),
    await listLiveSessions(db, ada.userId, clock.now()),
  ]
  const alone = await readSessions()
  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()

  assert.deepEqual(await readSessions(), alone)
  assert.equal((await readCaller(ada))?.userId, ada.userId)
  clock.advance(2 * MINUTE_MS)
  assert.equal((await ada.get('/api/purchases')).status, 200)
  assert.equal((await ada.request('DELETE', '/api/session')).status, 200)
  assert.equal(await removeSession(db, ada.userId, otherId), true)
  assert.equal((await other.get('/api/purchases')).status, 401)
  const third = await shop.buyer('ada')
  await removeSessions(db, ada.userId)
  assert.equal((await third.get('/api/purchases')).status, 401)

  const last = await shop.buyer('ada')
  clock.advance(SESSION_MS)
  assert.equal((await last.get('/api/purchases')).status, 401)
  assert.deepEqual(await listLiveSessions(db, ada.userId, clock.now()), [])
  await shop.buyer('ada')
  assert.equal((await listSessions(db, ada.userId)).length, 1, 'a sign-in removes expired sessions')
  assert.deepEqual(await readTwin(), untouched)
})

test('a sign-in keeps the live sessions of the user', async (t) => {
  const shop = await openShop(t)
  const first = await shop.buyer('ada')
  await shop.buyer('ada')
  assert.equal((await first.get('/api/purchases')).status, 200)
})

test('the purchase of a deleted account brings no emails', async (t) => {
  const shop = await openShop(t)
  const { app } = shop
  const { db, clock } = app.platform
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const count = async () => {
    const readers = { tiers: ['pro'], after: null, sentBefore: clock.now(), max: 9 }
    const ending = await findEnding(db, clock.now(), plus(clock.now(), 400 * DAY_MS))
    return [(await listReaders(db, readers)).length, ending.length]
  }
  assert.deepEqual(await count(), [1, 1])
  assert.equal((await app.as('ada').delete('/api/users/me', { password: PASSWORD })).status, 200)
  await app.settle()
  assert.deepEqual(await count(), [0, 0])
})

test('a refund closes the open checkout of its buyer alone', async (t) => {
  const shop = await openShop(t)
  const { app } = shop
  const { db } = app.platform
  const { processor } = createShop(app)
  const ada = await shop.buyer('ada')
  const bob = await shop.buyer('bob')
  await shop.buy(ada, 'basic')
  const [{ id }] = (await ada.get('/api/purchases')).body
  const { headers } = await ada.get(`/api/checkout?tier=pro&from=${id}`)
  const session = new URL(headers.get('location') ?? '').pathname.split('/').at(-1) ?? ''
  const readStatus = async () => (await processor.checkout.sessions.retrieve(session)).status

  await closeCheckouts({ db, processor }, { userId: bob.userId, purchaseId: id })
  assert.equal(await readStatus(), 'open')
  await closeCheckouts({ db, processor }, { userId: ada.userId, purchaseId: id })
  assert.equal(await readStatus(), 'expired')
})

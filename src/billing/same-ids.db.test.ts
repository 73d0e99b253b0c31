// A customer with money, deals and notices, and a user without any: nothing of the customer is read
// or changed for the user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setSubscription } from '#identity/subscription.ts'
import { findUser, type User } from '#identity/users.ts'
import { DAY_MS, plus } from '#platform/clock.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { createShop } from '#testing/shop.ts'
import { createTwin, readUserRows } from '#testing/twin.ts'
import { eraseBilling } from './account-deletion.ts'
import {
  findAccount,
  listRecentUsers,
  listStaleUsers,
  lockAccount,
  updateAccount,
} from './accounts.ts'
import { listCancellations } from './cancellations.ts'
import { advanceGeneration, listCustomers, markLost, recordCustomer } from './customers.ts'
import { listDeals } from './deals.ts'
import { listMoneyEvents, listSubscriptionPayments } from './money/customer.ts'
import { exportInvoices, exportPayments, hasPaid } from './money/payments.ts'
import { sumCustomerRevenue } from './money/revenue.ts'
import { listNotices, listScheduledUsers, sendReceipt } from './notices.ts'
import { writeSlices } from './paid-slices.ts'
import { findReversals } from './reversals.ts'

test('the money and the customers of one user are nothing to another', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const { platform } = app
  const { db, clock } = platform
  const ada = await app.as('ada')
  const bob = await app.as('bob')
  await shop.subscribe(ada)
  await app.settle()
  const now = clock.now()
  const later = plus(now, DAY_MS)
  const [payment] = await exportPayments(db, ada.userId)
  const [customer] = await listCustomers(db, ada.userId)
  assert.ok(payment && customer)
  const taken = { payment_id: payment.id, amount_cents: 100, currency: 'usd', created_at: now }
  await db
    .insertInto('refunds')
    .values({ ...taken, id: 're_ada', status: 'succeeded', reason: null })
    .execute()
  await db
    .insertInto('disputes')
    .values({ ...taken, id: 'dp_ada', status: 'lost', reason: 'fraudulent' })
    .execute()
  const invoice = await db.selectFrom('invoices').selectAll().executeTakeFirstOrThrow()
  await db
    .insertInto('invoices')
    .values({ ...invoice, id: 'in_open', payment_id: null, status: 'open', paid_cents: 0 })
    .execute()
  await db.updateTable('payments').set({ dispute: 'lost' }).where('id', '=', payment.id).execute()
  const deal = { price_id: 'price_ada', tier: 'pro', interval: 'month' as const }
  await db
    .insertInto('deals')
    .values({ ...deal, user_id: ada.userId, amount_cents: 100, currency: 'usd', created_at: now })
    .execute()
  await db
    .insertInto('cancellations')
    .values({
      subscription_id: 'sub_ada',
      user_id: ada.userId,
      tier: 'pro',
      feedback: null,
      comment: 'A comment',
      canceled_at: now,
      ended_at: null,
    })
    .execute()
  await db
    .insertInto('billing_customers')
    .values({ customer_id: 'cus_of_ada', user_id: ada.userId, state: 'refused', checkout_at: null })
    .execute()
  const untouched = await readUserRows(db, ada.userId)

  const span = { from: plus(now, -DAY_MS), before: later }
  const read = async (userId: string) => ({
    account: await findAccount(db, userId),
    customers: await listCustomers(db, userId),
    deals: await listDeals(db, userId),
    cancellations: await listCancellations(db, userId),
    notices: await listNotices(db, userId),
    payments: await listSubscriptionPayments(db, userId),
    events: (await listMoneyEvents(db, userId, { before: later, limit: 9 })).map(
      (kind) => kind.length,
    ),
    exported: [await exportPayments(db, userId), await exportInvoices(db, userId)],
    revenue: await sumCustomerRevenue(db, userId, span),
    reversals: await findReversals(db, userId),
  })
  const own = await read(ada.userId)
  assert.deepEqual([own.events, own.revenue.length], [[1, 1, 1, 1], 1])
  assert.deepEqual(await read(bob.userId), {
    account: null,
    customers: [],
    deals: [],
    cancellations: [],
    notices: [],
    payments: [],
    events: [0, 0, 0, 0],
    exported: [[], []],
    revenue: [],
    reversals: new Map(),
  })
  assert.deepEqual((await bob.get('/api/billing/invoices')).body, { invoices: [] })

  const locked = await transaction(db, (tx) => lockAccount(tx, bob.userId))
  assert.equal(locked.user_id, bob.userId)
  assert.deepEqual(await listStaleUsers(db, later, 9), [ada.userId])
  assert.deepEqual(await listRecentUsers(db, 9), [ada.userId])
  await transaction(db, async (tx) => {
    await updateAccount(tx, bob.userId, { card_last4: '0000' })
    await markLost(tx, bob.userId, customer.customer_id, 'refused')
    await sendReceipt(platform, tx, bob.userId)
    await setSubscription(tx, bob.userId, { tier: 'pro' }, now)
    await writeSlices(platform, tx, bob.userId)
  })
  await advanceGeneration(
    db,
    bob.userId,
    (await findAccount(db, ada.userId))?.customer_generation ?? 0,
  )
  const user = (await findUser(db, bob.userId)) as User
  assert.deepEqual(user.slices_json, [])
  const { processor } = shop
  for (const customerId of [customer.customer_id, 'cus_of_ada'])
    await recordCustomer({ db, processor }, user, {
      id: 'evt_of_bob',
      type: 'checkout.session.completed',
      created: Math.floor(Date.parse(later) / 1000),
      about: 'checkout',
      customerId,
      subscriptionId: null,
      sessionId: null,
      invoiceId: null,
      userId: bob.userId,
      status: null,
      priceIds: [],
      paid: true,
    })
  await transaction(db, (tx) => eraseBilling(platform, tx, bob.userId))
  await app.settle()
  assert.equal(
    (await app.mail(bob.email)).some(({ subject }) => /pro/i.test(subject)),
    false,
  )
  assert.deepEqual(await readUserRows(db, ada.userId), untouched)
})

test('a payment of another user does not make a user a paying one', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  const { db } = app.platform
  const ada = await app.as('ada')
  const bob = await app.as('bob')
  await shop.subscribe(ada)
  await app.settle()
  assert.deepEqual([await hasPaid(db, ada.userId), await hasPaid(db, bob.userId)], [true, false])
})

test('the users with notices are listed after the last user of the page before', async (t) => {
  const app = await testApp(t)
  const { platform } = app
  const { db, clock } = platform
  const { userId } = await app.as('ada')
  const change = { trial_end_at: plus(clock.now(), DAY_MS) }
  await transaction(db, async (tx) => {
    await lockAccount(tx, userId)
    await updateAccount(tx, userId, change)
  })
  await createTwin(app, userId)
  const all = await listScheduledUsers(platform, '')
  assert.equal(all.at(-1), userId)
  assert.equal(all.length, 2)
  assert.deepEqual(await listScheduledUsers(platform, all[0] ?? ''), [userId])
  assert.deepEqual(await listScheduledUsers(platform, userId), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lockUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { untilOneWaits } from '#testing/database.ts'
import { ProductList } from '../products/product-list.ts'
import { recordPurchase } from './purchases.ts'
import { forgetUser } from './store.ts'

test('a user deleted while a purchase is recorded does not reappear', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const { userId } = await app.as('leaving')
  const productList = await ProductList.read(app.platform)
  const payment = {
    ref: 'pi_late',
    userId,
    guest: null,
    tier: 'pro',
    amountCents: 299,
    currency: 'usd',
    checkoutSessionId: null,
    fromId: null,
    members: [],
    waiver: null,
    taxCents: null,
  }
  const recording = await transaction(db, async (tx) => {
    await lockUser(tx, userId)
    await forgetUser(tx, userId)
    const begun = { promise: recordPurchase({ ...app.platform, productList }, payment, null) }
    await Promise.race([begun.promise, untilOneWaits(db)])
    await tx.deleteFrom('users').where('id', '=', userId).execute()
    return begun
  })
  await recording.promise
  for (const table of ['purchases', 'payments'] as const) {
    const rows = await db.selectFrom(table).select('user_id').execute()
    assert.deepEqual(rows, [{ user_id: null }], table)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { listRecentUsers, listStaleUsers, lockAccount, updateAccount } from './accounts.ts'

test('orders users who were never read as the most stale and least recent, on every database', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const users: string[] = []
  for (const [name, synced_at] of [
    ['never', null],
    ['older', '2026-01-01T00:00:00.000Z'],
    ['newer', '2026-01-02T00:00:00.000Z'],
  ] as const) {
    const { userId } = await app.as(name)
    await transaction(db, (tx) => lockAccount(tx, userId))
    await updateAccount(db, userId, { synced_at })
    const customer = {
      customer_id: `cus_${name}`,
      user_id: userId,
      state: 'present' as const,
      checkout_at: null,
    }
    await db.insertInto('billing_customers').values(customer).execute()
    users.push(userId)
  }
  assert.deepEqual(await listStaleUsers(db, '2026-02-01T00:00:00.000Z', 10), users)
  assert.deepEqual(await listRecentUsers(db, 10), users.reverse())
})

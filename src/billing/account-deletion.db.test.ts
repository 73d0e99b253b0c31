import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setProcessorCustomer } from '#identity/subscription.ts'
import { lockUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { untilOneWaits } from '#testing/database.ts'
import { eraseBilling } from './account-deletion.ts'
import { findAccount, lockAccount } from './accounts.ts'

test('no billing row outlives its user, even if it is inserted during the deletion', async (t) => {
  const app = await testApp(t)
  const { db, jobs } = app.platform
  const { userId } = await app.as('ada')

  const row = await transaction(db, async (deletion) => {
    await lockUser(deletion, userId)
    await eraseBilling({ jobs }, deletion, userId)
    await deletion.deleteFrom('users').where('id', '=', userId).execute()
    const made = transaction(db, (tx) => lockAccount(tx, userId)).catch(
      (error: Error) => error.message,
    )
    await Promise.race([made, untilOneWaits(db)])
    return { made }
  })

  assert.equal(await row.made, 'the user was deleted')
  assert.equal(await findAccount(db, userId), null)
})

test('a read in progress and a deletion lock rows in the same order', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const ada = await app.as('ada')
  await transaction(db, (tx) => lockAccount(tx, ada.userId))

  const deletion = await transaction(db, async (tx) => {
    await lockAccount(tx, ada.userId)
    const begun = { reply: ada.delete('/api/users/me', { password: PASSWORD }) }
    await Promise.race([begun.reply, untilOneWaits(db)])
    await setProcessorCustomer(tx, ada.userId, 'cus_ada')
    return begun
  })

  assert.equal((await deletion.reply).status, 200)
  assert.equal(await findAccount(db, ada.userId), null)
})

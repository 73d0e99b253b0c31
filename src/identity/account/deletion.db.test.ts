import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordAudit } from '#audit/audit.ts'
import { transaction } from '#platform/db/db.ts'
import { PASSWORD, testApp } from '#testing/app.ts'
import { untilOneWaits } from '#testing/database.ts'
import { recount } from '../user-counts.ts'

test('a deletion and a registration of one day, slot and chain wait for each other in one order', async (t) => {
  const app = await testApp(t)
  const { db, clock } = app.platform
  const ada = await app.as('ada')

  // As a registration does it: first the count, the log last.
  const deletion = await transaction(db, async (tx) => {
    const { userId } = ada
    const counted = await tx
      .selectFrom('users')
      .selectAll()
      .where('id', '=', userId)
      .executeTakeFirstOrThrow()
    await recount(tx, null, counted)
    const begun = { reply: ada.delete('/api/users/me', { password: PASSWORD }) }
    await Promise.race([begun.reply, untilOneWaits(db)])
    await recordAudit(tx, { actorId: userId, action: 'registered', at: clock.now() })
    return begun
  })

  assert.equal((await deletion.reply).status, 200)
  assert.equal((await ada.get('/api/users/me')).status, 401)
})

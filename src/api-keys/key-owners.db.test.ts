// Statements about all keys of a user leave the keys of other users, and revoked keys, alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction } from '#platform/db/db.ts'
import { type TestApp, testApp } from '#testing/app.ts'
import { keyBudgets, revokeKeys } from './keys.ts'

const BUDGET = { budget: { limit_usd: 5, period: 'month' } }

test('revoking all keys of a user revokes their live keys only', async (t) => {
  const app = await testApp(t)
  const [ada, eve] = [await addKeys(app, 'ada', 2), await addKeys(app, 'eve', 1)]
  const { platform } = app
  const [first = ''] = ada.keyIds
  await ada.client.delete(`/api/api-keys/${first}`)
  const revokedAt = await readRevokedAt(app, first)
  app.clock.advance(60_000)

  const revoked = await transaction(platform.db, (tx) =>
    revokeKeys(platform, tx, ada.client.userId),
  )
  assert.deepEqual(
    revoked.map(({ id }) => id),
    ada.keyIds.slice(1),
  )
  assert.equal(
    await readRevokedAt(app, first),
    revokedAt,
    'the time of an earlier revocation stays',
  )
  assert.equal(await readRevokedAt(app, eve.keyIds[0] ?? ''), null)
})

test('the budgets of a user’s keys are those of their live keys', async (t) => {
  const app = await testApp(t)
  const ada = await addKeys(app, 'ada', 2, BUDGET)
  await addKeys(app, 'eve', 1, BUDGET)
  await ada.client.delete(`/api/api-keys/${ada.keyIds[0]}`)
  const budgets = await keyBudgets(app.platform, ada.client.userId)
  assert.deepEqual(
    budgets.map(({ id }) => id),
    ada.keyIds.slice(1),
  )
})

test('the maximum counts a user’s own live keys', async (t) => {
  const app = await testApp(t)
  const ada = await addKeys(app, 'ada', 1)
  const eve = await addKeys(app, 'eve', 1)
  const { db } = app.platform
  const row = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('id', '=', ada.keyIds[0] ?? '')
    .executeTakeFirstOrThrow()
  const addCopies = async (userId: string, count: number, isActive: boolean) => {
    const copies = Array.from({ length: count }, (_, index) => {
      const id = `${userId}-${isActive}-${index}`
      return { ...row, id, hash: id, user_id: userId, is_active: isActive }
    })
    await db.insertInto('api_keys').values(copies).execute()
  }
  await addCopies(ada.client.userId, 400, true)
  await addCopies(ada.client.userId, 600, false)
  await addCopies(eve.client.userId, 600, true)
  assert.equal((await ada.client.post('/api/api-keys', { name: 'one more' })).status, 201)
})

async function addKeys(app: TestApp, name: string, count: number, settings: object = {}) {
  const client = await app.as(name, { tier: 'pro' })
  const keyIds: string[] = []
  for (let index = 0; index < count; index++) {
    const { status, body, text } = await client.post('/api/api-keys', {
      name: `key ${index}`,
      ...settings,
    })
    assert.equal(status, 201, text)
    keyIds.push(body.id)
  }
  return { client, keyIds }
}

async function readRevokedAt({ platform: { db } }: TestApp, id: string): Promise<string | null> {
  const row = await db
    .selectFrom('api_keys')
    .select('revoked_at')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.revoked_at
}

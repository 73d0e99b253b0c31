// Cached replies of a user beside those of a twin with the same keys and of another user.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'
import { createTwin } from '#testing/twin.ts'
import { createReplyCache } from './reply-cache.ts'

test('the cache reads, expires and trims the replies of one user alone', async (t) => {
  const app = await testApp(t)
  const { platform, clock } = app
  const { userId: ada } = await app.as('ada')
  const { userId: bob } = await app.as('bob')
  const megabyte = 1024 * 1024
  const limits = { reply: megabyte, user: megabyte, userReplies: 2, all: 100 * megabyte }
  const cache = createReplyCache(platform, limits)
  const keep = async (userId: string, key: string, seconds = 3_600) => {
    clock.advance(1)
    await cache.keep(userId, key, seconds, { text: key, vendor: 'test', model: 'one' })
  }
  const find = async (userId: string, key: string) =>
    (await cache.find(userId, key, 3_600))?.text ?? null

  await keep(bob, 'early')
  await keep(ada, 'one', 1)
  await keep(ada, 'two')
  assert.deepEqual([await find(ada, 'one'), await find(bob, 'one')], ['one', null])
  const readTwin = await createTwin(app, ada)
  const untouched = await readTwin()
  clock.advance(2_000)
  assert.equal(await find(ada, 'one'), null, 'expired')
  await keep(ada, 'three')
  assert.equal(await find(ada, 'three'), 'three')
  await keep(ada, 'four')
  await keep(ada, 'five')
  assert.deepEqual([await find(ada, 'two'), await find(ada, 'five')], [null, 'five'])
  await keep(bob, 'late')
  assert.deepEqual([await find(bob, 'early'), await find(bob, 'late')], ['early', 'late'])
  assert.deepEqual(await readTwin(), untouched)
})

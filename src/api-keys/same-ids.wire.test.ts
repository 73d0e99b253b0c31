// A key beside that of a twin with the same id and secret.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, testApp } from '#testing/app.ts'
import { createTwin } from '#testing/twin.ts'
import { callerNow } from './caller-now.ts'

test('a key is that of its user, even where another user has one with the same id and secret', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const { id, key } = (await ada.post('/api/api-keys', { name: 'laptop' })).body
  const withKey = createClient(app.url, key, ada)
  const readTwin = await createTwin(app, ada.userId)
  const untouched = await readTwin()
  const readCaller = () => callerNow(app.platform, { userId: ada.userId, keyId: id })

  assert.equal((await withKey.get('/api/api-keys/self')).body.name, 'laptop')
  assert.equal((await withKey.get('/api/usage')).status, 200)
  assert.equal((await readCaller())?.userId, ada.userId)
  // Writes the last use.
  await app.restart()
  assert.deepEqual(await readTwin(), untouched)
  assert.notEqual((await ada.get('/api/api-keys')).body[0].last_used_at, null)

  assert.equal((await ada.delete(`/api/api-keys/${id}`)).status, 200)
  assert.equal((await withKey.get('/api/usage')).status, 401)
  assert.equal(await readCaller(), null)
  assert.deepEqual(await readTwin(), untouched)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { clientOf, testApp } from '#testing/app.ts'

test('who has just bought on another node is not refused here for what was remembered', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const made = await ada.post('/api/api-keys', { name: 'laptop' })
  assert.equal(made.status, 201, made.text)
  const key = clientOf(app.url, made.body.key, { email: '', userId: '', refreshToken: '' })
  /** As another node writes it, when nobody tells this one. */
  const setTier = (tier: string) => sql`update users set subscription_tier = ${tier}`.execute(app.platform.db)
  const ingest = (client: typeof ada) =>
    client.post('/api/rag/ingest/text', { content: 'The notice period is a month.' })

  for (const client of [ada, key]) {
    await setTier('free')
    let status = 0
    while (status !== 403) status = (await ingest(client)).status
    // Remembered now, and for half a second.
    assert.equal((await ingest(client)).status, 403)
    await setTier('pro')
    assert.equal((await ingest(client)).status, 200)
  }
})

test('a scope that a key has just been given counts at once', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const made = await ada.post('/api/api-keys', { name: 'laptop', scopes: ['ai'] })
  assert.equal(made.status, 201, made.text)
  const key = clientOf(app.url, made.body.key, { email: '', userId: '', refreshToken: '' })
  assert.equal((await key.get('/api/rag/documents')).status, 403)
  await app.platform.db
    .updateTable('api_keys')
    .set({ scopes_json: ['ai', 'rag'] })
    .execute()
  assert.equal((await key.get('/api/rag/documents')).status, 200)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PASSWORD, testApp } from '#testing/app.ts'

test('a person registers, signs in, refreshes, and is known', async (t) => {
  const app = await testApp(t)

  const registered = await app.post('/api/auth/register', {
    email: 'Ada@Example.com',
    password: PASSWORD,
    full_name: 'Ada',
  })
  assert.equal(registered.status, 201, registered.text)
  assert.equal(registered.body.email, 'Ada@Example.com')
  assert.equal(registered.body.is_verified, false)

  const login = await app.post('/api/auth/login', { email: 'ada@example.com', password: PASSWORD })
  assert.equal(login.status, 200, login.text)
  const bearer = { authorization: `Bearer ${login.body.access_token}` }
  assert.equal((await app.get('/api/auth/me', { headers: bearer })).body.id, registered.body.id)

  const refreshed = await app.post('/api/auth/refresh', { refresh_token: login.body.refresh_token })
  assert.equal(refreshed.status, 200, refreshed.text)
  assert.equal(refreshed.body.user, null)

  const wrong = await app.post('/api/auth/login', { email: 'ada@example.com', password: 'not the password' })
  assert.deepEqual([wrong.status, wrong.body.detail], [401, 'Incorrect email or password'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

test('with DEBUG the API describes itself, and both references load without inline scripts', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'true' } })
  const description = await app.get('/openapi.json')
  assert.equal(description.status, 200)
  assert.match(description.body.openapi, /^3\.1/)
  for (const path of ['/docs', '/redoc']) {
    const reply = await app.request('GET', path, { redirect: 'follow' })
    assert.equal(reply.status, 200, path)
    assert.doesNotMatch(reply.text, /<script(?![^>]*\ssrc=)[^>]*>[^<]/, path)
    assert.doesNotMatch(reply.headers.get('content-security-policy') ?? '', /script-src[^;]*unsafe/, path)
  }
  assert.equal((await app.get('/redoc/redoc.js')).status, 200)
})

test('without DEBUG there is nothing to see', async (t) => {
  const app = await testApp(t, { env: { DEBUG: 'false' } })
  for (const path of ['/docs', '/redoc', '/openapi.json']) assert.equal((await app.get(path)).status, 404, path)
})

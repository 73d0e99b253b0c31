import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'

test('the models page lists the models of the plans with prices, until they are switched off', async (t) => {
  const { app, store } = await openShop(t)
  const { status, text } = await store('GET', '/models')
  assert.equal(status, 200)
  assert.match(text, /<h2 id="vendor-\d">OpenAI<\/h2>/)
  assert.match(text, /<code>gpt-6-luna<\/code><\/td><td>chat<\/td><td>1,050,000<\/td><td>\$/)
  assert.doesNotMatch(text, /<script(?! type="application\/ld\+json")/)
  assert.ok(Buffer.byteLength(text) < 40 * 1024)

  const root = await app.as('root', { superuser: true })
  const off = { kind: 'model', subject: 'gpt-6-luna', reason: 'an incident' }
  assert.ok((await root.post('/api/admin/switches', off)).status < 300)
  assert.doesNotMatch((await store('GET', '/models')).text, /gpt-6-luna</)
})

test('searches models by words of name, vendor, kind and plan, without scripts', async (t) => {
  const { store } = await openShop(t)
  const { text } = await store('GET', '/models?q=OPENAI+embedding')
  assert.match(text, /value="OPENAI embedding"/)
  assert.match(text, /<code>text-embedding-3-small<\/code>/)
  assert.doesNotMatch(text, /<code>gpt-|<code>claude-/)
  assert.match(text, /<link rel="canonical" href="[^"?]*\/models">/)

  const none = await store('GET', '/models?q=%22%3E%3Cscript%3E')
  assert.match(none.text, /No model matches\. <a href="\/models">Show all/)
  assert.doesNotMatch(none.text, /<script>|<table/)
})

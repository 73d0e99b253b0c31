import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, readConfig } from './config.ts'

test('nothing set is a working sandbox', () => {
  const config = readConfig({})
  assert.equal(config.http.port, 8000)
  assert.equal(config.urls.frontend, 'http://localhost:8000')
  assert.equal(config.sandbox.on, true)
  assert.equal(config.processor.sandboxed, true)
  assert.equal(config.embedder, 'local')
  assert.deepEqual(
    Object.values(config.ai.vendors).map(({ sandboxed }) => sandboxed),
    [true, true, true],
  )
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.http))
})

test('the sandbox plays the vendors that have neither a key nor an address, and no others', () => {
  const { vendors } = readConfig({ ANTHROPIC_API_KEY: 'sk-ant', GEMINI_BASE_URL: 'http://127.0.0.1:9' }).ai
  assert.deepEqual(
    [vendors.openai.sandboxed, vendors.anthropic.sandboxed, vendors.gemini.sandboxed],
    [true, false, false],
  )
  assert.equal(vendors.anthropic.baseUrl, 'https://api.anthropic.com')
  assert.equal(vendors.gemini.apiKey, 'none')
})

test('production without keys starts and plays nothing', () => {
  const config = readConfig({ NODE_ENV: 'production' })
  assert.equal(config.sandbox.on, false)
  assert.equal(config.debug, false)
  assert.equal(config.processor.secretKey, null)
  assert.equal(config.ai.vendors.openai.apiKey, null)
  assert.equal(config.oauth.google, null)
  assert.equal(config.mail.sandboxed, false)
})

const WRONG: [env: Record<string, string>, says: RegExp][] = [
  [{ BASE_URL: 'localhost:8000' }, /^BASE_URL is wrong: expected .*, got 'localhost:8000'$/],
  [{ PORT: 'eighty' }, /^PORT is wrong: expected a port from 0 to 65535, got 'eighty'$/],
  [{ PORT: '70000' }, /^PORT is wrong/],
  [{ DATABASE_URL: 'mysql://x' }, /^DATABASE_URL is wrong: expected an address starting with postgres:/],
  [{ RATE_LIMIT_AI: '30' }, /^RATE_LIMIT_AI is wrong: expected requests\/seconds/],
  [{ SANDBOX: 'on', NODE_ENV: 'production' }, /SANDBOX=on is refused/],
  [{ PAST_DUE_GRACE_DAYS: '-1' }, /^PAST_DUE_GRACE_DAYS is wrong: expected a number of days from 0 to 999, got '-1'$/],
  [{ SERVE: 'api,web' }, /^SERVE is wrong: expected some of api,storefront,worker/],
  [{ DEBUG: 'perhaps' }, /^DEBUG is wrong: expected true or false/],
  [{ LLM_FALLBACKS: 'mistral' }, /^LLM_FALLBACKS names 'mistral'/],
  [{ EMBEDDER: 'openai:text-embedding-3-small' }, /^EMBEDDER=openai:text-embedding-3-small needs OPENAI_API_KEY$/],
  [{ GOOGLE_CLIENT_ID: 'x' }, /^GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET go together/],
  [{ MAX_FILE_MB: '0' }, /^MAX_FILE_MB is wrong/],
  [{ SUPERUSER_PASSWORD: 'longenough' }, /without SUPERUSER_EMAIL/],
  [{ PORT: '9000', STOREFRONT_PORT: '9000' }, /same host on one port/],
]

for (const [env, says] of WRONG) {
  test(`${Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')} stops the start with one line`, () => {
    assert.throws(
      () => readConfig(env),
      (error: Error) => error instanceof ConfigError && says.test(error.message) && !error.message.includes('\n'),
    )
  })
}

test('a wrong secret is not repeated', () => {
  assert.throws(
    () => readConfig({ DATABASE_URL: 'mysql://root:hunter2@x' }),
    (error: Error) => !error.message.includes('hunter2'),
  )
})

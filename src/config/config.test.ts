import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, exposures, readConfig } from './config.ts'

test('without settings, the service runs with the sandbox', () => {
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
  const { vendors } = readConfig({
    ANTHROPIC_API_KEY: 'sk-ant',
    GEMINI_BASE_URL: 'http://127.0.0.1:9',
  }).ai
  assert.deepEqual(
    [vendors.openai!.sandboxed, vendors.anthropic!.sandboxed, vendors.gemini!.sandboxed],
    [true, false, false],
  )
  assert.equal(vendors.anthropic!.baseUrl, 'https://api.anthropic.com')
  assert.equal(vendors.gemini!.apiKey, 'none')
})

test('the product’s name is the brand', () => {
  assert.equal(readConfig({ PRODUCT_NAME: 'kit' }).brand.name, 'Kit')
  assert.throws(
    () => readConfig({ PRODUCT_NAME: '<b>' }),
    /PRODUCT_NAME is wrong: expected letters/,
  )
})

test('production without keys starts without the sandbox', () => {
  const config = readConfig({ NODE_ENV: 'production' })
  assert.equal(config.sandbox.on, false)
  assert.equal(config.debug, false)
  assert.equal(config.processor.secretKey, null)
  assert.equal(config.ai.vendors.openai!.apiKey, null)
  assert.equal(config.oauth.google, null)
  assert.equal(config.mail.sandboxed, false)
})

test('the sandbox is on by itself only where every public address is this machine', () => {
  for (const env of [
    {},
    { BASE_URL: 'http://127.0.0.1:9000', STOREFRONT_URL: 'http://shop.localhost:9000' },
    { FRONTEND_URL: 'http://localhost:5173' },
  ]) {
    assert.equal(readConfig(env).sandbox.on, true, JSON.stringify(env))
  }
  for (const name of ['BASE_URL', 'FRONTEND_URL', 'STOREFRONT_URL']) {
    for (const url of [
      'https://app.example.com',
      'http://192.168.1.7:8000',
      'http://localhost.example.com',
    ]) {
      const config = readConfig({ [name]: url })
      assert.equal(config.sandbox.on, false, `${name}=${url}`)
      assert.deepEqual(
        [config.processor.sandboxed, config.mail.sandboxed, config.oauth.google],
        [false, false, null],
      )
      assert.equal(config.ai.vendors.openai!.sandboxed, false)
    }
  }
  assert.equal(readConfig({ BASE_URL: 'https://demo.example.com', SANDBOX: 'on' }).sandbox.on, true)
})

test('a process without the API calls the sandbox of the one that has it', () => {
  const worker = readConfig({ SERVE: 'worker', PORT: '8002', BASE_URL: 'http://localhost:8000' })
  assert.equal(worker.sandbox.url, 'http://localhost:8000/sandbox')
  assert.equal(worker.ai.vendors.openai!.baseUrl, 'http://localhost:8000/sandbox/openai/v1')
  const api = readConfig({ SERVE: 'api', PORT: '8002', BASE_URL: 'http://localhost:8000' })
  assert.equal(api.sandbox.url, 'http://127.0.0.1:8002/sandbox')
})

test('where mail is real the sandbox plays no sign-in provider', () => {
  const played = readConfig({})
  assert.deepEqual([played.oauth.google?.sandboxed, played.oauth.github?.sandboxed], [true, true])
  for (const sandbox of ['auto', 'on']) {
    const { oauth, processor } = readConfig({
      SMTP_URL: 'smtp://mail.example.com',
      SANDBOX: sandbox,
    })
    assert.deepEqual([oauth.google, oauth.github], [null, null])
    assert.equal(processor.sandboxed, true)
  }
  const keyed = {
    GOOGLE_CLIENT_ID: 'x',
    GOOGLE_CLIENT_SECRET: 'y',
    SMTP_URL: 'smtp://mail.example.com',
  }
  assert.equal(readConfig(keyed).oauth.google?.sandboxed, false)
})

test('the settings contain no secret of the sandbox', () => {
  const { webhookSecret, storefrontWebhookSecret } = readConfig({}).processor
  assert.deepEqual([webhookSecret, storefrontWebhookSecret], [null, null])
  const own = readConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_own' }).processor
  assert.deepEqual([own.webhookSecret, own.storefrontWebhookSecret], ['whsec_own', 'whsec_own'])
  const two = readConfig({ STRIPE_WEBHOOK_SECRET: 'whsec_a, whsec_b' }).processor
  assert.deepEqual([two.webhookSecret, two.storefrontWebhookSecret], ['whsec_a', 'whsec_b'])
})

test('a setting with several values changes only the named ones', () => {
  const { limits, ai, maxTextBytes, maxFileBytes, searchMemoryMb } = readConfig({
    RATE_LIMITS: 'ai=5/10, auth=off',
    LIMITS_MB: 'text=2,search_memory=300',
    AI_LIMITS: 'headers_ms=100,attempts=3',
  })
  assert.deepEqual(limits.ai, { requests: 5, seconds: 10 })
  assert.equal(limits.auth, null)
  assert.deepEqual(limits.general, { requests: 100, seconds: 60 })
  assert.deepEqual(
    [maxTextBytes, maxFileBytes, searchMemoryMb],
    [2 * 1024 ** 2, 25 * 1024 ** 2, 300],
  )
  assert.deepEqual([ai.headersTimeoutMs, ai.idleTimeoutMs, ai.attemptsMax], [100, 120_000, 3])
})

test('settings that give strangers access are reported', () => {
  const named = (env: Record<string, string>) =>
    exposures(readConfig(env)).map(({ setting }) => setting)
  assert.deepEqual(named({}), [])
  assert.deepEqual(named({ HOST: '::1' }), [])
  assert.deepEqual(
    named({ NODE_ENV: 'production', BASE_URL: 'https://app.example.com', HOST: '0.0.0.0' }),
    [],
  )
  assert.deepEqual(named({ HOST: '0.0.0.0' }), ['SANDBOX'])
  assert.deepEqual(named({ TRUST_PROXY: '1' }), ['SANDBOX'])
  assert.deepEqual(named({ SANDBOX: 'on' }), ['SANDBOX'])
  assert.deepEqual(named({ BASE_URL: 'https://app.example.com', HOST: '0.0.0.0' }), ['NODE_ENV'])
})

test('TRUST_PROXY counts proxies or names their networks', () => {
  const read = (value: string) => readConfig({ TRUST_PROXY: value }).http.trustProxy
  assert.deepEqual(['', 'false', '0', 'true', '1', '2'].map(read), [false, false, false, 1, 1, 2])
  assert.deepEqual(read('10.0.0.0/8, ::1,loopback'), ['10.0.0.0/8', '::1', 'loopback'])
})

test('a drain is announced for 5 s in production and then lasts up to 30 s', () => {
  assert.deepEqual(readConfig({}).drain, { delaySeconds: 0, seconds: 30 })
  assert.deepEqual(readConfig({ NODE_ENV: 'production' }).drain, { delaySeconds: 5, seconds: 30 })
  assert.deepEqual(readConfig({ DRAIN: 'delay_s=15,running_s=0' }).drain, {
    delaySeconds: 15,
    seconds: 0,
  })
})

test('a list and the settings that stand for its words say the same', () => {
  const { signUp, requireVerifiedEmail, requireSuperuserTwoFactor, retention } = readConfig({
    SIGNUP_DOMAINS: 'example.net',
    SIGNUP_ALLOWED_DOMAINS: 'example.com, *.example.com',
    SIGNUP_DENIED_DOMAINS: 'example.org, example.edu',
    DISPOSABLE_DOMAINS: 'refuse',
    REQUIRE_VERIFIED_EMAIL: 'true',
    REQUIRE_SUPERUSER_TWO_FACTOR: 'false',
    RETENTION_DAYS: 'contact=100',
    RETENTION_USAGE_DAYS: '70',
    RETENTION_EVENTS_DAYS: '20',
    RETENTION_AUDIT_DAYS: '40',
    RETENTION_CONVERSATIONS_DAYS: '50',
  })
  assert.deepEqual(signUp.allowed, ['example.net', 'example.com', '*.example.com'])
  for (const domain of ['example.org', 'example.edu', 'mailinator.com'])
    assert.ok(signUp.denied.has(domain), domain)
  assert.deepEqual([requireVerifiedEmail, requireSuperuserTwoFactor], [true, false])
  const { contactDays, usageDays, eventsDays, auditDays, conversationsDays } = retention
  assert.deepEqual(
    [contactDays, usageDays, eventsDays, auditDays, conversationsDays],
    [100, 70, 20, 40, 50],
  )
  assert.equal(readConfig({ DISPOSABLE_DOMAINS: 'allow' }).signUp.denied.size, 0)
  assert.throws(
    () => readConfig({ REQUIRE_VERIFIED_EMAIL: 'perhaps' }),
    /^Error: REQUIRE_VERIFIED_EMAIL is wrong/,
  )
})

test('security.txt names SECURITY_CONTACT, or the address for support', () => {
  const read = (env: Record<string, string>) => readConfig(env).mail.securityContact
  assert.equal(read({ SUPPORT_EMAIL: 'help@example.com' }), 'mailto:help@example.com')
  assert.equal(
    read({ SECURITY_CONTACT: 'https://example.com/report' }),
    'https://example.com/report',
  )
})

test('ALLOW opens what it names, and rejects other words', () => {
  const isOpen = (ALLOW: string) => readConfig({ ALLOW }).ai.allowsAccountObjects
  assert.deepEqual(
    [isOpen(''), isOpen('vendor_traces'), isOpen('vendor_objects')],
    [false, false, true],
  )
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ALLOW: 'vendor_traces' }
  assert.equal(readConfig(env).telemetry.traces?.tellsVendors, true)
  assert.throws(() => readConfig({ ALLOW: 'everything' }), { message: /^ALLOW is wrong/ })
})

test('a secret may come from a file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-secrets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'secret')
  writeFileSync(file, 'from a file\n')
  assert.equal(readConfig({ SECRET_KEY_FILE: file }).secretKey, 'from a file')
  assert.equal(readConfig({ SECRET_KEY_FILE: file, SECRET_KEY: 'itself' }).secretKey, 'itself')
  assert.equal(readConfig({ OPENAI_API_KEY_FILE: file }).ai.vendors.openai!.apiKey, 'from a file')
  writeFileSync(file, 'postgres://u:hunter2@db/x')
  assert.equal(readConfig({ DATABASE_URL_FILE: file }).databaseUrl, 'postgres://u:hunter2@db/x')
  // Only secrets: another setting's name with _FILE is somebody else's.
  assert.equal(readConfig({ HOST_FILE: file }).http.host, '127.0.0.1')
  writeFileSync(file, 'mysql://u:hunter2@db/x')
  assert.throws(
    () => readConfig({ DATABASE_URL_FILE: file }),
    /DATABASE_URL is wrong: .*, got '…'$/,
  )
})

const WRONG: [env: Record<string, string>, says: RegExp][] = [
  [{ BASE_URL: 'localhost:8000' }, /^BASE_URL is wrong: expected .*, got 'localhost:8000'$/],
  [{ PORT: 'eighty' }, /^PORT is wrong: expected a port from 0 to 65535, got 'eighty'$/],
  [{ PORT: '70000' }, /^PORT is wrong/],
  [
    { DATABASE_URL: 'postgres://app:secret@a:5432,b:5433/db?target_session_attrs=read-write' },
    /^DATABASE_URL names several hosts, .* connects to one host: put a proxy or a DNS name before several$/,
  ],
  [{ DATABASE_URL: 'postgres://a,b/db' }, /^DATABASE_URL names several hosts/],
  [
    { DATABASE_URL: 'mysql://x' },
    /^DATABASE_URL is wrong: expected an address starting with postgres:/,
  ],
  [{ RATE_LIMIT_AI: '30' }, /^RATE_LIMIT_AI is wrong: expected requests\/seconds/],
  [{ RATE_LIMITS: 'ai=30' }, /^ai of RATE_LIMITS is wrong: expected requests\/seconds/],
  [{ SIGNUP_DOMAINS: '!disposables' }, /^SIGNUP_DOMAINS is wrong: .*, or !disposable, got/],
  [{ RAG_MODELS: 'rerank=nope' }, /^rerank of RAG_MODELS /],
  [
    { RATE_LIMITS: 'chat=30/60' },
    /^RATE_LIMITS is wrong: .* general, ai, rag, .*, got 'chat=30\/60'$/,
  ],
  [{ RATE_LIMITS: 'constructor=1/1' }, /^RATE_LIMITS is wrong/],
  [{ LIMITS_MB: 'text=1,text=2' }, /^LIMITS_MB sets text twice$/],
  [
    { LIMITS_MB: 'file=9', MAX_FILE_MB: '8' },
    /^LIMITS_MB and MAX_FILE_MB both set file: remove one$/,
  ],
  [{ SANDBOX: 'on', NODE_ENV: 'production' }, /SANDBOX=on is refused/],
  [
    { PAST_DUE_GRACE_DAYS: '-1' },
    /^PAST_DUE_GRACE_DAYS is wrong: expected a number of days from 0 to 999, got '-1'$/,
  ],
  [{ SERVE: 'api,web' }, /^SERVE is wrong: expected some of api,storefront,worker/],
  [{ DEBUG: 'perhaps' }, /^DEBUG is wrong: expected true or false/],
  [{ LLM_FALLBACKS: 'mistral' }, /^LLM_FALLBACKS names 'mistral'/],
  [
    { EMBEDDER: 'openai:text-embedding-3-small' },
    /^EMBEDDER=openai:text-embedding-3-small needs OPENAI_API_KEY$/,
  ],
  [{ GOOGLE_CLIENT_ID: 'x' }, /^GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET go together/],
  [{ MAX_FILE_MB: '0' }, /^MAX_FILE_MB is wrong/],
  [{ MAX_AI_BODY_MB: '1.5' }, /^MAX_AI_BODY_MB is wrong/],
  [{ SUPERUSER_PASSWORD: 'longenough' }, /without SUPERUSER_EMAIL/],
  [
    { DRAIN_SECONDS: 'long' },
    /^DRAIN_SECONDS is wrong: expected seconds, from 0 to 9999, got 'long'$/,
  ],
  [{ DRAIN_DELAY_SECONDS: '-1' }, /^DRAIN_DELAY_SECONDS is wrong/],
  [{ SECRET_KEY_OLD: 'x' }, /^SECRET_KEY_OLD is set without SECRET_KEY$/],
  [{ SECRET_KEY_FILE: '/nowhere' }, /^SECRET_KEY_FILE cannot be read: ENOENT/],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hunter2@host' },
    /^OTEL_EXPORTER_OTLP_ENDPOINT is wrong: no user or pass/,
  ],
  [{ RETENTION_DAYS: 'usage=61' }, /^RETENTION_DAYS is wrong: expected at least 62 for usage/],
  [{ RETENTION_DAYS: 'calls=90' }, /^RETENTION_DAYS is wrong: expected name=number for some of/],
  [{ TAX: 'stripe-exclusive' }, /^TAX is wrong: expected one of off, stripe,/],
  [{ TRUST_PROXY: 'all' }, /^TRUST_PROXY is wrong: expected the number of proxies .*, got 'all'$/],
  [{ TRUST_PROXY: '10.0.0.0/8,0.0.0.0/0' }, /got '0\.0\.0\.0\/0'$/],
  [{ TRUST_PROXY: '::/0' }, /^TRUST_PROXY is wrong/],
  [{ TRUST_PROXY: '10.0.0.0/33' }, /^TRUST_PROXY is wrong/],
  [{ TRUST_PROXY: '-1' }, /^TRUST_PROXY is wrong/],
  [{ PORT: '9000', STOREFRONT_PORT: '9000' }, /same host on one port/],
]

for (const [env, says] of WRONG) {
  test(`${Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')} stops the start with one line`, () => {
    assert.throws(
      () => readConfig(env),
      (error: Error) =>
        error instanceof ConfigError && says.test(error.message) && !error.message.includes('\n'),
    )
  })
}

test('a wrong secret is not repeated', () => {
  for (const env of [
    { DATABASE_URL: 'mysql://root:hunter2@x' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://root:hunter2@x' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://root:hunter2@x' },
  ]) {
    assert.throws(
      () => readConfig(env),
      (error: Error) => error instanceof ConfigError && !error.message.includes('hunter2'),
    )
  }
})

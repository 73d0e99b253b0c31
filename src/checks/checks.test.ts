import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BILLING_EVENT_TYPES } from '#billing/billing-events.ts'
import { MONEY_EVENT_TYPES } from '#billing/money/money-events.ts'
import { run } from '#cli/doctor.ts'
import { readConfig } from '#config/config.ts'
import { PAYMENT_EVENT_TYPES } from '#storefront/payments/payment-events.ts'
import { testApp } from '#testing/app.ts'
import { createShop, loseEvents, PRICES } from '#testing/shop.ts'
import { checkBilling } from './billing.ts'
import type { Line } from './line.ts'
import { checkMail } from './mail.ts'
import { checkProducts } from './products.ts'
import { checkVendors } from './vendors.ts'

const PAYMENT_TYPES = [...PAYMENT_EVENT_TYPES, ...MONEY_EVENT_TYPES]
const NOW = '2026-11-21T12:00:00.000Z'
const BASE = 'https://app.example.com'
const STORE = 'https://shop.example.com'

const noDatabase = () => Promise.reject(new Error('no database here'))
const shown = (lines: Line[]) => lines.map(({ mark, says }) => `${mark}: ${says}`)

async function listening(t: Pick<TestContext, 'after'>, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

const PRICE = {
  object: 'price',
  active: true,
  livemode: false,
  recurring: { interval: 'month', interval_count: 1 },
}
const HOOK = { object: 'webhook_endpoint', status: 'enabled', enabled_events: ['*'] }
const HOOKS = [
  { ...HOOK, url: `${BASE}/api/billing/webhook` },
  { ...HOOK, url: `${STORE}/api/processor/webhook` },
]

/** A processor that has these prices and endpoints, and the settings that go with it. */
async function processorWith(
  t: Pick<TestContext, 'after'>,
  prices: Record<string, object>,
  hooks: object[] | { status: number },
  refused: readonly string[] = [],
) {
  const server = createHttpServer((request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const { pathname } = new URL(request.url ?? '/', 'http://stripe')
    if (refused.includes(pathname)) {
      return answer(403, {
        error: { type: 'invalid_request_error', message: 'This key may not do that.' },
      })
    }
    if (pathname === '/v1/webhook_endpoints') {
      return Array.isArray(hooks)
        ? answer(200, { object: 'list', data: hooks, has_more: false })
        : answer(hooks.status, {
            error: { type: 'invalid_request_error', message: 'This key may not do that.' },
          })
    }
    const price = prices[pathname.replace('/v1/prices/', '')]
    if (price) return answer(200, { id: pathname, ...price })
    return answer(404, {
      error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such price' },
    })
  })
  const port = await listening(t, server)
  t.after(() => server.closeAllConnections())
  return {
    BASE_URL: BASE,
    STOREFRONT_URL: STORE,
    STRIPE_SECRET_KEY: 'sk_test_x',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: `http://127.0.0.1:${port}`,
    PRICE_PRO_MONTHLY: 'price_m',
  }
}

test('billing is ok when every price matches its setting and both endpoints receive every event type', async (t) => {
  const named = (types: readonly string[]) => ({ enabled_events: [...types] })
  const env = await processorWith(
    t,
    { price_m: PRICE, price_y: { ...PRICE, recurring: { interval: 'year', interval_count: 1 } } },
    [
      { ...HOOKS[0], ...named(BILLING_EVENT_TYPES) },
      { ...HOOKS[1], ...named(PAYMENT_TYPES) },
    ],
  )
  const config = readConfig({ ...env, PRICE_ENTERPRISE_YEARLY: 'price_y' })
  assert.deepEqual(shown(await checkBilling(config, noDatabase)), [
    `ok: 2 prices, ${env.STRIPE_API_BASE}`,
    `ok: ${BASE}/api/billing/webhook`,
    `ok: ${STORE}/api/processor/webhook`,
  ])
})

test('reports every fault of a price with its setting', async (t) => {
  const env = await processorWith(
    t,
    {
      archived: { ...PRICE, active: false },
      live: { ...PRICE, livemode: true },
      once: { ...PRICE, recurring: null },
      quarterly: { ...PRICE, recurring: { interval: 'month', interval_count: 3 } },
      yearly: { ...PRICE, recurring: { interval: 'year', interval_count: 1 } },
    },
    HOOKS,
  )
  for (const [price, words] of [
    ['archived', /archived/],
    ['live', /a live price, and the key a test key/],
    ['once', /one-time/],
    ['quarterly', /every 3 month, not every month/],
    ['yearly', /every 1 year, not every month/],
    ['nope', /has no price nope/],
  ] as const) {
    const [line] = await checkBilling(readConfig({ ...env, PRICE_PRO_MONTHLY: price }), noDatabase)
    assert.equal(line?.mark, 'wrong', price)
    assert.match(line?.says ?? '', /^PRICE_PRO_MONTHLY: /)
    assert.match(line?.says ?? '', words)
  }
})

test('reports a retention coupon that the processor lacks or that is used up', async (t) => {
  const env = await processorWith(
    t,
    { price_m: PRICE, '/v1/coupons/USED': { object: 'coupon', valid: false } },
    HOOKS,
  )
  const check = async (coupon: string) =>
    shown(await checkBilling(readConfig({ ...env, RETENTION_COUPON: coupon }), noDatabase))[0]
  assert.equal(await check('NOPE'), 'wrong: RETENTION_COUPON: the processor has no coupon NOPE')
  assert.equal(
    await check('USED'),
    'wrong: RETENTION_COUPON: USED has expired or is used up at the processor',
  )
  assert.match((await check('')) ?? '', /^ok: /)
})

test('reports missing, disabled and incomplete endpoints, and loopback addresses', async (t) => {
  const hooks = async (found: object[] | { status: number }, more = {}) => {
    const env = await processorWith(t, { price_m: PRICE }, found)
    const [, ...lines] = await checkBilling(readConfig({ ...env, ...more }), noDatabase)
    return shown(lines)
  }
  assert.deepEqual(await hooks([{ ...HOOKS[0], status: 'disabled' }]), [
    `wrong: ${BASE}/api/billing/webhook is disabled`,
    `wrong: the processor has no endpoint ${STORE}/api/processor/webhook`,
  ])
  const deaf = BILLING_EVENT_TYPES.filter((type) => type !== 'invoice.paid')
  assert.deepEqual(await hooks([{ ...HOOKS[0], enabled_events: deaf }, HOOKS[1] ?? {}]), [
    `wrong: ${BASE}/api/billing/webhook is not sent invoice.paid`,
    `ok: ${STORE}/api/processor/webhook`,
  ])
  const local = { BASE_URL: 'http://localhost:8000', STOREFRONT_URL: 'http://localhost:8001' }
  assert.ok((await hooks([], local)).every((line) => line.startsWith('off: http://localhost')))
  assert.deepEqual(await hooks({ status: 403 }), [
    'off: the endpoints cannot be read: This key may not do that.',
  ])
  assert.match((await hooks({ status: 401 }))[0] ?? '', /^wrong: /)
})

test('reports missing rights of a restricted key', async (t) => {
  const refused = ['/v1/charges', '/v1/disputes', '/v1/checkout/sessions']
  const env = await processorWith(t, { price_m: PRICE }, HOOKS, refused)
  assert.deepEqual(shown(await checkBilling(readConfig(env), noDatabase)), [
    'wrong: STRIPE_SECRET_KEY: the key may not read charges, disputes, checkout sessions',
    `ok: ${BASE}/api/billing/webhook`,
    `ok: ${STORE}/api/processor/webhook`,
  ])
})

test('reports an unreachable processor', async () => {
  const env = {
    STRIPE_SECRET_KEY: 'sk_live_wrong',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    PRICE_PRO_MONTHLY: 'price_nope',
  }
  const config = readConfig({ ...env, STRIPE_API_BASE: 'http://127.0.0.1:9' })
  const lines = await checkBilling(config, noDatabase)
  assert.deepEqual(
    lines.map(({ mark }) => mark),
    ['wrong', 'wrong'],
  )
  for (const { says } of lines) assert.match(says, /cannot be reached: connect ECONNREFUSED/)
})

test('reports a subscribed price that no setting names', async (t) => {
  const app = await testApp(t)
  const shop = createShop(app)
  await shop.subscribe(await app.as('ada'))
  const env = await processorWith(t, { price_m: PRICE }, HOOKS)
  const report = shown(await checkBilling(readConfig(env), async () => app.platform))
  assert.ok(
    report.includes(
      `off: ${PRICES.pro}, which no PRICE_ setting names, is what one user subscribes to`,
    ),
    report.join('\n'),
  )
})

test('the checks pass against the sandbox with an operator’s key', async (t) => {
  const app = await testApp(t)
  loseEvents(app)
  const config = readConfig({
    STRIPE_SECRET_KEY: 'sk_test_own',
    STRIPE_WEBHOOK_SECRET: 'whsec_x',
    STRIPE_API_BASE: `${app.url}/sandbox/stripe`,
    PRICE_PRO_MONTHLY: PRICES.pro,
    BASE_URL: app.url,
    STOREFRONT_URL: app.storefrontUrl,
  })
  assert.deepEqual(
    (await checkBilling(config, noDatabase)).map(({ mark }) => mark),
    ['ok', 'ok', 'ok'],
  )
})

test('mail is ok when the server accepts the password, and wrong when it is unreachable', async (t) => {
  const server = createServer((socket) => {
    socket.write('220 mail.example.com ESMTP\r\n')
    socket.on('data', (data) => {
      const said = data.toString()
      if (/^EHLO/i.test(said)) socket.write('250-mail.example.com\r\n250 AUTH PLAIN\r\n')
      else if (/^AUTH/i.test(said)) {
        const isRight = said.includes(Buffer.from('\0ada\0right').toString('base64'))
        socket.write(isRight ? '235 welcome\r\n' : '535 wrong password\r\n')
      } else if (/^QUIT/i.test(said)) socket.end('221 bye\r\n')
    })
    socket.on('error', () => {})
  })
  const port = await listening(t, server)
  const checked = (url: string) => checkMail(readConfig({ SMTP_URL: url }))
  assert.equal((await checked(`smtp://ada:right@127.0.0.1:${port}`)).mark, 'ok')
  const refused = await checked(`smtp://ada:wrong@127.0.0.1:${port}`)
  assert.deepEqual([refused.mark, refused.says.includes('535')], ['wrong', true])
  assert.equal((await checked('smtp://127.0.0.1:1')).mark, 'wrong')
  assert.equal(refused.says.includes('wrong@'), false, 'no password is shown')
})

test('checks a vendor’s key free of charge and never shows it', async (t) => {
  const asked: string[] = []
  const server = createHttpServer(({ url = '', headers }, response) => {
    asked.push(url)
    const key = String(
      headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? '',
    )
    const status = url.startsWith('/old')
      ? 404
      : url.startsWith('/open')
        ? 200
        : key.includes('right')
          ? 200
          : url.includes('v1beta')
            ? 400
            : 401
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  const url = `http://127.0.0.1:${await listening(t, server)}`
  t.after(() => server.closeAllConnections())
  const checked = async (env: Record<string, string>) => {
    const lines = await checkVendors(readConfig(env))
    return lines
      .filter(({ mark }) => mark === 'ok' || mark === 'wrong')
      .map(({ mark, says }) => `${mark}: ${says}`)
  }
  const addresses = { OPENAI_BASE_URL: `${url}/v1`, ANTHROPIC_BASE_URL: url, GEMINI_BASE_URL: url }
  const keys = (key: string) => ({
    OPENAI_API_KEY: key,
    ANTHROPIC_API_KEY: key,
    GEMINI_API_KEY: key,
  })
  assert.deepEqual(await checked({ ...addresses, ...keys('right') }), [
    `ok: ${url}/v1`,
    `ok: ${url}`,
    `ok: ${url}`,
  ])
  assert.deepEqual([...new Set(asked)].toSorted(), [
    '/v1/models',
    '/v1/models?limit=1',
    '/v1beta/models?pageSize=1',
  ])
  const wrong = await checked({ ...addresses, ...keys('mistyped') })
  assert.deepEqual(wrong, [
    `wrong: ${url}/v1 rejects the key (401)`,
    `wrong: ${url} rejects the key (401)`,
    `wrong: ${url} rejects the key (400)`,
  ])
  assert.deepEqual(await checked({ OPENAI_BASE_URL: `${url}/old`, OPENAI_API_KEY: 'any' }), [
    `ok: ${url}/old (lists no models, so the key was not tested)`,
  ])
  assert.deepEqual(await checked({ OPENAI_BASE_URL: `${url}/open`, OPENAI_API_KEY: 'mistyped' }), [
    `ok: ${url}/open (lists its models without a key, so the key was not tested)`,
  ])
  const [away = ''] = await checked({
    OPENAI_BASE_URL: 'http://127.0.0.1:1',
    OPENAI_API_KEY: 'right',
  })
  assert.match(away, /^wrong: http:\/\/127\.0\.0\.1:1 cannot be reached: /)
  const several = await checked({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'right,mistyped' })
  assert.match(several[0] ?? '', /^wrong: .*rejects the key \(401\)$/)
  for (const key of ['right\nmistyped', 'mistyped right', 'mistypéd', 'mistyped…']) {
    const [broken = ''] = await checked({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key })
    assert.match(broken, /^wrong: .* was not called: its key contains spaces/, key)
    assert.doesNotMatch(broken, /mistyp/)
  }
  assert.doesNotMatch([...wrong, ...several].join(), /mistyped/)
})

test('reads each tier as a download would', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'products-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const config = readConfig({ PRODUCTS_DIR: root })
  const list = { sold: config.catalogue.products, listUploaded: () => [] }
  const check = async () => shown(await checkProducts(config, list, NOW))
  assert.deepEqual(await check(), [
    `wrong: ${root} contains no release of any tier: nothing is for sale`,
  ])

  put('basic/1.0.0/readme.txt', 'hello')
  put('basic/releases.json', '[{"version": "1.0.0", "published_at": "2026-01-01"}]')
  put('pro/2.0.0/readme.txt', 'hello')
  put('pro/releases.json', '[{"version": "2.0.0", "published_at": "2027-05-01"}]')
  assert.deepEqual(await check(), [
    'ok: 1.0.0, 1 files',
    'off: not for sale before 2027-05-01',
    'off: no release: not for sale',
  ])

  put('pro/releases.json', '[{"version": "2.0.0" "published_at": "2026-05-01"}]')
  put('enterprise/releases.json', '[{"version": "3.0.0", "published_at": "2026-05-01"}]')
  rmSync(join(root, 'basic/1.0.0/readme.txt'))
  assert.deepEqual(await check(), [
    'wrong: 1.0.0 has no files',
    'wrong: pro/releases.json is not JSON',
    'wrong: releases.json lists no version that has a folder',
  ])
})

test('the doctor exits with 1 when a part is wrong, otherwise with 0', async (t) => {
  const app = await testApp(t)
  const doctor = async (env: Record<string, string>) => {
    const lines: string[] = []
    const { port, storefrontPort } = app.config.http
    const ports = {
      PORT: String(port),
      STOREFRONT_PORT: String(storefrontPort),
      DATA_DIR: app.dataDir,
    }
    const config = readConfig({ ...ports, ...env })
    const context = {
      config,
      platform: async () => app.platform,
      print: (line = '') => void lines.push(line),
    }
    return {
      code: await run([], context),
      wrong: lines.filter((line) => /^✖ /.test(line)).map((line) => line.slice(2, 10)),
    }
  }
  assert.deepEqual(await doctor({}), { code: 0, wrong: [] })
  const away = { SMTP_URL: 'smtp://127.0.0.1:1', PRODUCTS_DIR: join(app.dataDir, 'none') }
  assert.deepEqual(await doctor(away), { code: 1, wrong: ['Mail    ', 'Products'] })
})

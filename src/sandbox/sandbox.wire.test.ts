import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

const email = (id: string, to: string, more: object = {}) => ({
  id,
  from: 'Latchkey <no-reply@localhost>',
  to,
  subject: 'Confirm your address',
  text: 'Follow http://localhost:8000/verify-email?token=abc.',
  html: '<p>Follow <a href="http://localhost:8000/verify-email?token=abc&amp;x=1">this link</a></p><script>alert(1)</script>',
  ...more,
})

test('the mailbox stores an email once and lists the newest first', async (t) => {
  const app = await testApp(t)

  assert.equal((await app.post('/sandbox/mail', email('<1@x>', 'ada@example.com'))).status, 201)
  assert.equal((await app.post('/sandbox/mail', email('<1@x>', 'ada@example.com'))).status, 200)
  await app.post('/sandbox/mail', email('<2@x>', 'Ada <ADA@example.com>', { subject: 'Second' }))
  await app.post('/sandbox/mail', email('<3@x>', 'bada@example.com'))

  const mails = (await app.get('/sandbox/mail.json?to=ada@example.com')).body
  assert.deepEqual(
    mails.map((mail: { id: string }) => mail.id),
    ['<2@x>', '<1@x>'],
  )
  assert.deepEqual(mails[1].links, [
    'http://localhost:8000/verify-email?token=abc',
    'http://localhost:8000/verify-email?token=abc&x=1',
  ])
  assert.deepEqual(Object.keys(mails[0]).sort(), [
    'at',
    'html',
    'id',
    'links',
    'subject',
    'text',
    'to',
  ])

  assert.equal((await app.post('/sandbox/mail', { id: 'x' })).status, 422)
})

test("an email's HTML is displayed in a sandboxed frame without scripts", async (t) => {
  const app = await testApp(t)
  await app.post(
    '/sandbox/mail',
    email('<1@x>', 'ada@example.com', { subject: '<img src=x onerror=alert(1)>' }),
  )

  const list = await app.get('/sandbox/mail')
  assert.equal(list.status, 200)
  assert.ok(!list.text.includes('<img src=x'))
  const [, href = ''] = /href="(\/sandbox\/mail\/\d+)"/.exec(list.text) ?? []

  const opened = await app.get(href)
  assert.match(opened.text, /<iframe src="\/sandbox\/mail\/\d+\/body"/)
  assert.ok(!opened.text.includes('<script>alert'))
  const body = await app.get(`${href}/body`)
  assert.match(
    body.headers.get('content-security-policy') ?? '',
    /^sandbox (?!.*allow-scripts).*default-src 'none'/,
  )
  assert.match(
    (await app.get(`${href}?view=text`)).text,
    /<a href="http:\/\/localhost:8000\/verify-email\?token=abc">/,
  )
  assert.equal((await app.get('/sandbox/mail/999')).status, 404)
})

test('the mailbox survives a restart', async (t) => {
  const app = await testApp(t)
  await app.post('/sandbox/mail', email('<1@x>', 'ada@example.com'))
  await app.restart()
  assert.equal((await app.get('/sandbox/mail.json')).body.length, 1)
})

test('every page is reachable, styled and has no script', async (t) => {
  const app = await testApp(t)
  for (const path of [
    '/sandbox',
    '/sandbox/mail',
    '/sandbox/processor',
    '/sandbox/oauth',
    '/sandbox/openai',
  ]) {
    const page = await app.get(path)
    assert.equal(page.status, 200, path)
    assert.match(page.text, /nothing here leaves this machine/, path)
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /default-src 'none'; style-src 'self'/,
      path,
    )
    assert.doesNotMatch(page.text, /<script|style="/, path)
  }
  assert.equal(
    (await app.get('/sandbox/style.css')).headers.get('content-type'),
    'text/css; charset=utf-8',
  )
})

test('rejects a foreign Host and requests from foreign pages', async (t) => {
  const app = await testApp(t)
  // fetch sets Host itself, so this one speaks HTTP by hand.
  const withHost = (host: string) =>
    new Promise<number>((resolve, reject) => {
      const { port } = new URL(app.url)
      httpRequest(
        { host: '127.0.0.1', port, path: '/sandbox/mail.json', headers: { host } },
        (reply) => {
          reply.resume()
          resolve(reply.statusCode ?? 0)
        },
      )
        .on('error', reject)
        .end()
    })
  assert.equal(await withHost('localhost'), 200)
  assert.equal(await withHost('evil.example'), 403)
  assert.equal(await withHost('localhost.evil.example'), 403)
  for (const name of [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-real-ip',
    'cf-connecting-ip',
    'via',
    'forwarded',
  ]) {
    // Loopback too: a proxy sends the header, but its client chooses the value.
    for (const value of ['203.0.113.9', '127.0.0.1']) {
      const { status } = await app.request('GET', '/sandbox/mail.json', {
        headers: { [name]: value },
      })
      assert.equal(status, 403, `${name}: ${value}`)
    }
  }
  assert.match(await bareProxied(app.url), /^HTTP\/1\.1 403 /)
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  assert.equal(
    (await app.request('POST', '/sandbox/mail/clear', { headers: crossSite })).status,
    403,
  )
})

/**
 * As nginx passes it on since 1.29.7, without a line of configuration beside `proxy_pass
 * http://127.0.0.1:8000;`.
 */
const throughProxy = { 'sec-fetch-site': 'same-origin', referer: 'https://latchkey.example/' }

for (const server of ['API', 'storefront']) {
  test(`a browser that comes to the ${server} through a proxy closes the sandbox to all`, async (t) => {
    const app = await testApp(t)
    const said = t.mock.method(app.platform.log, 'error')
    const ask = (headers: Record<string, string>) =>
      server === 'API' ? app.get('/healthz', { headers }) : app.store('GET', '/', { headers })
    // Pages of this machine, and foreign pages that call it.
    await ask({
      'sec-fetch-site': 'same-origin',
      referer: `${app.url}/login`,
      origin: 'http://localhost:8000',
    })
    await ask({
      'sec-fetch-site': 'cross-site',
      referer: 'https://evil.example/',
      origin: 'https://evil.example',
    })
    await ask({ ...throughProxy, 'x-forwarded-for': '203.0.113.9' })
    assert.equal((await app.get('/sandbox/mail.json')).status, 200)

    assert.equal((await ask(throughProxy)).status, 200, 'the service itself keeps running')
    await ask(throughProxy)
    for (const path of ['/sandbox', '/sandbox/mail.json', '/sandbox/style.css']) {
      const { status, body } = await app.get(path)
      assert.equal(status, 403, path)
      assert.match(body.detail, /a proxy on this machine.*Set BASE_URL .*, or NODE_ENV=production/)
    }
    assert.equal((await app.post('/sandbox/mail', email('<1@x>', 'ada@example.com'))).status, 403)
    assert.equal(said.mock.callCount(), 1)
    assert.match(String(said.mock.calls[0]?.arguments[1]), /BASE_URL/)

    await app.restart()
    assert.equal((await app.get('/sandbox/mail.json')).status, 200)
  })
}

test('model calls report that the sandbox is closed', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  await app.get('/healthz', { headers: throughProxy })

  const chat = await ada.post('/api/ai/chat', { messages: [{ role: 'user', content: 'Hi' }] })
  assert.deepEqual([chat.status, chat.body.code], [503, 'vendor_sandbox_closed'])
  assert.match(chat.body.detail, /sandbox is closed .* Set BASE_URL/)
  assert.equal(chat.headers.get('x-should-retry'), 'false')
  const compatible = await ada.post('/v1/chat/completions', {
    model: 'claude-haiku-5-5',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  assert.deepEqual([compatible.status, compatible.body.error.code], [503, 'sandbox_closed'])
})

test('the request that reveals the proxy is rejected too', async (t) => {
  for (const headers of [throughProxy, { origin: 'http://203.0.113.5' }]) {
    const app = await testApp(t)
    assert.equal((await app.get('/sandbox/mail.json')).status, 200)
    assert.equal((await app.get('/sandbox/mail.json', { headers })).status, 403)
  }
})

test('SANDBOX=on accepts other hosts', async (t) => {
  const app = await testApp(t, { env: { SANDBOX: 'on' } })
  assert.equal(
    (await app.get('/sandbox/mail.json', { headers: { 'x-forwarded-for': '203.0.113.9' } })).status,
    200,
  )
  assert.equal((await app.get('/sandbox/mail.json', { headers: throughProxy })).status, 200)
})

/**
 * As nginx before 1.29.7 passes a request on with `proxy_pass http://127.0.0.1:8000;` and nothing
 * else.
 */
function bareProxied(url: string): Promise<string> {
  const { port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk))
    socket.once('error', reject).once('close', () => resolve(answer))
    socket.write(
      `GET /sandbox/mail.json HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
    )
  })
}

test('without the sandbox its addresses return 404', async (t) => {
  const app = await testApp(t, { env: { SANDBOX: 'off' } })
  assert.equal((await app.get('/sandbox/mail.json')).status, 404)
})

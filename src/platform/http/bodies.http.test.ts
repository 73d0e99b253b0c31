// Bodies that do not end: each is cut in its time, and all of them together hold no more than their share.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, freePorts, type TestApp, testApp } from '#testing/app.ts'

const MEGABYTE = 1024 * 1024

test('no request takes for ever to arrive, on its own listener or a shared one', async (t) => {
  const app = await testApp(t)
  const [port = 0] = await freePorts(1)
  for (const server of [app.service.api?.server, app.service.storefront?.server]) {
    // The longest body, 65 MB, has 60 s and 682 s; the headers are in it.
    assert.ok(server && server.requestTimeout > 700_000 && server.requestTimeout < 800_000, `${server?.requestTimeout}`)
    assert.equal(server.headersTimeout, 20_000)
    assert.equal(server.keepAliveTimeout, 72_000)
    assert.equal(server.maxConnections, 10_000)
  }
  await t.test('shared', async (t) => {
    const host = `shop.localhost:${port}`
    const shared = await testApp(t, {
      env: { PORT: `${port}`, STOREFRONT_PORT: `${port}`, STOREFRONT_URL: `http://${host}` },
    })
    const server = shared.service.servers[0]
    assert.equal(shared.service.servers.length, 1)
    assert.ok(server && server.requestTimeout > 700_000, `${server?.requestTimeout}`)
    assert.equal(server.maxConnections, 10_000)
  })
})

const SLOW: Record<string, [path: string, type: string, start: string]> = {
  'a JSON body': ['/api/auth/login', 'application/json', '{"email":"'],
  'an event of the processor': ['/api/billing/webhook', 'application/json', '{"id":"'],
  'a long text': ['/api/rag/ingest/text', 'application/json', '{"content":"'],
  'a file': [
    '/api/rag/ingest/file',
    'multipart/form-data; boundary=x',
    '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
  ],
}

for (const [what, [path, type, start]] of Object.entries(SLOW)) {
  test(`${what} that stops half-way is answered 408 after its time, and not before`, async (t) => {
    const app = await testApp(t)
    const ada = await app.as('ada', { tier: 'pro' })
    // 60 s, and a second for each 100 KB begun.
    for (const [length, cutAfterMs] of [
      [90_000, 61_000],
      [900_000, 69_000],
    ] as const) {
      const open = await unfinished(t, app, { path, type, start, length, token: ada.token })
      await wait(300)
      app.clock.advance(cutAfterMs - 5_000)
      await wait(1_300)
      assert.equal(open.answer, '', 'cut too early')
      app.clock.advance(5_000)
      await open.closed
      assert.match(open.answer, /^HTTP\/1\.1 408 /)
      assert.match(open.answer, /\r\nconnection: close\r\n/i)
      assert.match(open.answer, /The request took too long to arrive/)
    }
    assert.equal((await ada.get('/api/auth/me')).status, 200)
  })
}

test('a body of unknown length that trickles is cut, too', async (t) => {
  const app = await testApp(t)
  const open = await unfinished(t, app, { path: '/api/auth/login', length: null, start: '5\r\n{"ema\r\n' })
  await wait(300)
  app.clock.advance(62_000)
  await open.closed
  assert.match(open.answer, /^HTTP\/1\.1 408 /)
})

test('unfinished bodies of one address hold an eighth of what may be in flight, and end', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const share = (4 * 65 * MEGABYTE) / 8
  const length = 1_000_000
  const fits = Math.floor(share / length)
  const crowd = await Promise.all(
    Array.from({ length: fits + 40 }, () =>
      unfinished(t, app, { path: '/api/billing/webhook', length, start: 'x'.repeat(50_000) }),
    ),
  )
  await until(() => crowd.filter(({ answer }) => answer !== '').length === 40)
  for (const { answer } of crowd.filter((one) => one.answer !== '')) {
    assert.match(answer, /^HTTP\/1\.1 503 /)
    assert.match(answer, /\r\nretry-after: 5\r\n/i)
  }
  // Who is signed in has a share of his own.
  assert.equal((await ada.patch('/api/users/me', { full_name: 'Ada' })).status, 200)

  for (const { socket } of crowd) socket.destroy()
  await until(async () => (await app.post('/api/auth/login', {})).status === 422)
})

test('strangers together leave half to users, and with large bodies half of that to forms', async (t) => {
  const app = await testApp(t, { env: { TRUST_PROXY: '1' } })
  const ada = await app.as('ada')
  const length = 1_000_000
  const crowd = await Promise.all(
    Array.from({ length: 90 }, (_, index) =>
      unfinished(t, app, {
        path: '/api/auth/login',
        length,
        start: 'x',
        headers: `X-Forwarded-For: 198.51.100.${index % 10}\r\n`,
      }),
    ),
  )
  const fits = Math.floor((65 * MEGABYTE) / length)
  await until(() => crowd.filter(({ answer }) => answer.startsWith('HTTP/1.1 503')).length === 90 - fits)
  assert.equal((await app.post('/api/auth/login', {})).status, 422)
  assert.equal((await ada.patch('/api/users/me', { full_name: 'Ada' })).status, 200)
})

test('one user holds half of what may be in flight, and leaves the rest to others', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const ingest = (client: Client) =>
    unfinished(t, app, {
      path: '/api/rag/ingest/text',
      length: 60 * MEGABYTE,
      start: '{"content":"',
      token: client.token,
    })
  const [first, second, third] = [await ingest(ada), await ingest(ada), await ingest(ada)]
  await until(() => third.answer !== '')
  assert.match(third.answer, /^HTTP\/1\.1 503 /)
  const others = await ingest(eve)
  await wait(300)
  assert.deepEqual([first.answer, second.answer, others.answer], ['', '', ''])

  first.socket.destroy()
  second.socket.destroy()
  await until(async () => {
    const again = await ingest(ada)
    await wait(200)
    return again.answer === ''
  })
})

test('what was answered is held no longer, also on a connection that lives on', async (t) => {
  const app = await testApp(t)
  const body = JSON.stringify({ email: 'x'.repeat(1_000_000) })
  const statuses = new Set<number>()
  // More than an address's share, one after the other.
  for (let index = 0; index < 40; index++) {
    const { status } = await app.request('POST', '/api/auth/login', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    statuses.add(status)
  }
  assert.deepEqual([...statuses], [422])
})

test('what the sandbox plays is no part of it', async (t) => {
  const app = await testApp(t)
  const calls = Array.from({ length: 45 }, () =>
    unfinished(t, app, { path: '/sandbox/openai/v1/chat/completions', length: 1_000_000, start: '{' }),
  )
  const opened = await Promise.all(calls)
  await wait(300)
  assert.deepEqual([...new Set(opened.map(({ answer }) => answer))], [''])
})

type Sent = {
  path: string
  type?: string
  start: string
  /** Null: in chunks, of which nobody knows how many come. */
  length: number | null
  token?: string
  headers?: string
}

/** A request whose body begins and does not go on. */
async function unfinished(
  t: { after(fn: () => void): void },
  app: TestApp,
  { path, type = 'application/json', start, length, token, headers = '' }: Sent,
) {
  const socket: Socket = connect(app.config.http.port, '127.0.0.1')
  t.after(() => socket.destroy())
  const one = {
    socket,
    answer: '',
    closed: new Promise<void>((resolve) => socket.once('close', () => resolve())),
  }
  socket.on('data', (chunk) => (one.answer += chunk)).on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  const size = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const bearer = token ? `Authorization: Bearer ${token}\r\n` : ''
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${size}\r\n${bearer}${headers}\r\n${start}`,
  )
  return one
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (await holds()) return
    await wait(50)
  }
  assert.fail('it did not come to pass')
}

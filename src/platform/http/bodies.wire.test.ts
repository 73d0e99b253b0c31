// Endless bodies: each connection is closed in time, and together they never exceed their share of
// memory.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, freePorts, PASSWORD, type TestApp, testApp } from '#testing/app.ts'
import { createLog } from '../telemetry/log.ts'
import { BodyAdmission } from './bodies.ts'

const MEGABYTE = 1024 * 1024
/** By default: a text of 64 MB in JSON. */
const LONGEST = 129 * MEGABYTE
/** Two of the longest, each with a little beside it. */
const WHOLE = 2 * (LONGEST + 4 * MEGABYTE)
const LONGEST_MS = 60_000 + Math.ceil(LONGEST / 100_000) * 1_000

type Begun = [path: string, type: string, start: string]

const TEXT: Begun = ['/api/rag/ingest/text', 'application/json', '{"content":"']
const FILE: Begun = [
  '/api/rag/ingest/file',
  'multipart/form-data; boundary=x',
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello',
]
const SLOW: Record<string, Begun> = {
  'a JSON body': ['/api/auth/login', 'application/json', '{"email":"'],
  'an event of the processor': ['/api/billing/webhook', 'application/json', '{"id":"'],
  'a long text': TEXT,
  'a file': FILE,
}

test('a request that arrives too slowly is closed, on a separate and on a shared port', async (t) => {
  const app = await testApp(t)
  const [port = 0] = await freePorts(1)
  for (const server of [app.service.api?.server, app.service.storefront?.server]) {
    // The headers are in it.
    assert.equal(server?.requestTimeout, LONGEST_MS + 30_000)
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
    assert.equal(server?.requestTimeout, LONGEST_MS + 30_000)
    assert.equal(server.maxConnections, 10_000)
  })
})

test('the longest accepted body has enough time and memory', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const ingest = (length: number) =>
    unfinished(t, app, {
      path: '/api/rag/ingest/text',
      start: '{"content":"',
      length,
      token: ada.token,
    })
  const tooLong = await ingest(LONGEST + 1)
  await until(() => tooLong.answer !== '')
  assert.match(tooLong.answer, /^HTTP\/1\.1 413 /)

  const longest = await ingest(LONGEST)
  await wait(300)
  assert.equal(
    (await ada.patch('/api/users/me', { full_name: 'Ada' })).status,
    200,
    'a small one beside it',
  )
  app.clock.advance(LONGEST_MS - 5_000)
  await wait(1_300)
  assert.equal(longest.answer, '', 'cut too early')
  app.clock.advance(10_000)
  await longest.closed
  assert.match(longest.answer, /^HTTP\/1\.1 408 /)
})

test('a route with longer bodies than are reckoned with stops the start', async (t) => {
  const { service } = await testApp(t)
  const bodies = new BodyAdmission(service.platform)
  const route = { method: 'POST', url: '/api/more', handler: () => {} } as const
  assert.throws(
    () => bodies.checkRoute({ ...route, bodyLimit: LONGEST + 1 }),
    /POST \/api\/more takes bodies of/,
  )
  assert.doesNotThrow(() => bodies.checkRoute({ ...route, bodyLimit: LONGEST }))
})

test('bodies of unknown length are charged as they arrive, and block no other client', async (t) => {
  const app = await testApp(t)
  const people = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) => app.as(name, { tier: 'pro' })),
  )
  const [ada, bob, eve] = people as [Client, Client, Client]
  const ingest = ({ token }: Client) =>
    unfinished(t, app, {
      path: '/api/rag/ingest/text',
      start: chunk('{"content":"'),
      length: null,
      token,
    })
  const { token } = eve
  const opened = [
    await ingest(ada),
    await ingest(bob),
    await ingest(ada),
    await unfinished(t, app, { path: '/api/ai/chat', start: '{', length: 3_000_000, token }),
    await unfinished(t, app, { path: '/api/ai/chat', start: chunk('{'), length: null, token }),
    await unfinished(t, app, {
      path: '/api/rag/ingest/file',
      type: 'multipart/form-data; boundary=x',
      start: '--x\r\n',
      length: 5_000_000,
      token,
    }),
  ]
  await wait(300)
  assert.deepEqual(
    opened.map(({ answer }) => answer),
    opened.map(() => ''),
  )
})

for (const [what, [path, type, start], length] of [
  ['a text of unknown length', TEXT, null],
  ['a file of unknown length', FILE, null],
  // A JSON body would be refused unread.
  ['a form that announces more than its route takes', FILE, 30 * MEGABYTE],
] as const) {
  test(`${what} is refused when it outgrows its user’s share`, async (t) => {
    // The longest body is one of 32 MB then, and a user's share 36 MB.
    const app = await testApp(t, { env: { MAX_TEXT_MB: '8', MAX_FILE_MB: '24' } })
    const ada = await app.as('ada', { tier: 'pro' })
    const part = length === null ? chunk : (text: string) => text
    const upload = async (megabytes: number) => {
      const one = await unfinished(t, app, {
        path,
        type,
        start: part(start),
        length,
        token: ada.token,
      })
      for (let sent = 0; sent < megabytes && one.answer === ''; sent++) {
        await new Promise<void>((resolve) =>
          one.socket.write(part('x'.repeat(MEGABYTE)), () => resolve()),
        )
      }
      return one
    }
    const first = await upload(20)
    assert.equal(first.answer, '')
    const second = await upload(20)
    await until(() => second.answer !== '')
    assert.match(second.answer, /^HTTP\/1\.1 503 /)
    assert.match(second.answer, /\r\nretry-after: 5\r\n/i)
    assert.equal(first.answer, '')

    // Its share is free again.
    first.socket.destroy()
    await until(async () => {
      const again = await upload(20)
      await wait(100)
      const isTaken = again.answer === ''
      again.socket.destroy()
      return isTaken
    })
  })
}

test('an early error reply reaches a client that sends its whole body before it reads', async (t) => {
  const app = await testApp(t, { env: { MAX_TEXT_MB: '8', MAX_FILE_MB: '24' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const upload = async ([path, type, start]: Begun, megabytes: number) => {
    const one = await unfinished(t, app, {
      path,
      type,
      start: chunk(start),
      length: null,
      token: ada.token,
    })
    one.socket.pause()
    for (let sent = 0; sent < megabytes; sent++) {
      one.socket.write(chunk('x'.repeat(MEGABYTE)))
      await wait(10)
    }
    one.socket.resume()
    return one
  }
  const tooLong = await upload(['/api/auth/login', 'application/json', '{"email":"'], 8)
  await until(() => tooLong.answer !== '')
  assert.match(tooLong.answer, /^HTTP\/1\.1 413 /)

  await upload(FILE, 20)
  const tooMuch = await upload(FILE, 40)
  await until(() => tooMuch.answer !== '')
  assert.match(tooMuch.answer, /^HTTP\/1\.1 503 /)
  // Nobody is listened to for ever.
  await tooMuch.closed
})

for (const [what, length] of [
  ['announce', 60 * MEGABYTE],
  ['do not tell', null],
] as const) {
  test(`clients that are refused unread and ${what} how much they send are read at a pace, however many they are`, async (t) => {
    const app = await testApp(t)
    const sockets = new Set<Socket>()
    app.service.api?.server.on('connection', (socket) => sockets.add(socket))
    const begunMs = performance.now()
    const crowd = await Promise.all(
      Array.from({ length: 40 }, () =>
        unfinished(t, app, { path: '/api/rag/ingest/text', start: '', length }),
      ),
    )
    const body = Buffer.from(
      length === null ? chunk('x'.repeat(MEGABYTE)).repeat(30) : 'x'.repeat(30 * MEGABYTE),
    )
    for (const { socket } of crowd) socket.write(body)
    await wait(2_500)
    const read = [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    const seconds = (performance.now() - begunMs) / 1_000

    for (const { answer } of crowd) assert.match(answer, /^HTTP\/1\.1 401 /)
    // Few remain: once some have ended, the others are below the crowd's limit. Each may be a few
    // pieces ahead.
    assert.ok(
      read < (50 * seconds + crowd.length / 4) * MEGABYTE,
      `${read / MEGABYTE} MB in ${seconds} s`,
    )
  })
}

// Otherwise they would be released after a minute.
test('of a flood of refused clients those are cut off whose turn to be read is far away', {
  timeout: 40_000,
}, async (t) => {
  const app = await testApp(t)
  let closed = 0
  const body = Buffer.alloc(MEGABYTE / 2, 'x')
  const crowd = await Promise.all(
    Array.from({ length: 900 }, () =>
      unfinished(t, app, { path: '/api/rag/ingest/text', start: '', length: MEGABYTE }),
    ),
  )
  for (const one of crowd) {
    one.closed.then(() => closed++)
    one.socket.write(body)
  }
  await until(() => closed > 100)
  assert.equal((await app.get('/healthz')).status, 200)
})

test('a client refused with much more to send must connect again, and others continue', async (t) => {
  const app = await testApp(t)
  const refused = async (length: number) => {
    const one = await unfinished(t, app, { path: '/api/rag/ingest/text', start: '', length })
    await until(() => one.answer !== '')
    return one.answer
  }
  assert.match(await refused(2 * MEGABYTE + 1), /\r\nconnection: close\r\n/i)
  assert.match(await refused(2 * MEGABYTE), /\r\nconnection: keep-alive\r\n/i)
})

test('a client that sends Expect gets 100 Continue when admitted and only the refusal otherwise, on a shared listener too', async (t) => {
  const [port = 0] = await freePorts(1)
  const shared = {
    PORT: `${port}`,
    STOREFRONT_PORT: `${port}`,
    STOREFRONT_URL: `http://shop.localhost:${port}`,
  }
  for (const env of [{}, shared]) {
    const app = await testApp(t, { env })
    const ada = await app.as('ada')
    const asking = (path: string, body: string, token = '') =>
      unfinished(t, app, {
        path,
        length: body.length,
        start: '',
        token,
        headers: 'Expect: 100-continue\r\n',
      })
    const refused = await asking('/api/rag/ingest/text', 'x'.repeat(60 * MEGABYTE))
    await refused.closed
    assert.match(refused.answer, /^HTTP\/1\.1 401 /)

    const login = JSON.stringify({ email: ada.email, password: PASSWORD })
    const taken = await asking('/api/auth/login', login)
    await until(() => taken.answer !== '')
    assert.equal(taken.answer, 'HTTP/1.1 100 Continue\r\n\r\n')
    taken.socket.write(login)
    await until(() => taken.answer.includes('access_token'))
    assert.match(taken.answer, /\r\n\r\nHTTP\/1\.1 200 /)
  }
})

test('a body of unknown length is read and refused like any other', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const asked = async (path: string, start: string, more: Partial<Sent> = {}) => {
    const one = await unfinished(t, app, { path, start, length: null, ...more })
    await until(() => one.answer !== '')
    return one.answer
  }
  const whole = (text: string) => `${chunk(text)}0\r\n\r\n`
  const login = JSON.stringify({ email: ada.email, password: PASSWORD })
  assert.match(await asked('/api/auth/login', whole(login)), /^HTTP\/1\.1 200 /)
  assert.match(await asked('/api/auth/login', whole('{')), /^HTTP\/1\.1 422 /)
  assert.match(await asked('/api/auth/login', '0\r\n\r\n'), /^HTTP\/1\.1 422 /)
  assert.match(await asked('/api/auth/login', chunk('x'.repeat(2 * MEGABYTE))), /^HTTP\/1\.1 413 /)
  assert.match(
    await asked('/api/auth/login', whole(login), { type: 'text/csv' }),
    /^HTTP\/1\.1 4(15|22) /,
  )
  assert.match(
    await asked('/api/auth/me', whole('{}'), { method: 'GET', token: ada.token }),
    /^HTTP\/1\.1 200 /,
  )
})

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
  const open = await unfinished(t, app, {
    path: '/api/auth/login',
    length: null,
    start: '5\r\n{"ema\r\n',
  })
  await wait(300)
  app.clock.advance(62_000)
  await open.closed
  assert.match(open.answer, /^HTTP\/1\.1 408 /)
})

test('unfinished bodies of one address hold an eighth of what may be in flight, and end', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  const share = WHOLE / 8
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
  // Signed-in users have a separate share.
  assert.equal((await ada.patch('/api/users/me', { full_name: 'Ada' })).status, 200)

  for (const { socket } of crowd) socket.destroy()
  await until(async () => (await app.post('/api/auth/login', {})).status === 422)
})

test('a flood of refusals is logged as one line with their number', async (t) => {
  const lines: string[] = []
  const log = createLog('warn', { write: (line) => void lines.push(line) })
  const app = await testApp(t, { log })
  const crowd = await Promise.all(
    Array.from({ length: 60 }, () =>
      unfinished(t, app, { path: '/api/billing/webhook', length: 1_000_000, start: 'x' }),
    ),
  )
  await until(() => crowd.filter(({ answer }) => answer.startsWith('HTTP/1.1 503 ')).length > 20)

  const told = lines.map((line) => JSON.parse(line)).filter(({ code }) => code === 'busy')
  assert.equal(told.length, 1)
  assert.equal(told[0].err, undefined, 'no stack: it is no bug')
})

test('anonymous clients together leave half to users, and with large bodies half of the rest to forms', async (t) => {
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
  const fits = Math.floor(WHOLE / 4 / length)
  await until(
    () => crowd.filter(({ answer }) => answer.startsWith('HTTP/1.1 503')).length === 90 - fits,
  )
  assert.equal((await app.post('/api/auth/login', {})).status, 422)
  assert.equal((await ada.patch('/api/users/me', { full_name: 'Ada' })).status, 200)
})

test('one user holds one long body, or several of 64 MB together, and leaves the rest to others', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada', { tier: 'pro' })
  const eve = await app.as('eve', { tier: 'pro' })
  const ingest = (client: Client, length = 60 * MEGABYTE) =>
    unfinished(t, app, {
      path: '/api/rag/ingest/text',
      length,
      start: '{"content":"',
      token: client.token,
    })
  const first = await ingest(ada)
  const second = await ingest(ada)
  await until(() => second.answer !== '')
  assert.match(second.answer, /^HTTP\/1\.1 503 /)
  const files = [await ingest(eve, 25 * MEGABYTE), await ingest(eve, 25 * MEGABYTE)]
  const small = await ingest(ada, MEGABYTE)
  await wait(300)
  assert.deepEqual(
    [first, small, ...files].map(({ answer }) => answer),
    ['', '', '', ''],
  )
  const tooMany = await ingest(eve, 25 * MEGABYTE)
  await until(() => tooMany.answer !== '')
  assert.match(tooMany.answer, /^HTTP\/1\.1 503 /)

  first.socket.destroy()
  await until(async () => {
    const again = await ingest(ada)
    await wait(200)
    return again.answer === ''
  })
})

test('the memory of a body is released after the reply, also on an open connection', async (t) => {
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
    unfinished(t, app, {
      path: '/sandbox/openai/v1/chat/completions',
      length: 1_000_000,
      start: '{',
    }),
  )
  const opened = await Promise.all(calls)
  await wait(300)
  assert.deepEqual([...new Set(opened.map(({ answer }) => answer))], [''])
})

/** As HTTP/1.1 sends a part of a body of unknown length. */
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

type Sent = {
  method?: string
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
  { method = 'POST', path, type = 'application/json', start, length, token, headers = '' }: Sent,
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
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n${size}\r\n${bearer}${headers}\r\n${start}`,
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

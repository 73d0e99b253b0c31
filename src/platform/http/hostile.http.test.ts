// Hostile input: malformed, huge, slow or not HTTP. Each gets a sentence and costs little.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { testApp } from '#testing/app.ts'

test('malformed JSON returns 422 with the reason', async (t) => {
  const app = await testApp(t)
  for (const body of ['{"email": ', 'nonsense', '[1,2', '{"a":1,}']) {
    const reply = await app.request('POST', '/api/auth/login', {
      body,
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(reply.status, 422, body)
    assert.deepEqual(reply.body.detail, [
      { loc: ['body'], msg: 'The body is not valid JSON', type: 'json_invalid' },
    ])
  }
})

test('a body that tries to reach the prototype is refused', async (t) => {
  const app = await testApp(t)
  const reply = await app.request('POST', '/api/auth/login', {
    body: '{"__proto__":{"is_superuser":true},"email":"a@example.com","password":"x"}',
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(reply.status, 422)
  assert.equal(({} as { is_superuser?: boolean }).is_superuser, undefined)
})

test('missing, wrong and empty bodies name the fields', async (t) => {
  const app = await testApp(t)
  const none = await app.request('POST', '/api/auth/login')
  assert.equal(none.status, 422)
  assert.deepEqual(none.body.detail, [{ loc: ['body'], msg: 'Field required', type: 'missing' }])
  const empty = await app.post('/api/auth/login', {})
  assert.deepEqual(
    empty.body.detail.map((issue: { loc: string[]; type: string }) => [
      issue.loc.join('.'),
      issue.type,
    ]),
    [
      ['body.email', 'missing'],
      ['body.password', 'missing'],
    ],
  )
  const wrong = await app.post('/api/auth/login', { email: 7, password: true })
  assert.deepEqual(
    wrong.body.detail.map((issue: { loc: string[]; type: string }) => [
      issue.loc.join('.'),
      issue.type,
    ]),
    [
      ['body.email', 'string_type'],
      ['body.password', 'string_type'],
    ],
  )
  const list = await app.post('/api/auth/login', [1])
  assert.equal(list.status, 422)
})

test('another content type is 415', async (t) => {
  const app = await testApp(t)
  const reply = await app.request('POST', '/api/auth/login', {
    body: '<login/>',
    headers: { 'content-type': 'application/xml' },
  })
  assert.equal(reply.status, 415)
  assert.equal(reply.body.detail, 'Unsupported content type: send application/json')
})

test('a body of 100 MB is refused by its announced length, before it is read', async (t) => {
  const app = await testApp(t)
  const answer = await raw(
    app.url,
    `POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n{"email":"`,
  )
  assert.match(answer, /^HTTP\/1\.1 413 /)
  assert.match(answer, /Request body too large/)
})

test('a body that hides its length is cut off at the limit', async (t) => {
  const app = await testApp(t)
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const answer = await raw(
    app.url,
    `POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(40)}`,
  )
  assert.match(answer, /^HTTP\/1\.1 413 /)
})

test('what is no HTTP is answered and closed', async (t) => {
  const app = await testApp(t)
  assert.match(await raw(app.url, 'GARBAGE\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*not valid HTTP/)
  assert.match(
    await raw(app.url, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`),
    /^HTTP\/1\.1 431 /,
  )
  // Two lengths are the start of request smuggling.
  assert.match(
    await raw(
      app.url,
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ),
    /^HTTP\/1\.1 400 /,
  )
})

test('a request names one host', async (t) => {
  const app = await testApp(t)
  for (const path of ['/healthz', '/api/auth/me', '/nowhere']) {
    const answer = await raw(app.url, `GET ${path} HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*not valid HTTP/, path)
  }
})

test('addresses that climb or are malformed lead nowhere', async (t) => {
  const app = await testApp(t)
  for (const path of [
    '/api/%E0%A4%A',
    '/..%2f..%2fetc%2fpasswd',
    '/assets/..%2f..%2fpackage.json',
    '/api/auth/%00',
    `/api/${'a'.repeat(8_000)}`,
  ]) {
    const answer = await raw(
      app.url,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, path)
    assert.doesNotMatch(answer, /root:|"dependencies"/, path)
  }
})

test('an internal error shows only an id', async (t) => {
  const app = await testApp(t)
  const { userId, token } = await app.as('ada')
  await app.platform.db.schema.alterTable('users').renameTo('gone').execute()
  const reply = await app.get('/api/auth/me', { headers: { authorization: `Bearer ${token}` } })
  assert.equal(reply.status, 500)
  assert.equal(reply.body.detail, `Internal error, request id ${reply.headers.get('x-request-id')}`)
  assert.doesNotMatch(reply.text, /users|table|sql/i)
  assert.ok(userId)
})

/** Sends bytes as they are and reads until the server closes or has answered for a moment. */
function raw(url: string, bytes: string): Promise<string> {
  const { port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    let answer = ''
    const done = () => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('data', (chunk) => {
      answer += chunk
      if (answer.includes('\r\n\r\n')) setTimeout(done, 100)
    })
    socket.on('error', done)
    socket.on('close', done)
    socket.write(bytes)
  })
}

/** Compressed bodies: accepted on model routes and limited by their unpacked size. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import {
  brotliCompressSync,
  constants,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { type TestApp, testApp } from '#testing/app.ts'
import { mockVendor, says } from '#testing/mock-vendor.ts'
import { platformProblem } from '../problems.ts'
import { unpacked } from './packed-bodies.ts'

const MEGABYTE = 1024 * 1024
const PACKERS: Record<string, (text: string) => Buffer> = {
  gzip: (text) => gzipSync(text),
  'x-gzip': (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (text) => zstdCompressSync(text),
}
const ENCODINGS = Object.keys(PACKERS)
const pack = (encoding: string, text: string) => PACKERS[encoding]?.(text) ?? Buffer.from(text)
const chat = (content: string) =>
  JSON.stringify({ model: 'gpt-6-luna', messages: [{ role: 'user', content }] })

async function setting(t: TestContext, env: Record<string, string> = {}) {
  const vendor = await mockVendor(t)
  vendor.play(says('Good day'))
  const app = await testApp(t, { env: { ...vendor.env.openai, ...env } })
  const ada = await app.as('ada', { tier: 'pro' })
  const post = (
    path: string,
    encoding: string,
    body: Uint8Array,
    client: Pick<typeof ada, 'request'> = ada,
  ) =>
    client.request('POST', path, {
      body,
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
    })
  return { app, ada, vendor, post }
}

test('a client may compress what it asks a model', async (t) => {
  const { vendor, post } = await setting(t)
  const content = 'Grüße, 世界 🌍 '.repeat(2_000)
  for (const encoding of [...ENCODINGS, 'GZIP', ' gzip ', 'identity', 'Identity']) {
    const body = pack(encoding.trim().toLowerCase(), chat(content))
    const { status, text } = await post('/v1/chat/completions', encoding, body)
    assert.equal(status, 200, `${encoding}: ${text}`)
    assert.equal(vendor.calls.at(-1)?.body.messages[0].content, content)
  }
  const embeddings = gzipSync(JSON.stringify({ model: 'local', input: 'a lighthouse' }))
  assert.equal((await post('/v1/embeddings', 'gzip', embeddings)).status, 200)
  const own = gzipSync(JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }))
  assert.equal((await post('/api/ai/chat', 'gzip', own)).body.content, 'Good day')
  const message = gzipSync(JSON.stringify({ ...JSON.parse(chat('Hi')), max_tokens: 9 }))
  assert.equal((await post('/v1/messages', 'gzip', message)).body.content[0].text, 'Good day')
  const response = gzipSync(JSON.stringify({ model: 'gpt-6-luna', input: 'Hi' }))
  assert.equal((await post('/v1/responses', 'gzip', response)).status, 200)
  // In two parts, as gzip allows.
  const [one, two] = [chat('Hi').slice(0, 20), chat('Hi').slice(20)]
  const parts = Buffer.concat([gzipSync(one), gzipSync(two)])
  assert.equal((await post('/v1/chat/completions', 'gzip', parts)).status, 200)
})

test('a body that is not what it says is refused, and the vendor is not asked', async (t) => {
  const { app, ada, vendor, post } = await setting(t)
  const { length } = vendor.calls
  const cases: [status: number, encoding: string, body: Buffer][] = [
    ...ENCODINGS.flatMap((encoding): [number, string, Buffer][] => [
      [400, encoding, Buffer.from(chat('Hi'))],
      [400, encoding, pack(encoding, chat('Hi'.repeat(5_000))).subarray(0, -9)],
      [400, encoding, pack(encoding, '{"model":')],
      [400, encoding, pack(encoding, '')],
    ]),
    [415, 'compress', Buffer.from('x')],
    [415, 'gzip, br', gzipSync(brotliCompressSync(chat('Hi')))],
    [415, 'constructor', Buffer.from('{}')],
    [415, '*', gzipSync(chat('Hi'))],
  ]
  for (const [status, encoding, body] of cases) {
    const reply = await post('/v1/chat/completions', encoding, body)
    assert.equal(reply.status, status, `${encoding}: ${reply.text}`)
    assert.ok(reply.body.error.message)
    if (status === 415)
      assert.equal(reply.headers.get('accept-encoding'), 'gzip, deflate, br, zstd')
  }
  assert.equal(vendor.calls.length, length)

  // Elsewhere nobody unpacks, least of all for strangers.
  for (const [path, body] of [
    ['/api/auth/login', { email: ada.email, password: 'x' }],
    ['/api/auth/register', { email: 'eve@example.com' }],
    ['/api/api-keys', { name: 'laptop' }],
    ['/api/rag/search', { query: 'x' }],
  ] as const) {
    const reply = await post(path, 'gzip', gzipSync(JSON.stringify(body)))
    assert.deepEqual([reply.status, reply.headers.get('accept-encoding')], [415, 'identity'], path)
  }
  assert.equal((await post('/v1/chat/completions', 'gzip', gzipSync(chat('Hi')), app)).status, 401)
})

test('the unpacked size counts, and unpacking stops at the limit', async (t) => {
  const { ada, vendor, post } = await setting(t, { MAX_AI_BODY_MB: '1' })
  const request = (encoding: string, bytes: number) =>
    post(
      '/v1/chat/completions',
      encoding,
      pack(encoding, chat('x'.repeat(bytes - chat('').length))),
    )
  for (const encoding of ENCODINGS) {
    assert.equal((await request(encoding, MEGABYTE)).status, 200, encoding)
    const over = await request(encoding, MEGABYTE + 1)
    assert.deepEqual([over.status, over.body.error.code], [413, 'body_too_large'], encoding)
  }
  const plain = {
    body: chat('x'.repeat(MEGABYTE)),
    headers: { 'content-type': 'application/json' },
  }
  assert.equal((await ada.request('POST', '/v1/chat/completions', plain)).status, 413)

  const { length } = vendor.calls
  const bomb = bombOf(128 * MEGABYTE)
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => post('/v1/chat/completions', 'gzip', bomb)),
  )
  for (const { status } of replies) assert.ok(status === 413 || status === 503, `${status}`)
  assert.ok(replies.some(({ status }) => status === 413))
  assert.equal(vendor.calls.length, length)

  // A window that zstd over HTTP does not have.
  const wide = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 27 } })
  wide.write(chat('x').slice(0, 9))
  wide.end(chat('x').slice(9))
  const refused = await post('/v1/chat/completions', 'zstd', await buffer(wide))
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'body_not_unpacked'])
  // All that was held is free again.
  assert.equal((await request('gzip', MEGABYTE)).status, 200)
})

test('a bomb is not unpacked beyond what is refused', async () => {
  const raw = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage
  const seen: number[] = []
  const body = unpacked(raw, 'gzip', (bytes) => {
    seen.push(bytes)
    return bytes > MEGABYTE ? platformProblem('body_too_large') : null
  })
  const end = new Promise((closed) => body.once('close', closed))
  body.resume()
  ;(raw as unknown as PassThrough).end(bombOf(128 * MEGABYTE))
  await end
  assert.equal(body.errored?.message, 'Request body too large')
  assert.ok(Math.max(...seen) < 2 * MEGABYTE, `${Math.max(...seen)} bytes`)
})

test('packed bodies that are under way hold what they have unpacked, and give it back', async (t) => {
  // The longest body is one of 9 MB then, and a user's share 13 MB.
  const { app, ada } = await setting(t, { MAX_AI_BODY_MB: '9', MAX_TEXT_MB: '2', MAX_FILE_MB: '1' })
  // Flushed, so that the end is still to come while the rest can be unpacked.
  const packed = gzipSync(chat('x'.repeat(8 * MEGABYTE)), { finishFlush: constants.Z_SYNC_FLUSH })
  const first = await unfinished(t, app, ada.token, packed)
  const second = await unfinished(t, app, ada.token, packed)
  // Whichever is unpacked first has the room.
  await Promise.race([first.answered, second.answered])
  const [held, refused] = first.answer === '' ? [first, second] : [second, first]
  assert.match(refused.answer, /^HTTP\/1\.1 503 /)
  assert.match(refused.answer, /\r\nretry-after: 5\r\n/i)
  assert.equal(held.answer, '')

  held.socket.destroy()
  let third = await unfinished(t, app, ada.token, packed)
  for (let tries = 0; tries < 20 && (await third.settled()) !== ''; tries++) {
    third.socket.destroy()
    third = await unfinished(t, app, ada.token, packed)
  }
  assert.equal(third.answer, '', 'the room of one that left was not given back')
  third.socket.destroy()
})

test('a body whose bytes unpack to nothing is limited too', async (t) => {
  const { app, ada } = await setting(t, { MAX_AI_BODY_MB: '1' })
  const nothing = gzipSync('')
  const flood = Buffer.concat(
    Array.from({ length: Math.ceil((2 * MEGABYTE) / nothing.length) }, () => nothing),
  )
  const one = await unfinished(t, app, ada.token, flood)
  await one.answered
  assert.match(one.answer, /^HTTP\/1\.1 413 /)
})

/** A thousandth of what it unpacks to: many members, as gzip allows. */
function bombOf(bytes: number): Buffer {
  const part = gzipSync(Buffer.alloc(16 * MEGABYTE, 0x20))
  return Buffer.concat(Array.from({ length: bytes / (16 * MEGABYTE) }, () => part))
}

/** A packed body of unknown length that begins with `start` and does not end. */
async function unfinished(t: TestContext, app: TestApp, token: string, start: Buffer) {
  const socket = connect(app.config.http.port, '127.0.0.1')
  t.after(() => socket.destroy())
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  const one = {
    socket,
    answer: '',
    answered,
    /** The reply, a moment later. */
    async settled() {
      await Promise.race([answered, new Promise((over) => setTimeout(over, 150))])
      return one.answer
    },
  }
  socket.on('data', (bytes) => {
    one.answer += bytes
    resolve()
  })
  socket.on('error', () => resolve())
  await new Promise((connected) => socket.once('connect', connected))
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  socket.write(`${start.length.toString(16)}\r\n`)
  socket.write(start)
  socket.write('\r\n')
  return one
}

// Many requests in one write: their connection waits, nobody else does.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { testApp } from '#testing/app.ts'
import { PIPELINED_AT_ONCE, PIPELINED_MAX, pacePipelines } from './pipelining.ts'

const ATTACKER = '127.0.0.9'

function open(t: TestContext, port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

/** Reads until the server closes the connection or `enough` is received. */
async function read(socket: Socket, isEnough: (text: string) => boolean): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  while (!socket.destroyed && !isEnough(text)) await wait(5)
  return text
}

const count = (text: string, part: string) => text.split(part).length - 1

test('pipelined requests are answered in their order, a few at a time', async (t) => {
  let running = 0
  let most = 0
  const server = createServer(async (request, response) => {
    most = Math.max(most, ++running)
    await wait(Math.random() * 5)
    running--
    response.end(`<${request.url}>`)
  })
  pacePipelines(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = open(t, (server.address() as { port: number }).port)
  const paths = Array.from({ length: 60 }, (_, index) => `/${index}`)
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''))
  const text = await read(socket, (so_far) => so_far.includes('</59>'))
  assert.deepEqual(
    [...text.matchAll(/<(\/\d+)>/g)].map(([, path]) => path),
    paths,
  )
  assert.equal(most, PIPELINED_AT_ONCE)
})

test('a connection with more waiting requests than it may have is closed', async (t) => {
  let handled = 0
  const server = createServer((_, response) => {
    handled++
    setTimeout(() => response.end('ok'), 50)
  })
  pacePipelines(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = open(t, (server.address() as { port: number }).port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(PIPELINED_MAX + 100))
  await read(socket, () => false)
  assert.equal(handled, PIPELINED_AT_ONCE)
})

test('pipelined requests after a reply that closes the connection are not handled', async (t) => {
  let handled = 0
  const server = createServer((_, response) => {
    handled++
    response.setHeader('connection', 'close').end('ok')
  })
  pacePipelines(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const socket = open(t, (server.address() as { port: number }).port)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100))
  assert.equal(count(await read(socket, () => false), 'HTTP/1.1 200'), 1)
  assert.ok(handled <= PIPELINED_AT_ONCE, `${handled}`)
})

test('floods of pipelined requests are closed, and other clients are served meanwhile', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '100/60' } })
  const request = 'GET /api/billing/plans HTTP/1.1\r\nHost: x\r\n\r\n'
  const sockets = Array.from({ length: 30 }, () => open(t, app.config.http.port, ATTACKER))
  const before = process.cpuUsage()
  const replies = sockets.map((socket) => read(socket, () => false))
  for (const socket of sockets) socket.write(request.repeat(2_000))

  let slowestMs = 0
  for (let probes = 0; probes < 20; probes++) {
    const begun = performance.now()
    assert.equal((await app.get('/healthz')).status, 200)
    slowestMs = Math.max(slowestMs, performance.now() - begun)
  }
  const refused = count((await Promise.all(replies)).join(''), 'HTTP/1.1 429')
  const { user, system } = process.cpuUsage(before)
  const cpuMs = Math.round((user + system) / 1_000)
  t.diagnostic(
    `/healthz took at most ${Math.round(slowestMs)} ms; ${refused} replies of 429; ${cpuMs} ms of CPU`,
  )
  assert.ok(refused <= sockets.length, `${refused}`)
  // Without turns it took 3 s of CPU, as long as which nobody was served.
  assert.ok(cpuMs < 2_000, `${cpuMs} ms of CPU`)

  // Another address has its own limit; a signed-in caller keeps the connection.
  assert.equal((await app.get('/api/billing/plans')).status, 200)
})

test('a client behind a proxy that is over its limit leaves the proxy its connection', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMIT_GENERAL: '2/60', TRUST_PROXY: '1' } })
  const from = (address: string) =>
    `GET /api/billing/plans HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`
  const socket = open(t, app.config.http.port)
  socket.write(from('203.0.113.7').repeat(4) + from('203.0.113.8'))
  const text = await read(socket, (so_far) => count(so_far, 'HTTP/1.1 ') >= 5)
  assert.equal(count(text, 'HTTP/1.1 200'), 3)
  assert.equal(count(text, 'HTTP/1.1 429'), 2)
  assert.equal(socket.destroyed, false)
})

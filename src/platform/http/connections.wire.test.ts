// Connections that an address holds open without a credential: bounded on both servers together,
// and never a proxy's.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { readConfig } from '#config/config.ts'
import { systemClock } from '#platform/clock.ts'
import { createMetrics } from '#platform/telemetry/metrics.ts'
import { testApp } from '#testing/app.ts'
import { createConnectionLimit } from './connections.ts'

const MAX = 12
const ATTACKER = '127.0.0.9'

test('an attacker who opens connections and finishes nothing holds so many, on both servers together, and nobody else pays', async (t) => {
  const app = await testApp(t, { env: { RATE_LIMITS: `connections=${MAX}`, METRICS_TOKEN: 'm' } })
  const ada = await app.as('ada', { tier: 'pro' })
  const { http } = app.config
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const open = async (port: number, first = '') => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: ATTACKER }).on(
      'error',
      () => {},
    )
    sockets.push(socket)
    await once(socket, 'connect')
    if (first !== '') socket.write(first)
    return socket
  }
  const unfinished =
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{'
  for (let i = 0; i < 3 * MAX; i++)
    await open(i % 2 ? http.port : http.storefrontPort, i % 3 ? unfinished : '')
  const left = () => sockets.filter(({ destroyed }) => !destroyed).length
  for (let tries = 0; left() > MAX && tries < 100; tries++) await wait(20)
  assert.equal(left(), MAX)

  assert.equal((await app.get('/healthz')).status, 200)
  assert.equal((await ada.get('/api/users/me')).status, 200)
  const metrics = await app.get('/metrics', { headers: { authorization: 'Bearer m' } })
  assert.match(
    metrics.text,
    new RegExp(`latchkey_connections_refused_total\\{reason="address"\\} ${2 * MAX}`),
  )

  // Where some end, others find room; and one with a credential takes none.
  for (const socket of sockets.splice(0)) socket.destroy()
  const request = `GET /api/users/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`
  let answered = 0
  // The service hears of an end a moment later.
  for (let tries = 0; answered < 2 * MAX && tries < 200; tries++) {
    const socket = await open(http.port, request)
    const [answer] = await Promise.race([
      once(socket, 'data'),
      once(socket, 'close').then(() => ['']),
    ])
    if (String(answer).startsWith('HTTP/1.1 200 ')) answered++
    else await wait(20)
  }
  assert.equal(left(), 2 * MAX)
})

const NEIGHBOURS = [
  '127.0.0.1',
  '::1',
  '10.1.2.3',
  '172.17.0.1',
  '192.168.0.2',
  'fd00::1',
  '::ffff:10.0.0.1',
]
for (const [settings, addresses, isBounded] of [
  [{}, ['203.0.113.7', '2001:db8::7', '::ffff:203.0.113.8', '172.32.0.1'], true],
  // Usually a proxy that is not configured.
  [{}, NEIGHBOURS, false],
  [{ CONNECTIONS_PER_ADDRESS: '500' }, NEIGHBOURS, true],
  [{ CONNECTIONS_PER_ADDRESS: '500', TRUST_PROXY: '1' }, ['203.0.113.7', '127.0.0.1'], false],
  [
    { CONNECTIONS_PER_ADDRESS: '500', TRUST_PROXY: 'loopback,203.0.113.0/24' },
    ['203.0.113.7', '127.0.0.1'],
    false,
  ],
  [
    { CONNECTIONS_PER_ADDRESS: '500', TRUST_PROXY: 'loopback,203.0.113.0/24' },
    ['203.0.114.7', '10.0.0.1'],
    true,
  ],
  [{ CONNECTIONS_PER_ADDRESS: 'off' }, ['203.0.113.7'], false],
] as const) {
  test(`${JSON.stringify(settings)} ${isBounded ? 'bounds' : 'leaves alone'} ${addresses.join(', ')}`, () => {
    const config = readConfig(settings)
    const deps = {
      config,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
    }
    const server = new EventEmitter()
    createConnectionLimit(deps).watch(server as Server)
    for (const remoteAddress of addresses) {
      const sockets = Array.from({ length: 501 }, () => {
        const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false })
        return Object.assign(socket, { destroy: () => Object.assign(socket, { destroyed: true }) })
      })
      for (const socket of sockets) server.emit('connection', socket)
      assert.equal(
        sockets.filter(({ destroyed }) => destroyed).length,
        isBounded ? 1 : 0,
        remoteAddress,
      )
      sockets[0]?.emit('close')
      const next = Object.assign(new EventEmitter(), {
        remoteAddress,
        destroy: () => assert.fail('there is room'),
      })
      server.emit('connection', next)
    }
  })
}

test('of IPv6 a network counts, since one customer has all of it', () => {
  const deps = {
    config: readConfig({}),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
  }
  const server = new EventEmitter()
  createConnectionLimit(deps).watch(server as Server)
  let destroyed = 0
  for (let i = 0; i < 600; i++) {
    const remoteAddress = `2001:db8:0:1::${i.toString(16)}`
    server.emit(
      'connection',
      Object.assign(new EventEmitter(), { remoteAddress, destroy: () => destroyed++ }),
    )
  }
  assert.equal(destroyed, 100)
})

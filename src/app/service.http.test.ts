import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts, testApp } from '#testing/app.ts'

test('both servers share a port and are selected by Host; the storefront’s events arrive under any host name', async (t) => {
  const [port = 0] = await freePorts(1)
  const host = `shop.localhost:${port}`
  const app = await testApp(t, {
    env: { PORT: `${port}`, STOREFRONT_PORT: `${port}`, STOREFRONT_URL: `http://${host}` },
  })

  assert.match(await bodyOf(port, '/pricing', host), /Pay once, no subscription/)
  assert.deepEqual(JSON.parse(await bodyOf(port, '/api/nothing', host)), {
    error: 'Not Found',
    code: 'not_found',
  })
  assert.deepEqual((await app.get('/api/nothing')).body, { detail: 'Not Found', code: 'not_found' })
  const forged = await app.post('/api/processor/webhook', {})
  assert.deepEqual(
    [forged.status, forged.body],
    [400, { error: 'Invalid signature', code: 'invalid_signature' }],
  )
})

for (const shared of [false, true]) {
  test(`a connection that its client keeps alive does not hold a drain (${shared ? 'one port' : 'two ports'})`, async (t) => {
    const [port = 0] = await freePorts(1)
    const app = await testApp(t, {
      env: shared
        ? {
            PORT: `${port}`,
            STOREFRONT_PORT: `${port}`,
            STOREFRONT_URL: `http://shop.localhost:${port}`,
          }
        : {},
    })
    // A request that is under way when the drain begins, and ends in it.
    const open = await halfAsked(t, app.config.http.port)
    const closing = app.service.close(60_000)
    await wait(300)
    assert.equal(open.answer, '')
    open.socket.write('{}')
    const closed = await Promise.race([
      closing.then(() => true),
      wait(20_000, false, { ref: false }),
    ])
    assert.equal(closed, true, 'the process waits for a connection that is idle')
    await open.ended
    assert.match(open.answer, /^HTTP\/1\.1 422 /)
  })
}

test('announces a drain on /readyz and serves requests during it', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  let isClosed = false
  const closing = app.service.close(1_000, 4_000).then(() => (isClosed = true))
  const ready = await app.get('/readyz')
  assert.deepEqual([ready.status, ready.body.status], [503, 'draining'])
  for (const reply of [
    ready,
    await app.get('/healthz'),
    await ada.get('/api/auth/me'),
    await app.store('GET', '/'),
  ]) {
    assert.equal(reply.headers.get('connection'), 'close')
    if (reply !== ready) assert.equal(reply.status, 200)
  }
  assert.equal(isClosed, false)
  await closing
  await assert.rejects(app.get('/healthz'))
})

test('a job that does not end neither keeps ports open nor delays running replies', async (t) => {
  const app = await testApp(t, { env: { SANDBOX: 'off' }, worker: true })
  const { jobs, db } = app.platform
  let endJob = () => {}
  const begun = new Promise<void>((resolve) =>
    jobs.handle('endless', () => {
      resolve()
      return new Promise((end) => (endJob = end))
    }),
  )
  await jobs.enqueue(db, 'endless', {})
  await begun
  const open = await halfAsked(t, app.config.http.port)

  const closing = app.service.close(60_000)
  for (let tries = 0; tries < 100 && (await isTaken(app.config.http.port)); tries++) await wait(50)
  assert.equal(await isTaken(app.config.http.port), false, 'the port is open while a job runs')
  open.socket.write('{}')
  await open.ended
  assert.match(open.answer, /^HTTP\/1\.1 422 /)
  endJob()
  await closing
})

test('a process that only runs jobs serves only health checks on its port', async (t) => {
  const app = await testApp(t, { env: { SERVE: 'worker', METRICS_TOKEN: 'for-metrics' } })
  assert.equal((await app.get('/healthz')).status, 200)
  const ready = await app.get('/readyz')
  assert.deepEqual([ready.status, ready.body.status], [200, 'ready'])
  assert.equal((await app.get('/metrics')).status, 401)
  const metrics = await app.get('/metrics', { headers: { authorization: 'Bearer for-metrics' } })
  assert.equal(metrics.status, 200)
  assert.match(metrics.text, /latchkey_jobs\{status="queued"\} \d+/)
  for (const path of ['/', '/api/auth/me', '/sandbox']) {
    const { status, body } = await app.get(path)
    assert.deepEqual([status, body.detail], [404, 'Not Found'], path)
  }
  await assert.rejects(app.store('GET', '/healthz'))

  const closing = app.service.close(1_000, 3_000)
  assert.equal((await app.get('/readyz')).status, 503)
  await closing
  await assert.rejects(app.get('/healthz'))
})

/** Whether somebody listens there. */
const isTaken = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

/** A request under way whose body of two bytes is still to come. */
async function halfAsked(t: Pick<TestContext, 'after'>, port: number) {
  const socket = connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  const one = { socket, answer: '', ended: new Promise((resolve) => socket.once('close', resolve)) }
  socket.on('data', (chunk) => (one.answer += chunk)).on('error', () => {})
  socket.write(
    'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
  )
  while (!one.answer.includes('100 Continue')) await wait(20)
  one.answer = ''
  return one
}

/** By Node's own client, since fetch writes Host itself. */
function bodyOf(port: number, path: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { host } }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve(text)
    })
      .once('error', reject)
      .end()
  })
}

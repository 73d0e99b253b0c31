import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { freePorts, testApp } from '#testing/app.ts'

test('both servers share a port, told apart by Host; the storefront’s events arrive by any name', async (t) => {
  const [port = 0] = await freePorts(1)
  const host = `shop.localhost:${port}`
  const app = await testApp(t, {
    env: { PORT: `${port}`, STOREFRONT_PORT: `${port}`, STOREFRONT_URL: `http://${host}` },
  })

  assert.match(await bodyOf(port, '/pricing', host), /One price, paid once/)
  assert.deepEqual(JSON.parse(await bodyOf(port, '/api/nothing', host)), { error: 'Not Found' })
  assert.deepEqual((await app.get('/api/nothing')).body, { detail: 'Not Found' })
  const forged = await app.post('/api/processor/webhook', {})
  assert.deepEqual([forged.status, forged.body], [400, { error: 'Invalid signature' }])
})

for (const shared of [false, true]) {
  test(`a connection that its client keeps alive does not hold a drain (${shared ? 'one port' : 'two ports'})`, async (t) => {
    const [port = 0] = await freePorts(1)
    const app = await testApp(t, {
      env: shared
        ? { PORT: `${port}`, STOREFRONT_PORT: `${port}`, STOREFRONT_URL: `http://shop.localhost:${port}` }
        : {},
    })
    // A request that is under way when the drain begins, and ends in it.
    const socket = connect(app.config.http.port, '127.0.0.1')
    t.after(() => socket.destroy())
    let answer = ''
    socket.on('data', (chunk) => (answer += chunk)).on('error', () => {})
    const ended = new Promise((resolve) => socket.once('close', resolve))
    socket.write(
      'POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    )
    while (!answer.includes('100 Continue')) await wait(20)
    answer = ''
    const closing = app.service.close(60_000)
    await wait(300)
    assert.equal(answer, '')
    socket.write('{}')
    const closed = await Promise.race([closing.then(() => true), wait(20_000, false, { ref: false })])
    assert.equal(closed, true, 'the process waits for a connection that is idle')
    await ended
    assert.match(answer, /^HTTP\/1\.1 422 /)
  })
}

test('a drain is told first, and served in', async (t) => {
  const app = await testApp(t)
  const ada = await app.as('ada')
  let isClosed = false
  const closing = app.service.close(1_000, 4_000).then(() => (isClosed = true))
  const ready = await app.get('/readyz')
  assert.deepEqual([ready.status, ready.body.status], [503, 'draining'])
  for (const reply of [ready, await app.get('/healthz'), await ada.get('/api/auth/me'), await app.store('GET', '/')]) {
    assert.equal(reply.headers.get('connection'), 'close')
    if (reply !== ready) assert.equal(reply.status, 200)
  }
  assert.equal(isClosed, false)
  await closing
  await assert.rejects(app.get('/healthz'))
})

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

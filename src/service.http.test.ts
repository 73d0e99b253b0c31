import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
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

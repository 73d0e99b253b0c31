import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openShop } from '#testing/buyer.ts'

const PAGE = { origin: 'https://program.example', 'sec-fetch-site': 'cross-site' }

test('a sold program in a browser calls the license routes from its own origin', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  await shop.sell(ada, 'pro')
  const license_key = (await ada.download()).headers.get('x-license-key')
  const preflight = await shop.store('OPTIONS', '/api/license/activate', {
    headers: {
      ...PAGE,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    },
  })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*')
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /\*/)

  for (const [path, body, status] of [
    ['activate', { license_key, fingerprint: 'browser' }, 201],
    ['file', { license_key, fingerprint: 'browser' }, 200],
    ['verify', { license_key }, 200],
    ['verify', {}, 400],
  ] as const) {
    const reply = await shop.store('POST', `/api/license/${path}`, { headers: PAGE, body })
    assert.deepEqual(
      [reply.status, reply.headers.get('access-control-allow-origin')],
      [status, '*'],
      path,
    )
    assert.equal(reply.headers.get('access-control-allow-credentials'), null)
  }
  const headers = { ...PAGE, authorization: `Bearer ${license_key}` }
  const update = await shop.store('GET', '/api/updates/pro?version=1.0.0&platform=web', { headers })
  assert.deepEqual([update.status, update.headers.get('access-control-allow-origin')], [200, '*'])
  const keys = await shop.store('GET', '/.well-known/license-keys.json', { headers: PAGE })
  assert.equal(keys.headers.get('access-control-allow-origin'), '*')
})

test('no page of another origin reaches what a session opens', async (t) => {
  const shop = await openShop(t)
  const ada = await shop.buyer('ada')
  for (const [method, path] of [
    ['GET', '/api/purchases'],
    ['POST', '/api/session'],
    ['POST', '/api/checkout'],
    ['POST', '/api/claim'],
    ['POST', '/api/withdrawals'],
    ['POST', '/dashboard/rotate-key'],
    ['POST', '/login/code'],
  ] as const) {
    const reply = await ada.request(method, path, {
      headers: PAGE,
      ...(method === 'POST' ? { body: {} } : {}),
    })
    if (method === 'POST') assert.equal(reply.status, 403, path)
    assert.equal(reply.headers.get('access-control-allow-origin'), null, path)
    const preflight = await shop.store('OPTIONS', path, {
      headers: { ...PAGE, 'access-control-request-method': method },
    })
    assert.equal(preflight.headers.get('access-control-allow-origin'), null, path)
  }
})

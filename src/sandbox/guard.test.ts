import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isLoopbackAddress,
  isLoopbackHost,
  isOfThisMachine,
  isRenamed,
} from '#platform/http/loopback.ts'

test('only this machine counts as loopback', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.ok(isLoopbackAddress(address), address)
  for (const address of ['10.0.0.1', '::2', '1127.0.0.1', '::ffff:10.0.0.1', '', undefined])
    assert.ok(!isLoopbackAddress(address), String(address))
})

test('rejects a Host that only resembles loopback', () => {
  for (const host of [
    'localhost',
    'localhost:8000',
    'LOCALHOST:1',
    '127.0.0.1:80',
    '[::1]:8000',
    'shop.localhost:8000',
  ]) {
    assert.ok(isLoopbackHost(host), host)
  }
  for (const host of [
    'localhost.evil.com',
    '127.0.0.1.evil.com',
    'evil.com',
    'evil.com:127',
    '',
    undefined,
    '[::2]',
    'a@localhost',
  ]) {
    assert.ok(!isLoopbackHost(host), String(host))
  }
})

test('a request forwarded by a proxy or tunnel is not local', () => {
  const asked = (headers: Record<string, string>, httpVersion = '1.1') =>
    isOfThisMachine({ socket: { remoteAddress: '127.0.0.1' }, headers, raw: { httpVersion } })
  assert.ok(
    asked({
      host: 'localhost',
      'user-agent': 'x',
      'x-requested-with': 'y',
      'x-request-id': 'z',
      origin: 'o',
    }),
  )
  for (const name of [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded',
    'forwarded',
    'via',
    'x-real-ip',
    'x-client-ip',
    'client-ip',
    'true-client-ip',
    'x-cluster-client-ip',
    'cf-connecting-ip',
    'cf-ray',
    'cdn-loop',
    'fastly-client-ip',
    'fly-client-ip',
    'x-original-host',
    'x-envoy-external-address',
    'x-amzn-trace-id',
    'x-azure-clientip',
    'tailscale-user-login',
  ]) {
    // The proxy's client can choose the value.
    assert.ok(!asked({ host: 'localhost', [name]: '127.0.0.1' }), name)
  }
  // Default requests of nginx before 1.29.7 to its upstreams, without extra headers.
  assert.ok(!asked({ host: '127.0.0.1:8000', connection: 'close' }, '1.0'))
  // Requests since 1.29.7: they equal those of a program on this machine.
  assert.ok(asked({ host: '127.0.0.1:8000' }))
})

test('a browser whose page has another host than the request used a proxy', () => {
  const browser = (site: string, page: Record<string, string>, host = '127.0.0.1:8000') =>
    isRenamed({ headers: { host, 'sec-fetch-site': site, ...page } })
  for (const site of ['same-origin', 'same-site']) {
    assert.ok(browser(site, { origin: 'https://latchkey.example' }))
    assert.ok(browser(site, { referer: 'http://192.168.1.9/login' }, 'localhost:8000'))
    assert.ok(
      browser(site, { origin: 'null', referer: 'https://shop.latchkey.example/' }, '[::1]:8000'),
    )
  }
  // Over plain http a browser sends no Sec-Fetch headers, except to names of this machine.
  for (const page of [
    { origin: 'http://203.0.113.5' },
    { referer: 'http://latchkey.example/login' },
  ])
    assert.ok(isRenamed({ headers: { host: '127.0.0.1:8000', ...page } }))
  for (const [why, headers] of Object.entries({
    'a page of another site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    'a page of another site, over plain http': {
      'sec-fetch-site': 'cross-site',
      referer: 'http://evil.example/',
    },
    'an address that was typed, or a link in an email': { 'sec-fetch-site': 'none' },
    'a program': {},
    'a program that tries cross-origin calls': { origin: 'https://latchkey.example' },
    'the user app, by another of this machine’s names': {
      'sec-fetch-site': 'same-origin',
      origin: 'http://127.0.0.1:8000',
      referer: 'http://localhost:8000/',
    },
    'the storefront': { 'sec-fetch-site': 'same-site', origin: 'http://shop.localhost:8001' },
    'a form without a referrer': { 'sec-fetch-site': 'same-origin', origin: 'null' },
    'an extension': { 'sec-fetch-site': 'same-origin', origin: 'chrome-extension://abcdefgh' },
    nonsense: { 'sec-fetch-site': 'same-origin', referer: '//' },
  })) {
    assert.ok(!isRenamed({ headers: { host: 'localhost:8000', ...headers } }), why)
  }
  // The guard rejects a custom name of this machine without a proxy.
  assert.ok(!browser('same-origin', { origin: 'http://latchkey.test:8000' }, 'latchkey.test:8000'))
})

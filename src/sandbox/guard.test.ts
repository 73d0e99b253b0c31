import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopbackAddress, isLoopbackHost } from './guard.ts'

test('only this machine counts as loopback', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.ok(isLoopbackAddress(address), address)
  for (const address of ['10.0.0.1', '::2', '1127.0.0.1', '::ffff:10.0.0.1', '', undefined])
    assert.ok(!isLoopbackAddress(address), String(address))
})

test('a Host that only looks like loopback is foreign', () => {
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

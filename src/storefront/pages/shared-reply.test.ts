import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseEncoding } from './shared-reply.ts'

test('chooses the smallest encoding that the client accepts', () => {
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1.0, BR;q=0.5', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['br;q=0.0,gzip; q=0', null],
    ['identity', null],
    ['brotli', null],
    ['', null],
    [undefined, null],
  ] as const) {
    assert.equal(chooseEncoding(accepted), encoding, String(accepted))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LruCache } from './lru-cache.ts'

test('the cache never grows past its size and keeps recently used entries', () => {
  const cache = new LruCache<number, number>(100)
  for (let key = 0; key < 10_000; key++) {
    cache.set(key, key)
    assert.equal(cache.get(0), 0, `asked for all the time, at ${key}`)
  }
  assert.ok([...cache.entries()].length <= 102)
  assert.equal(cache.get(9_999), 9_999)
  assert.equal(cache.get(5_000), undefined)
  cache.delete(0)
  assert.equal(cache.get(0), undefined)
})

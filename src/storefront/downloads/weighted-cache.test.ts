import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weightedCache } from './weighted-cache.ts'

test('the least recently used values go when the weight is reached', () => {
  const cache = weightedCache<string>(10, (value) => value.length)
  cache.set('a', 'xxxx')
  cache.set('b', 'xxxx')
  assert.equal(cache.get('a'), 'xxxx')
  cache.set('c', 'xxxx')
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => cache.get(key)),
    ['xxxx', undefined, 'xxxx'],
  )
  cache.set('c', 'x')
  cache.set('d', 'xxxxx')
  assert.deepEqual(
    ['a', 'c', 'd'].map((key) => cache.get(key) !== undefined),
    [true, true, true],
  )
  cache.set('huge', 'x'.repeat(100))
  assert.deepEqual(
    ['a', 'c', 'd', 'huge'].map((key) => cache.get(key) !== undefined),
    [false, false, false, true],
  )
  cache.set('e', 'x')
  assert.deepEqual([cache.get('huge'), cache.get('e')], [undefined, 'x'])
})

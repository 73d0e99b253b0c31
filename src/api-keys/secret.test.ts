import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasKeyPrefix, isKeyShaped, newSecret } from './secret.ts'

test('a new key has its shape, and no two are alike', () => {
  const keys = Array.from({ length: 2_000 }, newSecret)

  assert.ok(keys.every((key) => /^lk_[0-9A-Za-z]{33}$/.test(key) && isKeyShaped(key) && hasKeyPrefix(key)))
  assert.equal(new Set(keys).size, keys.length)
  // Every character of the random part varies: no bits are lost on the way.
  for (let position = 4; position < 30; position++) {
    assert.ok(new Set(keys.map((key) => key[position])).size > 30, `position ${position}`)
  }
})

test('a key with one wrong letter is seen to be none', () => {
  const letters = 'ABCXYZabcxyz019'
  fc.assert(
    fc.property(fc.integer({ min: 3, max: 35 }), fc.constantFrom(...letters), (position, letter) => {
      const key = newSecret()
      const wrong = key.slice(0, position) + letter + key.slice(position + 1)
      assert.equal(isKeyShaped(wrong), wrong === key)
    }),
  )
})

test('no text is taken for a key', () => {
  fc.assert(fc.property(fc.string(), (text) => !isKeyShaped(text) && !isKeyShaped(`lk_${text}`)))
})

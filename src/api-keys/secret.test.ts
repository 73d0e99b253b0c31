import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasKeyPrefix, isKeyShaped, newSecret, ownerOfSecret } from './secret.ts'

const OWNER = '0b1c2d3e-4f50-4a6b-8c7d-9e8fa0b1c2d3'

test('a new key has its shape, and no two are alike', () => {
  const keys = Array.from({ length: 2_000 }, () => newSecret(OWNER))

  assert.ok(
    keys.every((key) => /^lk_[0-9A-Za-z]{55}$/.test(key) && isKeyShaped(key) && hasKeyPrefix(key)),
  )
  assert.equal(new Set(keys).size, keys.length)
  // Every character of the random part varies: no bits are lost on the way.
  for (let position = 4; position < 30; position++) {
    assert.ok(new Set(keys.map((key) => key[position])).size > 30, `position ${position}`)
  }
})

test('a key contains its owner’s id', () => {
  fc.assert(
    fc.property(fc.uuid(), (owner) => {
      assert.equal(ownerOfSecret(newSecret(owner)), owner)
    }),
  )
  // Junk that has the shape leads to nobody, and breaks nothing.
  const owner = ownerOfSecret(`lk_${'z'.repeat(55)}`)
  assert.notEqual(owner, OWNER)
})

test('a key with one wrong letter fails its checksum', () => {
  const letters = 'ABCXYZabcxyz019'
  fc.assert(
    fc.property(
      fc.integer({ min: 3, max: 57 }),
      fc.constantFrom(...letters),
      (position, letter) => {
        const key = newSecret(OWNER)
        const wrong = key.slice(0, position) + letter + key.slice(position + 1)
        assert.equal(isKeyShaped(wrong), wrong === key)
      },
    ),
  )
})

test('random texts do not have the form of a key', () => {
  fc.assert(fc.property(fc.string(), (text) => !isKeyShaped(text) && !isKeyShaped(`lk_${text}`)))
})

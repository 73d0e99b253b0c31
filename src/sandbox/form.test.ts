import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseForm } from './form.ts'

const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

test('brackets create nested values; numbered and empty brackets create arrays', () => {
  const form = parseForm(
    'line_items[0][price]=p1&line_items[0][quantity]=2&line_items[1][price]=p2&expand[]=a&expand[]=b',
  )
  assert.deepEqual(plain(form), {
    line_items: [{ price: 'p1', quantity: '2' }, { price: 'p2' }],
    expand: ['a', 'b'],
  })
})

test('names such as __proto__ are ordinary keys', () => {
  const form = parseForm('__proto__[admin]=1&metadata[constructor]=x')
  assert.equal(({} as { admin?: string }).admin, undefined)
  assert.deepEqual(plain(form.metadata), { constructor: 'x' })
})

test('rejects a form that is nested too deeply or too long', () => {
  assert.throws(() => parseForm(`a${'[b]'.repeat(9)}=1`), RangeError)
  assert.throws(
    () => parseForm(Array.from({ length: 1_001 }, (_, i) => `a${i}=1`).join('&')),
    RangeError,
  )
})

test('flat pairs keep any characters', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[a-z_]{1,10}$/), fc.string()), (pairs) => {
      const wellFormed = Object.fromEntries(
        Object.entries(pairs).map(([k, v]) => [k, v.toWellFormed()]),
      )
      assert.deepEqual(
        plain(parseForm(new URLSearchParams(wellFormed).toString())),
        plain(wellFormed),
      )
    }),
  )
})

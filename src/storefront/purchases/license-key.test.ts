import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { licensePrefix, maskLicenseKey, newLicenseKey, parseLicenseKey } from './license-key.ts'

const keys = fc.constant(null).map(newLicenseKey)

test('a key is LK- and seven groups of four, never the same', () => {
  const made = new Set(Array.from({ length: 1000 }, newLicenseKey))
  assert.equal(made.size, 1000)
  for (const key of made) assert.match(key, /^LK(-[0-9A-HJKMNP-TV-Z]{4}){7}$/)
})

test('a key is understood however it is typed', () => {
  fc.assert(
    fc.property(keys, fc.infiniteStream(fc.nat()), (key, choices) => {
      const pick = (options: string[]) => options[choices.next().value % options.length] ?? ''
      const typed = Array.from(key.slice(3), (symbol) => {
        if (symbol === '0') return pick(['0', 'O', 'o'])
        if (symbol === '1') return pick(['1', 'I', 'i', 'L', 'l'])
        if (symbol === '-') return pick(['-', '', ' ', ' - ', '–', '_'])
        return pick([symbol, symbol.toLowerCase()])
      })
      assert.equal(parseLicenseKey(pick(['LK-', 'lk', '', ' Lk ']) + typed.join('')), key)
    }),
  )
})

test('one wrong symbol or two exchanged ones are noticed, wherever they are', () => {
  const body = newLicenseKey().replace(/^LK|-/g, '')
  for (let i = 0; i < body.length; i++) {
    for (const symbol of '0123456789ABCDEFGHJKMNPQRSTVWXYZ') {
      if (symbol !== body[i])
        assert.equal(parseLicenseKey(body.slice(0, i) + symbol + body.slice(i + 1)), null)
    }
    for (let j = i + 1; j < body.length; j++) {
      const exchanged = [...body]
      exchanged[i] = body[j] ?? ''
      exchanged[j] = body[i] ?? ''
      if (body[i] !== body[j]) assert.equal(parseLicenseKey(exchanged.join('')), null)
    }
  }
})

test('what is no key is refused', () => {
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => parseLicenseKey(text) === null))
  for (const text of ['', 'LK-', 'LK-0000-0000-0000-0000-0000-0000-000U', 'x'.repeat(100_000)]) {
    assert.equal(parseLicenseKey(text), null)
  }
})

test('the masked form shows two groups, the prefix eight symbols', () => {
  const key = 'LK-7F3K-9QZT-0123-4567-89AB-CDEF-GHJK'
  assert.equal(maskLicenseKey(key), 'LK-7F3K-••••-••••-••••-••••-••••-GHJK')
  assert.equal(licensePrefix(key), '7F3K9QZT')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '#platform/problem.ts'
import { readConfig } from '#src/config.ts'
import { isPictureUrl } from './account/profile.ts'
import { refuseWeak } from './passwords/password-rules.ts'
import { decodePhc, encodePhc } from './passwords/phc.ts'
import { LruCache } from './sessions/lru-cache.ts'
import { delayAfter } from './sign-in/sign-in-limits.ts'

test('weak passwords are refused, and the field is named', () => {
  const rules = { config: readConfig({ PRODUCT_NAME: 'Harbour-Master' }) }
  for (const [password, weak] of [
    ['short77', true],
    ['exactly8', false],
    ['password', true],
    ['PassWord', true],
    ['iloveyou', true],
    ['qwertyuiop', true],
    ['ada@example.com', true],
    ['ADA@Example.com', true],
    ['ada@example.org', false],
    ['        ', false],
    ['🐎🐎🐎🐎🐎🐎🐎', true],
    ['🐎🐎🐎🐎🐎🐎🐎🐎', false],
    ['x'.repeat(128), false],
    ['x'.repeat(129), true],
    ['# Passwords of 8', false],
    ['harbourmaster', true],
    ['HarbourMaster', true],
    ['harbour master 1', true],
    ['harbourmaster123', true],
    ['Harbourmaster2026!', true],
    ['h4rb0urm@$ter', true],
    ['my-harbourmaster', true],
    ['harbourmasterharbourmaster', true],
    ['harbourmasterpassword', true],
    ['harbourmaster sleeps till noon', false],
    ['harbour lights', false],
  ] as const) {
    const check = () => refuseWeak(rules, 'new_password', password, 'Ada@example.com')
    if (!weak) assert.doesNotThrow(check, password)
    else {
      assert.throws(check, (error) => {
        assert.ok(error instanceof Problem && typeof error.detail !== 'string')
        assert.deepEqual([error.status, error.detail[0]?.loc], [422, ['body', 'new_password']])
        return true
      })
    }
  }
})

test('a hash in the PHC form survives writing and reading', () => {
  const bytes = (min: number, max: number) =>
    fc.uint8Array({ minLength: min, maxLength: max }).map((array) => Buffer.from(array))
  fc.assert(
    fc.property(
      fc.record({
        memory: fc.integer({ min: 8, max: 9_999_999 }),
        passes: fc.integer({ min: 1, max: 999 }),
        parallelism: fc.integer({ min: 1, max: 99 }),
        salt: bytes(9, 64),
        hash: bytes(17, 64),
      }),
      (stored) => assert.deepEqual(decodePhc(encodePhc(stored)), { ...stored }),
    ),
  )
  fc.assert(fc.property(fc.string(), (text) => assert.equal(decodePhc(text), null)))
})

test('the wait grows with failures and has an end', () => {
  assert.deepEqual(
    [0, 9, 10, 11, 12, 13, 14, 15, 1_000].map(delayAfter),
    [0, 0, 250, 500, 1_000, 2_000, 4_000, 4_000, 4_000],
  )
})

test('a picture is on the web, and nothing else', () => {
  for (const [url, good] of [
    ['https://example.com/a.png', true],
    ['http://localhost:8000/a.svg', true],
    ['javascript:alert(1)', false],
    ['JavaScript:alert(1)', false],
    ['data:image/svg+xml,<svg/>', false],
    ['//example.com/a.png', false],
    ['/a.png', false],
    ['https://user:pass@example.com/', false],
    ['', false],
  ] as const) {
    assert.equal(isPictureUrl(url), good, url)
  }
})

test('a map of recent things never grows past its size, and keeps what is asked for', () => {
  const recent = new LruCache<number, number>(100)
  for (let key = 0; key < 10_000; key++) {
    recent.set(key, key)
    assert.equal(recent.get(0), 0, `asked for all the time, at ${key}`)
  }
  assert.ok([...recent.entries()].length <= 102)
  assert.equal(recent.get(9_999), 9_999)
  assert.equal(recent.get(5_000), undefined)
  recent.delete(0)
  assert.equal(recent.get(0), undefined)
})

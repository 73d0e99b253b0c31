import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseExactly } from './exact-json.ts'

test('an integer of any length keeps its digits at any position', () => {
  for (const text of [
    '9007199254740993',
    '{"id":9007199254740993}',
    '{"a":[12345678901234567890,-98765432109876543210,1],"b":{"c":18446744073709551615}}',
    '{"text":"\\": 12345678901234567890,","id":3}',
  ]) {
    const parsed = parseExactly(` ${text}`)
    if (text.startsWith('{')) assert.equal(JSON.stringify(parsed), text)
  }
})

test('what a double holds stays a number, a fraction too', () => {
  const text = '{"a":9007199254740991,"b":0.12345678901234567,"c":1e300,"d":[1]}'
  assert.deepEqual(parseExactly(text), JSON.parse(text))
})

test('long integers keep their digits in deep, wide and long JSON', () => {
  const long = '1234567890123456789'
  for (const text of [
    `[${long}${',1'.repeat(300_000)}]`,
    `${'['.repeat(20_000)}${long}${']'.repeat(20_000)}`,
    `{"id":${long},"text":"${'a,b,c\\n'.repeat(200_000)}"}`,
    `{"__proto__":${long},"1":-${long},"0":${long}}`,
  ]) {
    assert.ok(JSON.stringify(atDepth(parseExactly(text))).includes(long), text.slice(0, 40))
  }
})

/** Unwraps lists of one, which JSON.stringify could not walk. */
function atDepth(value: unknown): unknown {
  let inner = value
  while (Array.isArray(inner) && inner.length === 1) inner = inner[0]
  return inner
}

test('a text that looks like numbers stays a text, and a fraction a number', () => {
  const digits = '1'.repeat(6_000_000)
  assert.deepEqual(parseExactly(JSON.stringify({ content: `x ${digits}` })), {
    content: `x ${digits}`,
  })
  assert.equal(JSON.stringify(parseExactly(`[${digits}]`)), `[${digits}]`)
  for (const text of [
    '[0.12345678901234567890]',
    '[12345678901234567890.5]',
    '[1e1234567890123456]',
    '[-1E+1]',
  ]) {
    assert.deepEqual(parseExactly(text), JSON.parse(text))
  }
  for (const text of [
    '[01234567890123456789]',
    '[12345678901234567890x]',
    '[--12345678901234567890]',
    '[1-2]',
  ]) {
    assert.throws(() => parseExactly(text), SyntaxError, text)
  }
})

test('any JSON reads as it does elsewhere, and what is none is refused alike', () => {
  fc.assert(
    fc.property(fc.json(), (text) =>
      assert.deepEqual(JSON.stringify(parseExactly(text)), JSON.stringify(JSON.parse(text))),
    ),
  )
  for (const text of ['', '{', '{"a":12345678901234567890', '01'])
    assert.throws(() => parseExactly(text), SyntaxError)
})

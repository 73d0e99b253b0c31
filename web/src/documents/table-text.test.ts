import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flattenTables } from './table-text.ts'

test('rows of a table become cells with dots between, without the rule below the header', () => {
  const table =
    '| Region | City | Sum |\n| --- | :--: | --- |\n| North | A\\|B | 1 |\n|  | Lund | - |'
  assert.equal(
    flattenTables(`Sales:\n${table}\nAll in euros.`),
    'Sales:\nRegion · City · Sum\nNorth · A|B · 1\nLund · -\nAll in euros.',
  )
})

test('other lines stay as they are', () => {
  for (const text of ['a | b', '| a', '---', 'x || y ||', '\n\n', 'a\r\nb'])
    assert.equal(flattenTables(text), text)
})

test('a row without words is left out, and a long one takes little time', () => {
  assert.equal(flattenTables('a\n|  |  |\nb'), 'a\nb')
  const dashes = '-'.repeat(400_000)
  assert.equal(flattenTables(`|${dashes}x|`), `${dashes}x`)
})

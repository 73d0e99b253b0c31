import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatCsvLine } from './csv.ts'
import { formatLabelLine, formatLabels, readLabels } from './labels.ts'

/** Short texts of characters that the stored format also uses. */
const text = fc.string({
  unit: fc.constantFrom('a', 'b', '"', ':', '\n', '\\', ',', '{', '}', '\0', 'é', '%'),
  maxLength: 6,
})
const labels = fc.uniqueArray(fc.tuple(text, text), { maxLength: 6, selector: ([name]) => name })

test('labels are read as they were given, and their text contains a label’s line only if it has the label', () => {
  fc.assert(
    fc.property(labels, text, text, (pairs, name, value) => {
      const given = Object.fromEntries(pairs)
      const written = formatLabels(given)
      assert.deepEqual({ ...readLabels(written) }, given)
      for (const [own, its] of pairs) assert.ok(written.includes(formatLabelLine(own, its)))
      const isThere = pairs.some(([own, its]) => own === name && its === value)
      assert.equal(written.includes(formatLabelLine(name, value)), isThere)
    }),
  )
})

test('names that an object parser might confuse stay distinct', () => {
  for (const name of ['\\', '\n', '\0', '\\', '\n']) {
    const given = { 'the first': '', [`z${name}`]: 'x' }
    assert.deepEqual({ ...readLabels(formatLabels(given)) }, given)
  }
})

test('only short texts become labels, and names such as `__proto__` are ordinary names', () => {
  assert.equal(formatLabels({ n: 1, o: {}, long: 'x'.repeat(513), ['y'.repeat(65)]: 'z' }), '')
  const proto = JSON.parse('{"__proto__": "x", "constructor": "y"}')
  assert.deepEqual(Object.entries(readLabels(formatLabels(proto))), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
})

test('no CSV cell begins a formula, and each cell is read as it was written', () => {
  const cell = fc.string({
    unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', ' ', '"', ',', 'a', '＝'),
    maxLength: 8,
  })
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1, maxLength: 4 }), (cells) => {
      const read = [...formatCsvLine(cells).matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)].map(
        ([, one = '']) => (one.startsWith('"') ? one.slice(1, -1).replaceAll('""', '"') : one),
      )
      assert.deepEqual(
        read.map((one) => one.replaceAll("'", '')),
        cells,
        'apart from the apostrophes that disarm formulas',
      )
      for (const one of read) assert.doesNotMatch(one, /^\s*[=+\-@\t\r＝]/)
    }),
  )
  assert.equal(formatCsvLine([-1.5, null, true, 'a']), '-1.5,,true,a\r\n')
})

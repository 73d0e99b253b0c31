import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { BlockReader } from './block-reader.ts'
import { splitBlocks } from './lexer.ts'

const PIECES = [
  'words ',
  '**bold** ',
  'a `code` ',
  '$x^2$ ',
  '[1] ',
  '\n',
  '\n\n',
  '- item\n',
  '  - inner\n',
  '1. one\n',
  '> quoted\n',
  '```js\nlet a\n',
  '```\n',
  '| a | b |\n| - | - |\n',
  '| 1 | 2 |\n',
  '# Title\n',
  '===\n',
  '[^n]: a note\n',
  '    indented\n',
  '<b>x</b>\n',
  '\r\n',
  '\t',
]

test('the blocks together are the whole text', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }), (pieces) => {
      const text = pieces.join('').replace(/\r\n?/g, '\n')
      const blocks = splitBlocks(text, true)
      assert.equal(blocks.map(({ raw }) => raw).join(''), text)
    }),
  )
})

test('a text that grew piece by piece ends as the same blocks', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 20 }), (pieces) => {
      const grown = new BlockReader(true)
      let text = ''
      for (const piece of pieces) {
        text += piece
        grown.read(text, true)
      }
      const raws = (reader: BlockReader, isGrowing: boolean) =>
        reader.read(`${text}\n\nend`, isGrowing).map(({ raw }) => raw)
      assert.deepEqual(raws(grown, true), raws(new BlockReader(true), false))
    }),
  )
})

test('a note ends the block above it, also before a line of =', () => {
  const reader = new BlockReader(true)
  const text = 'words\n[^n]: a note\n'
  reader.read(text, true)
  for (const isGrowing of [true, false])
    assert.deepEqual(
      reader.read(`${text}===\n\nend`, isGrowing).map(({ raw }) => raw),
      ['words\n', '[^n]: a note\n', '===\n\n', 'end'],
    )
})

test('blocks before the last stay the same objects', () => {
  const reader = new BlockReader(false)
  const before = reader.read('# One\n\nTwo\n\nThr', true)
  const after = reader.read('# One\n\nTwo\n\nThree', true)
  assert.equal(after[0], before[0])
  assert.equal(after[1], before[1])
  assert.notEqual(after[2], before[2])
  const whole = reader.read('# One\n\nTwo\n\nThree', false)
  assert.deepEqual(
    whole.map((block, at) => block === after[at]),
    [true, true, true],
  )
})

test('a definition at the end applies to the links before it once the text is complete', () => {
  const reader = new BlockReader(false)
  const text = 'See [the page][p].\n\n[p]: https://example.com'
  reader.read(text, true)
  const [first] = reader.read(text, false)
  assert.match(JSON.stringify(first?.tokens), /"href":"https:\/\/example.com"/)
})

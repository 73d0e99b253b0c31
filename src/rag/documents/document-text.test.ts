import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createChunkedText } from '../ingest/chunked-text.ts'
import { joinChunks } from './document-text.ts'

const words = fc.constantFrom(
  'word ',
  'a',
  ' ',
  '\n\n',
  '. ',
  '# Title\n',
  '```\ncode\n```\n',
  '漢字',
  '👩‍👩‍👧',
  'x'.repeat(130),
)
const texts = fc.array(words, { maxLength: 400 }).map((parts) => parts.join(''))

const chunksOf = (text: string, size: number, overlap: number) => {
  const { info, slice } = createChunkedText(text, { size, overlap })
  const { texts, places } = slice(0, info.total)
  return places.map((place, index) => ({ ...place, index, content: texts[index] as string }))
}

test('a text is restored exactly from its chunks, for any overlap', () => {
  const settings = fc.record({
    size: fc.integer({ min: 100, max: 400 }),
    overlap: fc.integer({ min: 0, max: 99 }),
  })
  fc.assert(
    fc.property(texts, settings, (text, { size, overlap }) => {
      const chunks = chunksOf(text, size, overlap)
      assert.equal(
        joinChunks(chunks, 0, chunks.length).text,
        chunks.length === 0 ? '' : text.trimEnd(),
      )
    }),
  )
})

test('a line that is repeated a hundred times is restored a hundred times', () => {
  const text = 'the same line\n'.repeat(100).trimEnd()
  for (const overlap of [0, 50, 99]) {
    const chunks = chunksOf(text, 100, overlap)
    assert.ok(chunks.length > 5)
    assert.equal(joinChunks(chunks, 0, chunks.length).text, text)
  }
})

test('a text from the middle on starts with its chunk, and reports deleted chunks', () => {
  const chunks = chunksOf('One sentence that is long enough. '.repeat(40), 100, 20)
  const [, second, third, fourth] = chunks
  assert.ok(second && third && fourth)
  assert.ok(joinChunks(chunks.slice(1), 1, chunks.length).text.startsWith(second.content))
  assert.equal(
    joinChunks([second, fourth], 1, 4).text,
    `${second.content}\n\n[…]\n\n${fourth.content}`,
  )
  assert.equal(joinChunks([second], 0, 4).text, `[…]\n\n${second.content}\n\n[…]`)
  assert.equal(joinChunks([], 0, 4).text, '[…]')
})

test('a long stretch of white space is shortened', () => {
  const chunks = chunksOf(`before${' '.repeat(100_000)}after`, 100, 0)
  assert.equal(joinChunks(chunks, 0, chunks.length).text, `before${' '.repeat(200)}after`)
})

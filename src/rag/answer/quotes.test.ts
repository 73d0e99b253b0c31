import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Chunk } from '../documents/chunk-store.ts'
import { joinChunks } from '../documents/document-text.ts'
import { createChunkedText } from '../ingest/chunked-text.ts'
import type { Outline } from '../ingest/outline.ts'
import { CitationCheck } from './citations.ts'
import { findQuote, readUnits } from './quotes.ts'
import { readClaim } from './support.ts'

function chunksOf(text: string, size: number, overlap: number, outline: Outline = {}): Chunk[] {
  const { info, slice } = createChunkedText(text, { size, overlap }, outline)
  const { texts, places } = slice(0, info.total)
  return places.map((place, index) => ({ ...place, index, content: texts[index] as string }))
}

/**
 * Returns the quotes from a document in small chunks, where the chunks from `from` on are a
 * passage.
 */
function quotedOf(
  text: string,
  statement: string,
  { from = 0, outline = {} as Outline, head = '' } = {},
) {
  const chunks = chunksOf(text, 120, 30, outline)
  const joined = joinChunks(chunks.slice(from), from, chunks.length)
  const passage = {
    text: head + joined.text,
    pieces: joined.pieces.map((piece) => ({ ...piece, at: piece.at + head.length })),
  }
  const quote = findQuote(readClaim(statement), readUnits(passage), passage)
  return quote && { text: text.slice(quote.start, quote.end), page: quote.page }
}

const LIGHTHOUSE = `# The lighthouse

The lighthouse of Porto Calvo was built in 1882 by the engineer Amélie Duroc. It stands on a rock. The lens, made in Paris, weighs two tonnes.

## Tickets
- Adults pay 12 euros.
- Children pay 5 euros.

| Year | Visitors |
| --- | --: |
| 1990 | 31,400 |
| 1991 | 28,150 |

Dogs stay outside. The keeper's name was Tomás. He died in the winter of 1911.`

const cases: [name: string, text: string, statement: string, quoted: string | null][] = [
  [
    'a sentence',
    LIGHTHOUSE,
    'Its lens weighs 2 tonnes',
    'The lens, made in Paris, weighs two tonnes.',
  ],
  [
    'a sentence below a heading, without the heading',
    LIGHTHOUSE,
    'Duroc built the lighthouse in 1882',
    'The lighthouse of Porto Calvo was built in 1882 by the engineer Amélie Duroc.',
  ],
  ['an item of a list', LIGHTHOUSE, 'A child pays 5 euros', '- Children pay 5 euros.'],
  ['a row of a table', LIGHTHOUSE, 'In 1991 there were 28150 visitors', '| 1991 | 28,150 |'],
  [
    'sentences in a row',
    LIGHTHOUSE,
    'The keeper Tomás died in winter 1911',
    "The keeper's name was Tomás. He died in the winter of 1911.",
  ],
  ['nothing that matches', LIGHTHOUSE, 'Wire the money to the landlord today', null],
  [
    'another language, by the number',
    LIGHTHOUSE,
    'Der Leuchtturm ist 1882 gebaut worden',
    'The lighthouse of Porto Calvo was built in 1882 by the engineer Amélie Duroc.',
  ],
  [
    'Chinese',
    '帝企鹅生活在南极洲的冰上，以鱼为食。它们的蛋重约四百五十克。雄企鹅孵蛋。',
    '企鹅的蛋重四百五十克',
    '它们的蛋重约四百五十克。',
  ],
]
for (const [name, text, statement, quoted] of cases) {
  test(`quotes ${name}`, () => {
    assert.equal(quotedOf(text, statement)?.text ?? null, quoted)
  })
}

test('a quote in the middle of a chunk has the page of its first character', () => {
  const sentences = Array.from(
    { length: 12 },
    (_, i) => `Page ${i + 1} tells of harbour ${i * 7 + 3} on the coast.`,
  )
  const text = sentences.join(' ')
  const pages = sentences.map((sentence, i) => ({ at: text.indexOf(sentence), page: i + 1 }))
  for (const [i, sentence] of sentences.entries()) {
    const quote = quotedOf(text, `It is harbour ${i * 7 + 3}`, { outline: { pages } })
    assert.deepEqual(quote, { text: sentence, page: i + 1 })
  }
})

test('the head of a table that a passage repeats is not quoted', () => {
  const head = '| Year | Visitors |\n| --- | --: |\n'
  const rows = Array.from({ length: 20 }, (_, i) => `| ${1990 + i} | ${31_400 + i * 7} |`)
  const text = `${head}${rows.join('\n')}`
  const quote = quotedOf(text, 'Visitors of the year 2005: 31505', { from: 2, head })
  assert.equal(quote?.text, '| 2005 | 31,505 |'.replace(',', ''))
})

test('a citation without support has no quote', () => {
  const text = 'The lighthouse was built in 1882. It is old.'
  const check = new CitationCheck(
    [{ text, pieces: [{ at: 0, start: 40, end: 40 + text.length, pages: [] }] }],
    '',
  )
  check.push('It was built in 1882 [1]. It was sold in 1990 [1].')
  check.end()
  assert.deepEqual(
    check.citations().map(({ supported, quote }) => [supported, quote]),
    [
      [true, { text: 'The lighthouse was built in 1882.', start: 40, end: 73, page: null }],
      [false, null],
    ],
  )
})

test('a quote is a part of the document without white space at its ends, for any chunking', () => {
  const parts = fc.constantFrom(
    'It was built in 1882. ',
    '# Title\n',
    '| a | 7 |\n',
    '\n\n',
    '- item 3\n',
    '漢字。',
    'no end ',
    ' ',
  )
  fc.assert(
    fc.property(
      fc.array(parts, { maxLength: 60 }),
      fc.constantFrom('built 1882', '7', 'item 3', '漢字'),
      (list, said) => {
        const text = list.join('')
        const chunks = chunksOf(text, 100, 20)
        const passage = joinChunks(chunks, 0, chunks.length)
        const quote = findQuote(readClaim(said), readUnits(passage), passage)
        if (quote === null) return
        const quoted = text.slice(quote.start, quote.end)
        assert.notEqual(quoted, '')
        assert.equal(quoted, quoted.trim())
      },
    ),
  )
})

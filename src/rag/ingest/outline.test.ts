import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChunkedText } from './chunked-text.ts'
import type { Outline } from './outline.ts'

const settings = { size: 120, overlap: 20 }
const words = (count: number, word: string) =>
  Array.from({ length: count }, (_, i) => `${word}${i}`).join(' ')

function cut(text: string, outline?: Outline) {
  const { info, slice } = createChunkedText(text, settings, outline)
  const { texts, places } = slice(0, info.total)
  return places.map((place, i) => ({ ...place, text: texts[i] as string }))
}

test('a chunk has the pages that it covers', () => {
  const pages = [words(40, 'one'), words(30, 'two'), words(20, 'four')]
  const starts = [0, pages[0]!.length + 2, pages[0]!.length + pages[1]!.length + 4]
  const text = pages.join('\n\n')
  const chunks = cut(text, { pages: starts.map((at, i) => ({ at, page: [1, 2, 4][i] as number })) })
  assert.ok(chunks.length > 5)
  for (const { text, page, pageEnd } of chunks) {
    const seen = [...new Set(text.match(/one|two|four/g))].map(
      (word) => ({ one: 1, two: 2, four: 4 })[word],
    )
    // A word may be cut in the middle where the next chunk repeats a part of the last one.
    assert.deepEqual([seen[0], seen.at(-1)], [page, pageEnd], text)
  }
  assert.deepEqual([...new Set(cut(text).map(({ page }) => page))], [null])
})

test('a chunk has the headings above its first new text', () => {
  const text = [
    '# Terms',
    words(30, 'alpha'),
    '## Notice ##',
    words(30, 'beta'),
    '```\n# no heading\n```',
    '### By   *post*',
    words(30, 'gamma'),
    '## Rent',
    words(30, 'delta'),
  ].join('\n\n')
  const chunks = cut(text)
  const headingOf = (word: string) =>
    chunks.filter(({ text }) => text.includes(`${word}15`)).at(-1)?.heading
  assert.equal(headingOf('alpha'), 'Terms')
  assert.equal(headingOf('beta'), 'Terms › Notice')
  assert.equal(headingOf('gamma'), 'Terms › Notice › By *post*')
  assert.equal(headingOf('delta'), 'Terms › Rent')
  assert.deepEqual([...new Set(cut(text, { headings: [] }).map(({ heading }) => heading))], [null])
  assert.equal(cut('# Only'.padEnd(20)).at(0)?.heading, 'Only')
})

test('each part of a table has the header, and no other text has it', () => {
  const rows = Array.from({ length: 30 }, (_, i) => `| item ${i} | ${i} EUR |`)
  const head = '| Name | Price |\n| --- | --: |'
  const text = `Before the table.\n\n${head}\n${rows.join('\n')}\n\n${words(40, 'after')}`
  const chunks = cut(text)
  for (const { text, tableHeader } of chunks) {
    if (text.startsWith('| item')) assert.equal(tableHeader, head, text)
    else assert.equal(tableHeader, null, text)
  }
  assert.ok(chunks.filter(({ tableHeader }) => tableHeader !== null).length >= 5)
  assert.deepEqual(
    cut(text.replace('| --- | --: |\n', '')).filter(({ tableHeader }) => tableHeader !== null),
    [],
    'a table without a rule has no head that could be known',
  )
})

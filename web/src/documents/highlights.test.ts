import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findHighlights, findPassage, findQuote } from './highlights.ts'

const marked = (page: string, passage: string) => {
  const highlights = findHighlights(page, passage)
  return [...page].map((c, i) => (highlights[i] ? c : c.trim() && '·')).join('')
}

test('a passage is found on its page, over line ends, hyphens and ligatures', () => {
  const page =
    'Report 2026\nThe ﬁrst result was un-\nexpected by every-\none who had read it.\nNothing more.'
  const passage = 'The first result was unexpected by everyone who had read it.'
  const highlights = findHighlights(page, passage)
  const texts = [...page].filter((_, i) => highlights[i]).join('')
  assert.equal(texts.normalize('NFKC'), 'Thefirstresultwasunexpectedbyeveryonewhohadreadit.')
})

test('highlights only the part on this page, and no accidental match', () => {
  assert.equal(
    marked(
      'end of the sentence that began before. Another one.',
      'It is at the end of the sentence that began before.',
    ).includes('A'),
    false,
  )
  assert.equal(
    findHighlights('the cat and the dog', 'the cow and the pig of the neighbour').includes(1),
    false,
  )
  assert.equal(findHighlights('', 'x').length, 0)
  assert.equal(findHighlights('page', '  ').includes(1), false)
  assert.deepEqual([...findHighlights('a Yes b', 'Yes')], [0, 0, 1, 1, 1, 0, 0])
})

test('a complete sentence is highlighted alone, without parts of similar ones', () => {
  const page =
    'The deposit is 3,450 dollars in New York.\nThe deposit is 3,450 eu-\nros in Paris.\nNothing.'
  const highlights = findHighlights(page, 'The deposit is 3,450 euros in Paris.')
  const texts = [...page].filter((_, i) => highlights[i]).join('')
  assert.equal(texts, 'Thedepositis3,450eurosinParis.')
})

test('a quote is found after its passage first, then anywhere', () => {
  assert.deepEqual(findQuote('Yes. No. Yes.', 'Yes.', 3), { from: 9, to: 13 })
  assert.deepEqual(findQuote('Yes. No.', 'Yes.', 3), { from: 0, to: 4 })
  assert.equal(findQuote('Yes. No.', 'Maybe.', 0), null)
})

test('a passage is found at its recorded start, or before it after collapsed white space', () => {
  const text = 'same line\nsame line\nsame line'
  assert.deepEqual(findPassage(text, 'same line', 10), { from: 10, to: 19 })
  assert.deepEqual(findPassage(text, 'same line', 500), { from: 20, to: 29 })
  assert.deepEqual(findPassage(text, 'same line', 12), { from: 10, to: 19 })
  assert.equal(findPassage(text, 'other', 0), null)
})

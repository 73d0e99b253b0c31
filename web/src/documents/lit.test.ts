import assert from 'node:assert/strict'
import { test } from 'node:test'
import { litCharacters, placeOf } from './lit.ts'

const marked = (page: string, passage: string) => {
  const lit = litCharacters(page, passage)
  return [...page].map((c, i) => (lit[i] ? c : c.trim() && '·')).join('')
}

test('a passage is found on its page, over line ends, hyphens and ligatures', () => {
  const page = 'Report 2026\nThe ﬁrst result was un-\nexpected by every-\none who had read it.\nNothing more.'
  const passage = 'The first result was unexpected by everyone who had read it.'
  const lit = litCharacters(page, passage)
  const texts = [...page].filter((_, i) => lit[i]).join('')
  assert.equal(texts.normalize('NFKC'), 'Thefirstresultwasunexpectedbyeveryonewhohadreadit.')
})

test('only the part that is on this page is lit, and nothing by chance', () => {
  assert.equal(
    marked(
      'end of the sentence that began before. Another one.',
      'It is at the end of the sentence that began before.',
    ).includes('A'),
    false,
  )
  assert.equal(litCharacters('the cat and the dog', 'the cow and the pig of the neighbour').includes(1), false)
  assert.equal(litCharacters('', 'x').length, 0)
  assert.equal(litCharacters('page', '  ').includes(1), false)
  assert.deepEqual([...litCharacters('a Yes b', 'Yes')], [0, 0, 1, 1, 1, 0, 0])
})

test('a passage in a text is where it is said to be, or before, where white space was told shorter', () => {
  const text = 'same line\nsame line\nsame line'
  assert.deepEqual(placeOf(text, 'same line', 10), { from: 10, to: 19 })
  assert.deepEqual(placeOf(text, 'same line', 500), { from: 20, to: 29 })
  assert.deepEqual(placeOf(text, 'same line', 12), { from: 10, to: 19 })
  assert.equal(placeOf(text, 'other', 0), null)
})

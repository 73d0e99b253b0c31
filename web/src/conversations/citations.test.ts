import assert from 'node:assert/strict'
import test from 'node:test'
import type { Source } from './api.ts'
import { findMarks, findUnsupported, removeMarks, resolveMarks } from './citations.ts'

const source = (name: string): Source => ({
  chunk_ids: [`${name}_0`],
  document_id: name,
  name,
  page: 1,
  score: 0.8,
  content: 'text',
})
const quote = (start: number) => ({ text: `from ${start}`, start, end: start + 6, page: 3 })

test('marks have offsets in the whole answer; code and links have none', () => {
  assert.deepEqual(findMarks('`x[1]` so [1], thus [1, 2]'), [
    { at: 10, source: 1 },
    { at: 20, source: 1 },
    { at: 20, source: 2 },
  ])
  assert.deepEqual(findMarks('`a[1]` and\n```\nb[1]\n```\n[1](https://x.example)'), [])
  assert.deepEqual(findMarks('```\nstill open b[1]'), [])
})

test('each mark gets the sentence of its own statement', () => {
  const cited = resolveMarks(
    'First [1]. Second [1]. Third [2]. Fourth [3].',
    [source('a'), source('b')],
    [
      { source: 1, start: 0, end: 5, supported: true, quote: quote(40) },
      { source: 1, start: 11, end: 17, supported: true, quote: quote(7) },
      { source: 2, start: 23, end: 28, supported: false, quote: null },
    ],
  )
  assert.deepEqual(
    cited.map((one) => one && [one.source.name, one.quote?.start ?? null]),
    [['a', 40], ['a', 7], ['b', null], null],
  )
})

test('a copied answer has no marks', () => {
  assert.equal(
    removeMarks('It is due [1]. And `a[1]` stays [2, 1], [9] too.', 2),
    'It is due. And `a[1]` stays, [9] too.',
  )
})

test('a statement is unsupported when none of its passages supports it', () => {
  const answer = 'It is red. It is blue.'
  const one = (start: number, end: number, supported: boolean) =>
    ({ source: 1, start, end, supported, quote: null }) as const
  assert.deepEqual(
    findUnsupported(answer, [one(0, 10, false), one(0, 10, true), one(11, 22, false)]),
    ['It is blue.'],
  )
})

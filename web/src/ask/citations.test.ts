import assert from 'node:assert/strict'
import test from 'node:test'
import { citationLinks, findQuotes } from './citations.ts'

test('a citation becomes a link to its passage', () => {
  assert.equal(citationLinks('Until it ends [1].', 2), 'Until it ends [1](#passage-1).')
  assert.equal(citationLinks('Both [1, 2]', 2), 'Both [1](#passage-1)[2](#passage-2)')
  assert.equal(citationLinks('Both [1][2]', 2), 'Both [1](#passage-1)[2](#passage-2)')
})

test('a citation without a passage stays plain', () => {
  assert.equal(citationLinks('No [3], no [0], no [1,9].', 2), 'No [3], no [0], no [1,9].')
})

test('code and links stay unchanged', () => {
  assert.equal(
    citationLinks('`a[1]` and\n```\nb[1]\n```\n[1](https://x.example)', 1),
    '`a[1]` and\n```\nb[1]\n```\n[1](https://x.example)',
  )
  assert.equal(citationLinks('```\nstill open b[1]', 1), '```\nstill open b[1]')
})

test('a source’s quotes are unique and in document order', () => {
  const quote = (start: number) => ({ text: `from ${start}`, start, end: start + 6, page: null })
  const cited = (source: number, quoted: ReturnType<typeof quote> | null) =>
    ({ source, start: 0, end: 5, supported: quoted !== null, quote: quoted }) as const
  const citations = [
    cited(1, quote(40)),
    cited(2, quote(10)),
    cited(1, quote(7)),
    cited(1, null),
    cited(1, quote(40)),
  ]
  assert.deepEqual(
    findQuotes(citations, 1).map(({ start }) => start),
    [7, 40],
  )
  assert.deepEqual(findQuotes(citations, 3), [])
})

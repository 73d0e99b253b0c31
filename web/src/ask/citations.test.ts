import assert from 'node:assert/strict'
import test from 'node:test'
import { findQuotes } from './citations.ts'

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

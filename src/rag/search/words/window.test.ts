import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createWindow } from './window.ts'

const words = [
  { name: 'harbour', weight: 3 },
  { name: 'toll', weight: 2 },
  { name: '港口', weight: 5 },
]

function bestOf(hits: [place: number, word: number, similarity: number][]): number {
  const window = createWindow(words)
  for (const [place, word, similarity] of hits) window.add(place, word, similarity)
  return window.best()
}

test('words count together within forty terms, and no further', () => {
  assert.equal(bestOf([]), 0)
  const together: [number, number, number][] = [
    [7, 0, 1],
    [46, 1, 1],
  ]
  assert.equal(bestOf(together), 5)
  const apart: [number, number, number][] = [
    [7, 0, 1],
    [47, 1, 1],
  ]
  assert.equal(bestOf(apart), 3)
})

test('groups of characters reach twice as far, since each is a part of a word', () => {
  const hits = (place: number): [number, number, number][] => [
    [0, 2, 1],
    [place, 1, 1],
  ]
  assert.equal(bestOf(hits(79)), 7)
  assert.equal(bestOf(hits(80)), 5)
})

test('a word counts once, with its highest similarity, however often it occurs', () => {
  const hits: [number, number, number][] = [
    [1, 0, 0.5],
    [2, 0, 1],
    [3, 0, 0.8],
    [4, 1, 0.5],
  ]
  assert.equal(bestOf(hits), 4)
})

test('clearing a chunk leaves no hits for the next', () => {
  const window = createWindow(words)
  window.add(1, 0, 1)
  window.best()
  window.clear()
  assert.equal(window.best(), 0)
  window.add(1, 1, 1)
  assert.equal(window.best(), 2)
})

test('finds the best passage like a search over all beginnings, and a repeated hit changes nothing', () => {
  const hit = fc.record({
    gap: fc.nat({ max: 50 }),
    word: fc.nat({ max: 1 }),
    similarity: fc.constantFrom(0.6, 0.95, 1),
  })
  fc.assert(
    fc.property(fc.array(hit, { maxLength: 40 }), (gaps) => {
      let place = 0
      const hits = gaps.map(({ gap, word, similarity }) => {
        place += gap
        return { place, word, similarity }
      })
      const expected = hits.map(({ place: from }) => {
        const within = hits.filter(({ place }) => place >= from && place < from + 40)
        return [0, 1].reduce((sum, word) => {
          const likenesses = within
            .filter((one) => one.word === word)
            .map(({ similarity }) => similarity)
          return sum + (words[word]?.weight ?? 0) * Math.max(0, ...likenesses)
        }, 0)
      })
      const window = createWindow(words)
      for (const { place, word, similarity } of hits) window.add(place, word, similarity)
      const best = window.best()
      assert.ok(Math.abs(best - Math.max(0, ...expected)) < 1e-9)
      assert.equal(window.best(), best)
    }),
  )
})

test('bounds a chunk of one repeated word', () => {
  const window = createWindow(words)
  for (let place = 0; place < 100_000; place++) window.add(place, 0, 1)
  window.add(100_000, 1, 1)
  assert.equal(window.best(), 3)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countingPieces, type PieceCounter, readPieces } from './pieces.ts'
import { eachTerm } from './terms.ts'
import { WordIndex } from './word-index.ts'

function shelfOf(texts: string[]): WordIndex {
  const shelf = new WordIndex()
  for (const text of texts) shelf.add(text)
  return shelf
}

function asked(shelf: WordIndex, question: string, stops: string[] = []) {
  const words: { name: string; isStop: boolean }[] = []
  eachTerm(question, (name) => words.push({ name, isStop: stops.includes(name) }))
  return readPieces(shelf, words)
}

/** Returns each chunk's score by the question's n-grams. */
function sumsOf(shelf: WordIndex, question: string): number[] {
  const takeChunk = (counter: PieceCounter, slot: number) => {
    for (let i = shelf.starts[slot] as number; i < (shelf.starts[slot + 1] as number); i++)
      counter.add(shelf.sequence[i] as number)
    return counter.take(1.2, 1.2)
  }
  return countingPieces(shelf, asked(shelf, question), (counter) =>
    Array.from({ length: shelf.slots }, (_, slot) => takeChunk(counter, slot)),
  )
}

test('a compound and an inflected form share n-grams with the word, another word shares none', () => {
  const shelf = shelfOf(['Steuererklärung', 'Versteuerung der Zinsen', 'Kuchen backen'])
  const [compound, inflected, other] = sumsOf(shelf, 'Steuern')
  assert.ok((compound as number) > 0)
  assert.ok((inflected as number) > 0)
  assert.equal(other, 0)
})

test('accents do not matter, and counts of one chunk do not affect the next', () => {
  const shelf = shelfOf(['résumé', 'resume', 'nothing'])
  const [first, second, last] = sumsOf(shelf, 'resumé')
  assert.ok((first as number) > 0)
  assert.equal(first, second)
  assert.equal(last, 0)
})

test('a rarer n-gram weighs more, and each repetition adds less', () => {
  const shelf = shelfOf(['lighthouse', 'harbour', 'harbour', 'harbour', 'harbour harbour harbour'])
  const [rare] = sumsOf(shelf, 'lighthouse')
  const [, once, , , often] = sumsOf(shelf, 'harbour')
  assert.ok((rare as number) > (once as number))
  assert.ok((often as number) > (once as number))
  assert.ok((often as number) < 2.2 * (once as number))
})

test('n-grams without a match raise the ceiling by less, and those of a stop word weigh less', () => {
  const shelf = shelfOf(['lighthouse keepers', 'the harbour'])
  const { weights, ceiling, length } = asked(shelf, 'xylophone')
  assert.equal(length, 0)
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  assert.ok(ceiling > 0 && ceiling < whole / 2)
  assert.equal(
    asked(shelf, 'lighthouse').ceiling,
    asked(shelf, 'lighthouse').weights.reduce((sum, w) => sum + w, 0),
  )
  assert.ok(
    (asked(shelf, 'the', ['the']).weights[0] as number) <
      (asked(shelf, 'the').weights[0] as number),
  )
})

test('a repeated word counts its n-grams once; grouped scripts and endless words have none', () => {
  const shelf = shelfOf(['harbour toll', '港口收费'])
  assert.deepEqual(asked(shelf, 'harbour harbour').weights, asked(shelf, 'harbour').weights)
  assert.deepEqual(asked(shelf, '港口').weights, [])
  assert.deepEqual(asked(shelf, 'a'.repeat(41)).weights, [])
})

test('a failure while counting leaves no counts for the next question', () => {
  const shelf = shelfOf(['harbour toll', 'harbour'])
  const before = sumsOf(shelf, 'harbour')
  const pieces = asked(shelf, 'harbour toll')
  assert.throws(
    () =>
      countingPieces(shelf, pieces, (counter) => {
        counter.add(shelf.sequence[0] as number)
        throw new Error('gone')
      }),
    /gone/,
  )
  assert.deepEqual(sumsOf(shelf, 'harbour'), before)
})

test('leaves out an n-gram of thousands of words', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const words: string[] = []
  for (const a of letters)
    for (const b of letters) for (const c of letters) words.push(`harbour${a}${b}${c}`)
  const shelf = shelfOf([words.join(' ')])
  assert.ok(shelf.wordCountOf('harb') > 5_000)
  // An n-gram in so many words is an ending or a beginning. `our_` is in one: harbourour.
  const { length, weights } = asked(shelf, 'harbour')
  assert.equal(length, 1)
  assert.equal(weights.length, 1)
})

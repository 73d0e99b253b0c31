import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NgramCounter, readNgrams, withNgramCounter } from './ngrams.ts'
import { eachTerm } from './terms.ts'
import { WordIndex } from './word-index.ts'

function buildIndex(texts: string[]): WordIndex {
  const index = new WordIndex()
  for (const text of texts) index.add(text)
  return index
}

function readQuestionNgrams(index: WordIndex, question: string, stops: string[] = []) {
  const words: { name: string; isStop: boolean }[] = []
  eachTerm(question, (name) => words.push({ name, isStop: stops.includes(name) }))
  return readNgrams(index, words)
}

/** Returns each chunk's score by the question's n-grams. */
function computeSums(index: WordIndex, question: string): number[] {
  const takeChunk = (counter: NgramCounter, slot: number) => {
    for (let i = index.starts[slot] as number; i < (index.starts[slot + 1] as number); i++)
      counter.add(index.sequence[i] as number)
    return counter.take(1.2, 1.2)
  }
  return withNgramCounter(index, readQuestionNgrams(index, question), (counter) =>
    Array.from({ length: index.slots }, (_, slot) => takeChunk(counter, slot)),
  )
}

test('a compound and an inflected form share n-grams with the word, another word shares none', () => {
  const index = buildIndex(['Steuererklärung', 'Versteuerung der Zinsen', 'Kuchen backen'])
  const [compound, inflected, other] = computeSums(index, 'Steuern')
  assert.ok((compound as number) > 0)
  assert.ok((inflected as number) > 0)
  assert.equal(other, 0)
})

test('accents do not matter, and counts of one chunk do not affect the next', () => {
  const index = buildIndex(['résumé', 'resume', 'nothing'])
  const [first, second, last] = computeSums(index, 'resumé')
  assert.ok((first as number) > 0)
  assert.equal(first, second)
  assert.equal(last, 0)
})

test('a rarer n-gram weighs more, and each repetition adds less', () => {
  const index = buildIndex([
    'lighthouse',
    'harbour',
    'harbour',
    'harbour',
    'harbour harbour harbour',
  ])
  const [rare] = computeSums(index, 'lighthouse')
  const [, once, , , often] = computeSums(index, 'harbour')
  assert.ok((rare as number) > (once as number))
  assert.ok((often as number) > (once as number))
  assert.ok((often as number) < 2.2 * (once as number))
})

test('n-grams without a match raise the ceiling by less, and those of a stop word weigh less', () => {
  const index = buildIndex(['lighthouse keepers', 'the harbour'])
  const { weights, ceiling, length } = readQuestionNgrams(index, 'xylophone')
  assert.equal(length, 0)
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  assert.ok(ceiling > 0 && ceiling < whole / 2)
  assert.equal(
    readQuestionNgrams(index, 'lighthouse').ceiling,
    readQuestionNgrams(index, 'lighthouse').weights.reduce((sum, w) => sum + w, 0),
  )
  assert.ok(
    (readQuestionNgrams(index, 'the', ['the']).weights[0] as number) <
      (readQuestionNgrams(index, 'the').weights[0] as number),
  )
})

test('a repeated word counts its n-grams once; grouped scripts and endless words have none', () => {
  const index = buildIndex(['harbour toll', '港口收费'])
  assert.deepEqual(
    readQuestionNgrams(index, 'harbour harbour').weights,
    readQuestionNgrams(index, 'harbour').weights,
  )
  assert.deepEqual(readQuestionNgrams(index, '港口').weights, [])
  assert.deepEqual(readQuestionNgrams(index, 'a'.repeat(41)).weights, [])
})

test('a failure while counting leaves no counts for the next question', () => {
  const index = buildIndex(['harbour toll', 'harbour'])
  const before = computeSums(index, 'harbour')
  const ngrams = readQuestionNgrams(index, 'harbour toll')
  assert.throws(
    () =>
      withNgramCounter(index, ngrams, (counter) => {
        counter.add(index.sequence[0] as number)
        throw new Error('gone')
      }),
    /gone/,
  )
  assert.deepEqual(computeSums(index, 'harbour'), before)
})

test('leaves out an n-gram of thousands of words', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const words: string[] = []
  for (const a of letters)
    for (const b of letters) for (const c of letters) words.push(`harbour${a}${b}${c}`)
  const index = buildIndex([words.join(' ')])
  assert.ok(index.countWords('harb') > 5_000)
  // An n-gram in so many words is an ending or a beginning. `our_` is in one: harbourour.
  const { length, weights } = readQuestionNgrams(index, 'harbour')
  assert.equal(length, 1)
  assert.equal(weights.length, 1)
})

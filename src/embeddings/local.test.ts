import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { localEmbedder } from '#embeddings/local.ts'
import { countSubjectWords, findStem, readTerms } from '#embeddings/terms.ts'

const patient = new AbortController().signal

test('vectors are of length 1, or 0 for a text without words', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
      const { vectors } = await localEmbedder.embed([text], 'document', patient)
      const length = Math.hypot(...(vectors[0] as Float32Array))
      assert.ok(length === 0 || Math.abs(length - 1) < 1e-4, String(length))
    }),
  )
})

test('texts about the same are nearer than others', async () => {
  const { vectors } = await localEmbedder.embed(
    [
      'When was the lighthouse built?',
      'The lighthouses were built in 1882.',
      'Bread rises because of yeast.',
    ],
    'document',
    patient,
  )
  const [question, answer, other] = vectors as [Float32Array, Float32Array, Float32Array]
  const cosine = (a: Float32Array, b: Float32Array) =>
    a.reduce((sum, value, i) => sum + value * (b[i] as number), 0)
  assert.ok(cosine(question, answer) > cosine(question, other) + 0.1)
})

const stems: [string, string][] = [
  ['cancelled', 'cancel'],
  ['pinguinos', 'pinguino'],
  ['bibliotheken', 'bibliothek'],
  ['houses', 'house'],
  ['пингвины', 'пингвин'],
]
for (const [one, other] of stems) {
  test(`${one} and ${other} share their stem or most pieces`, () => {
    const [a, b] = [readTerms(one), readTerms(other)]
    const shared = [...a.keys()].filter((feature) => b.has(feature)).length
    assert.ok(findStem(one) === findStem(other) || shared >= Math.min(a.size, b.size) / 2)
  })
}

test('counts the words that carry a question’s subject', () => {
  for (const [question, words] of [
    ['By whom?', 0],
    ['by whom', 0],
    ['For how long?', 0],
    ['And for how many weeks?', 0],
    ['Und wie lange?', 0],
    ['Pendant combien de temps ?', 0],
    ['¿Cuánto tiempo?', 0],
    ['Сколько времени?', 0],
    ['なぜ？', 0],
    ['为什么？', 0],
    ['Is it paid?', 1],
    ['Who is Bob?', 1],
    ['How old is the universe?', 1],
    ['Why is the sky blue?', 2],
    ['谁付钱？', 1],
    ['Tell me more about it.', 0],
    ['Thanks!', Infinity],
    ['No.', Infinity],
    ['Tell me a joke', Infinity],
  ] as const) {
    assert.equal(countSubjectWords(question), words, question)
  }
})

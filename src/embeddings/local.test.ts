import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Idf, packFrequencies, subtractFrequencies, sumFrequencies } from '#embeddings/idf.ts'
import { lexical, localEmbedder } from '#embeddings/local.ts'
import { stemOf, subjectWords, termsOf } from '#embeddings/terms.ts'

const patient = new AbortController().signal

/** Pairs of a question and the text that answers it, in languages and forms that differ between the two. */
const answered: [string, string][] = [
  ['When was the lighthouse built?', 'The lighthouses on this coast were all built in 1882 and 1883.'],
  ['How do I cancel my subscription?', 'Subscriptions can be cancelled at any time from the billing page.'],
  [
    'Wie hoch sind die Steuern?',
    'Die Steuer beträgt neunzehn Prozent. Wer eine Steuererklärung abgibt, bekommt oft etwas zurück.',
  ],
  ['¿Dónde viven los pingüinos?', 'El pingüino emperador vive en la Antártida, sobre el hielo.'],
  ['Où se trouve la bibliothèque ?', 'La bibliothèque municipale se trouve derrière la gare.'],
  ['企鹅住在哪里？', '帝企鹅生活在南极洲的冰上，以鱼为食。'],
  ['ペンギンはどこに住んでいますか', 'ペンギンは南極に住んでいる鳥です。'],
  ['Где живут пингвины?', 'Императорские пингвины живут в Антарктиде.'],
]
const corpus = answered.map(([, text]) => text)

async function corpusIdf(): Promise<Idf> {
  const idf = new Idf()
  const { frequencies } = await localEmbedder.embed(corpus, 'document', patient)
  idf.add(frequencies ?? new Uint8Array(0), corpus.length)
  return idf
}

for (const [question, text] of answered) {
  test(`finds the answer to: ${question}`, async () => {
    const scoreOf = lexical.scorer(question, await corpusIdf())
    const scores = corpus.map(scoreOf)

    assert.equal(Math.max(...scores), scoreOf(text))
    assert.ok(scoreOf(text) >= 0.5, `${scoreOf(text)} for the answer`)
    for (const other of corpus) if (other !== text) assert.ok(scoreOf(other) < 0.5, `${scoreOf(other)} for ${other}`)
  })
}

test('scores and vectors keep their bounds for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (query, text) => {
      const idf = new Idf()
      const score = lexical.scorer(query, idf)(text)
      assert.ok(score >= 0 && score <= 1, String(score))
      const length = Math.hypot(...lexical.queryVector(query, idf))
      assert.ok(length === 0 || Math.abs(length - 1) < 1e-4, String(length))
    }),
  )
})

test('a text is nearest to itself', () => {
  const scoreOf = lexical.scorer(corpus[1] ?? '', new Idf())

  assert.ok(scoreOf(corpus[1] ?? '') > 0.99)
})

test('a longer chunk around the same answer scores about the same', () => {
  const filler = 'Harvest festivals were held in the valley whenever the grapes had ripened. '
  const scoreOf = lexical.scorer('How do I cancel my subscription?', new Idf())
  const around = (count: number) => scoreOf(`${filler.repeat(count)}\n\n${corpus[1]}\n\n${filler.repeat(count)}`)

  assert.ok(around(4) >= 0.5)
  assert.ok(Math.abs(around(60) - around(4)) < 0.05, `${around(4)} and ${around(60)}`)
})

test('scoring one text leaves nothing behind for the next', () => {
  const scoreOf = lexical.scorer('How do I cancel my subscription?', new Idf())
  const alone = scoreOf(corpus[1] ?? '')
  for (const text of corpus) scoreOf(text)

  assert.equal(scoreOf(corpus[1] ?? ''), alone)
})

const frequencies = fc.array(fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { maxLength: 30 }), { maxLength: 20 })

test('idf forgets what it is told to forget', () => {
  fc.assert(
    fc.property(frequencies, frequencies, (a, b) => {
      const both = new Idf()
      both.add(packFrequencies(a), a.length)
      both.add(packFrequencies(b), b.length)
      both.remove(packFrequencies(b), b.length)
      const alone = new Idf()
      alone.add(packFrequencies(a), a.length)
      for (const feature of [...a.flat(), ...b.flat()]) assert.equal(both.weight(feature), alone.weight(feature))
    }),
  )
})

test('document frequencies add up and come off', () => {
  fc.assert(
    fc.property(frequencies, frequencies, (a, b) => {
      const sum = sumFrequencies([packFrequencies(a), packFrequencies(b)])
      assert.deepEqual(sum, packFrequencies([...a, ...b]))
      assert.deepEqual(subtractFrequencies(sum, packFrequencies(b)), packFrequencies(a))
    }),
  )
})

test('a word that is in every chunk weighs less than one that is in few', async () => {
  const idf = new Idf()
  const texts = Array.from({ length: 200 }, (_, i) => (i === 7 ? 'common unicorn' : 'common'))
  const embedded = await localEmbedder.embed(texts, 'document', patient)
  idf.add(embedded.frequencies ?? new Uint8Array(0), texts.length)
  const [common = 0] = termsOf('common').keys()
  const [rare = 0] = termsOf('unicorn').keys()

  assert.ok(idf.weight(rare) > idf.weight(common) * 3)
  assert.ok(idf.weight(common) > 0)
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
    const [a, b] = [termsOf(one), termsOf(other)]
    const shared = [...a.keys()].filter((feature) => b.has(feature)).length
    assert.ok(stemOf(one) === stemOf(other) || shared >= Math.min(a.size, b.size) / 2)
  })
}

test('a question tells how many words say what it is about', () => {
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
    assert.equal(subjectWords(question), words, question)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Citation, CitationCheck } from './citations.ts'

const LIGHTHOUSE =
  'The lighthouse of Porto Calvo was built in 1882 by the engineer Amélie Duroc. The lens, made in Paris, weighs two tonnes. Adults pay 1,250.50 euros for a year.'
const LEASE =
  'Der Mieter kann mit einer Frist von drei Monaten kündigen. Die Kaution beträgt 3.750 Euro und wird nach dem Auszug zurückgezahlt.'
const PENGUINS = '帝企鹅生活在南极洲的冰上，以鱼为食。'
const passages = [LIGHTHOUSE, LEASE, PENGUINS]

/** A document that is one chunk. */
const whole = (text: string) => ({
  text,
  pieces: [{ at: 0, start: 0, end: text.length, pages: [] }],
})

function checked(
  answer: string,
  { known = '', step = answer.length }: { known?: string; step?: number } = {},
) {
  const check = new CitationCheck(passages.map(whole), known)
  let text = ''
  for (let at = 0; at < answer.length; at += step) text += check.push(answer.slice(at, at + step))
  text += check.end()
  return { text, citations: check.citations() }
}

const said = ({ text, citations }: { text: string; citations: Citation[] }) =>
  citations.map(({ source, start, end, supported }) => [source, supported, text.slice(start, end)])

/** The answer as the model writes it, and as it is shown. */
const kept: [name: string, answer: string][] = [
  ['as it stands', 'The lighthouse was built in 1882 [1].'],
  ['in other forms of its words', 'Engineer Duroc built the lighthouses in 1882 [1].'],
  ['a mark behind the stop', 'It was built in 1882. [1] More is not said.'],
  ['a mark of its own line', 'The lens weighs two tonnes.\n[1]'],
  ['a number in words, and digits', 'The lens weighs 2 tonnes [1].'],
  ['a number with other marks', 'A year costs 1250.50 euros for adults [1].'],
  [
    'two statements of two sources',
    'The lighthouse was built in 1882 [1], die Kaution beträgt 3750 Euro [2].',
  ],
  ['a mark before its statement', 'According to [1], the lighthouse was built in 1882.'],
  [
    'in another language',
    'Der Leuchtturm ist im Jahre 1882 gebaut worden, und zwar von der Ingenieurin Duroc [1].',
  ],
  ['in Chinese', '帝企鹅生活在南极洲，吃鱼[3]。'],
  ['in a list', '1. The lens was made in Paris [1]\n2. Die Frist beträgt drei Monate [2]\n'],
]
for (const [name, answer] of kept) {
  test(`keeps the mark: ${name}`, () => {
    const result = checked(answer)
    assert.equal(result.text, answer)
    assert.ok(
      result.citations.length > 0 && result.citations.every(({ supported }) => supported),
      answer,
    )
  })
}

const dropped: [name: string, answer: string, shown: string][] = [
  ['another number', 'The lighthouse was built in 1883 [1].', 'The lighthouse was built in 1883.'],
  [
    'another name',
    'The lighthouse was built by Mallory [1].',
    'The lighthouse was built by Mallory.',
  ],
  ['another passage', 'The lighthouse was built in 1882 [2].', 'The lighthouse was built in 1882.'],
  ['no passage', 'The lighthouse was built in 1882 [7].', 'The lighthouse was built in 1882.'],
  [
    'one of two',
    'The lighthouse was built in 1882 [1][2].',
    'The lighthouse was built in 1882 [1].',
  ],
  [
    'of one mark',
    'The lighthouse was built in 1882 [1, 3].',
    'The lighthouse was built in 1882 [1].',
  ],
  [
    'other words',
    'Wire the money to the account of the landlord today [1].',
    'Wire the money to the account of the landlord today.',
  ],
  [
    'only the false half',
    'The lighthouse was built in 1882 [1] and sold in 1990 [1].',
    'The lighthouse was built in 1882 [1] and sold in 1990.',
  ],
  [
    'a number in another language',
    'Der Leuchtturm ist im Jahre 1999 gebaut worden, und das weiß man auch [1].',
    'Der Leuchtturm ist im Jahre 1999 gebaut worden, und das weiß man auch.',
  ],
  [
    'a date moved behind the stop',
    'The lighthouse was built in 1999. [1] Nobody knows.',
    'The lighthouse was built in 1999. Nobody knows.',
  ],
]
for (const [name, answer, shown] of dropped) {
  test(`removes the mark: ${name}`, () => {
    const result = checked(answer)
    assert.equal(result.text, shown)
    assert.ok(result.citations.some(({ supported }) => !supported))
  })
}

test('an answer may repeat the question’s names, which the passage lacks, but not another number', () => {
  const known = 'Did Admiral Nelson ever see the lighthouse that was built in 1990?'
  assert.match(
    checked('The lighthouse that Nelson may have seen was built in 1882 [1].', { known }).text,
    /\[1\]/,
  )
  assert.doesNotMatch(checked('The lighthouse was built in 1990 [1].', { known }).text, /\[1\]/)
})

test('returns the place of a statement in the shown text', () => {
  const answer =
    'It is old. The lighthouse was built in 1999 [1]. The lens weighs two tonnes [1] and was made in Paris [1].'
  assert.deepEqual(said(checked(answer)), [
    [1, false, 'The lighthouse was built in 1999'],
    [1, true, 'The lens weighs two tonnes [1]'],
    [1, true, 'and was made in Paris [1]'],
  ])
})

test('code and links are not citations', () => {
  for (const answer of [
    '`a[1]` is code.',
    '```\nbuilt[1] = 1999\n```\nThe end.',
    'See [1](https://x.example/1999) for 1999.',
    '[1]: https://x.example',
    'An array [a, b], a [link](https://x.example), an open [1',
    'Nothing [here] [12345].',
  ]) {
    const result = checked(answer)
    assert.deepEqual([result.text, result.citations], [answer, []])
  }
})

test('shows words at once, and a mark only with the end of its sentence', () => {
  const check = new CitationCheck(passages.map(whole), '')
  assert.equal(check.push('The lighthouse was built in 1882 '), 'The lighthouse was built in 1882')
  assert.equal(check.push('[1'), '')
  assert.equal(check.push('] by Duroc'), '')
  assert.equal(check.push('. The'), ' [1] by Duroc. The')
  assert.equal(check.push(' end'), ' end')
  assert.equal(check.end(), '')
})

test('shows and reports the same however the answer is split', () => {
  const answers = [...kept.map(([, answer]) => answer), ...dropped.map(([, answer]) => answer)]
  const long = answers.join(' ')
  fc.assert(
    fc.property(
      fc.constantFrom(...answers, long, answers.join('\n')),
      fc.integer({ min: 1, max: 40 }),
      (answer, step) => {
        assert.deepEqual(checked(answer, { step }), checked(answer))
      },
    ),
  )
})

test('removes only marks and the spaces before them', () => {
  const pieces = fc.constantFrom(
    '[1]',
    '[2, 9]',
    '【3】',
    '[',
    ']',
    '`',
    '```',
    '\n',
    '. ',
    'built in 1882',
    '。',
    ' ',
    'word',
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof(pieces, fc.string({ unit: 'grapheme' })), { maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      (parts, step) => {
        const answer = parts.join('')
        const { text, citations } = checked(answer, { step })
        const bare = (one: string) => one.replace(/[\s\d,;[\]【】†]/g, '')
        assert.equal(bare(text), bare(answer))
        for (const { start, end } of citations)
          assert.ok(start >= 0 && start <= end && end <= text.length)
      },
    ),
  )
})

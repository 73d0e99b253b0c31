import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isCourtesyOnly, rankMessage, readMessage, scoreMessage } from './message.ts'
import { rank, readQuestion } from './ranking.ts'
import { WordIndex } from './word-index.ts'

const read: [message: string, subject: string, sentences: string[]][] = [
  ['Who built it?', 'Who built it?', []],
  ['Hello! Who built the lighthouse? Thanks a lot!', 'Who built the lighthouse?', []],
  [
    'Good morning, according to my files, who built the lighthouse?',
    'who built the lighthouse?',
    [],
  ],
  [
    'Wer baute den Leuchtturm? Bitte antworte kurz und nenne die Quelle.',
    'Wer baute den Leuchtturm?',
    [],
  ],
  ['你好！请问，谁建造了灯塔？谢谢！', '谁建造了灯塔？', []],
  [
    'My boss needs a report on the coast. Who built the lighthouse? Answer in two sentences.',
    'My boss needs a report on the coast. Who built the lighthouse?',
    ['Who built the lighthouse?'],
  ],
  [
    'We plan a trip. Tell me how tickets are paid.',
    'We plan a trip. Tell me how tickets are paid.',
    ['Tell me how tickets are paid.'],
  ],
  [
    'Who built the lighthouse? When was the harbour dug?',
    'Who built the lighthouse? When was the harbour dug?',
    ['Who built the lighthouse?', 'When was the harbour dug?'],
  ],
  ['안녕하세요! 등대를 누가 지었습니까? 감사합니다.', '등대를 누가 지었습니까?', []],
  ['Thanks a lot!', 'Thanks a lot!', []],
  ['lighthouse', 'lighthouse', []],
  ['', '', []],
]
for (const [message, subject, sentences] of read) {
  test(`reads: ${message}`, () => {
    const found = readMessage(message)
    assert.equal(found.subject.trim(), subject)
    assert.deepEqual(
      found.sentences.map((sentence) => sentence.trim()),
      sentences,
    )
  })
}

test('a greeting has no question; a text with a subject or a searchable word has one', () => {
  for (const message of [
    'Thanks a lot!',
    'Hello',
    'Answer as JSON',
    'Please answer in two sentences and cite your source.',
    'Danke!',
    '谢谢',
    'ありがとうございます',
    '감사합니다',
    'Спасибо!',
  ])
    assert.equal(isCourtesyOnly(message), true, message)
  for (const message of [
    'JSON',
    'sources',
    'And why?',
    'Is it paid?',
    'Thanks, and who built it in 1882?',
    'What is it?',
    '为什么？',
    '',
    'lighthouse',
  ])
    assert.equal(isCourtesyOnly(message), false, message)
})

const TEXTS = [
  'The lighthouse of Porto Calvo was built in 1882 by Amélie Duroc.',
  'The harbour was dug by hand in nine winters.',
  'Tickets are paid at the office beside the crane.',
  'My boss plans the agenda of the meeting on Thursday.',
]
const index = new WordIndex()
for (const text of TEXTS) index.add(text)
const open = new Uint8Array(TEXTS.length).fill(1)

test('a question scores the same within a longer message as alone', () => {
  const question = 'Who built the lighthouse of Porto Calvo?'
  const [plain] = rank(index, readQuestion(index, question), open, 1)
  const message = readMessage(
    `I am writing about the coast for a magazine of sailors. ${question} Please be brief.`,
  )
  const [phrased] = rankMessage(index, message, open, 4)
  assert.deepEqual(phrased, plain)
  assert.deepEqual(scoreMessage(index, message, [0])[0], plain)
})

test('each of several questions finds its text', () => {
  const found = rankMessage(
    index,
    readMessage('Who built the lighthouse? How is a ticket paid?'),
    open,
    4,
  )
  assert.deepEqual(
    new Set(found.filter(({ score }) => score >= 0.5).map(({ slot }) => slot)),
    new Set([0, 2]),
  )
})

test('a message of one sentence is ranked as a whole, and no message fails', () => {
  for (const question of TEXTS) {
    assert.deepEqual(
      rankMessage(index, readMessage(question), open, 4),
      rank(index, readQuestion(index, question), open, 4),
    )
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const { sentences } = readMessage(text)
      assert.ok(sentences.length <= 6)
      rankMessage(index, readMessage(text), open, 4)
    }),
  )
})

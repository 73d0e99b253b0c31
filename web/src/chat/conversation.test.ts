import assert from 'node:assert/strict'
import test from 'node:test'
import {
  buildChatRequest,
  buildTitle,
  canContinue,
  cutAfterLastQuestion,
  rewriteQuestion,
  type Turn,
} from './conversation.ts'

const settings = {
  provider: undefined,
  model: undefined,
  modelMaxTokens: undefined,
  temperature: 0.7,
  maxTokens: null,
  instructions: '',
}
const turns: Turn[] = [
  { id: '1', role: 'user', content: 'What is a latch?' },
  { id: '2', role: 'assistant', content: 'A kind of lock.', ending: { kind: 'complete' } },
  { id: '3', role: 'user', content: 'And a key?' },
  {
    id: '4',
    role: 'assistant',
    content: '',
    ending: { kind: 'failed', detail: 'openai is overloaded', code: null },
  },
]

test('an answer that never came is not sent back to the vendor', () => {
  assert.deepEqual(
    buildChatRequest(turns, settings).messages.map((message) => message.content),
    ['What is a latch?', 'A kind of lock.', 'And a key?'],
  )
})

test('instructions go first, as the system; provider and model only when chosen', () => {
  const body = buildChatRequest(turns, {
    ...settings,
    instructions: ' Be brief. ',
    provider: 'gemini',
  })
  assert.deepEqual(body.messages[0], { role: 'system', content: 'Be brief.' })
  assert.equal(body.provider, 'gemini')
  assert.equal('model' in body, false)
})

test('the answer may be as long as the reader says, else as the model can; a model that is not known is not asked for more than it may have', () => {
  assert.equal(
    buildChatRequest(turns, { ...settings, maxTokens: 300, modelMaxTokens: 16_384 }).max_tokens,
    300,
  )
  assert.equal(buildChatRequest(turns, { ...settings, modelMaxTokens: 8_192 }).max_tokens, 8_192)
  assert.equal('max_tokens' in buildChatRequest(turns, settings), false)
})

test('how an answer ended is asked for', () => {
  assert.equal(buildChatRequest(turns, settings).include_usage, true)
})

test('continuing says so behind the answer that broke off, and to the model alone', () => {
  const cut: Turn[] = [
    { id: '1', role: 'user', content: 'Count to ten' },
    { id: '2', role: 'assistant', content: 'One, two, th', ending: { kind: 'length' } },
  ]
  const { messages } = buildChatRequest(cut, settings, { continuing: true })
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'user'],
  )
  assert.equal(messages[1]?.content, 'One, two, th')
  assert.match(messages[2]?.content ?? '', /exactly where it stopped/)
  assert.equal(canContinue(cut), true)
  assert.equal(canContinue(turns), false, 'an answer without a word is answered again')
  assert.equal(canContinue(turns.slice(0, 2)), false, 'a whole answer is whole')
  assert.equal(canContinue([]), false)
})

test('a retry answers the last question again', () => {
  assert.deepEqual(
    cutAfterLastQuestion(turns).map((turn) => turn.id),
    ['1', '2', '3'],
  )
  assert.deepEqual(cutAfterLastQuestion([]), [])
})

test('editing a question drops what came after it', () => {
  assert.deepEqual(rewriteQuestion(turns, '1', 'What is a bolt?'), [
    { id: '1', role: 'user', content: 'What is a bolt?' },
  ])
  assert.equal(rewriteQuestion(turns, 'unknown', 'x'), turns)
})

test('a conversation is called by the first line of its first question', () => {
  assert.equal(buildTitle({ id: 'c', updatedAt: '', turns }), 'What is a latch?')
  assert.equal(
    buildTitle({
      id: 'c',
      updatedAt: '',
      turns: [{ id: '1', role: 'user', content: `${'x'.repeat(80)}\ny` }],
    }).length,
    60,
  )
  assert.equal(buildTitle({ id: 'c', updatedAt: '', turns: [] }), 'Empty conversation')
})

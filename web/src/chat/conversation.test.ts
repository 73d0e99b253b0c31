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

test('an empty answer is not sent to the vendor', () => {
  assert.deepEqual(
    buildChatRequest(turns, settings).messages.map((message) => message.content),
    ['What is a latch?', 'A kind of lock.', 'And a key?'],
  )
})

test('instructions come first; provider and model are sent only when chosen', () => {
  const body = buildChatRequest(turns, {
    ...settings,
    instructions: ' Be brief. ',
    provider: 'gemini',
  })
  assert.deepEqual(body.messages[0], { role: 'system', content: 'Be brief.' })
  assert.equal(body.provider, 'gemini')
  assert.equal('model' in body, false)
})

test('sends the user’s length limit, otherwise the model’s, and none for unknown models', () => {
  assert.equal(
    buildChatRequest(turns, { ...settings, maxTokens: 300, modelMaxTokens: 16_384 }).max_tokens,
    300,
  )
  assert.equal(buildChatRequest(turns, { ...settings, modelMaxTokens: 8_192 }).max_tokens, 8_192)
  assert.equal('max_tokens' in buildChatRequest(turns, settings), false)
})

test('the request asks for usage', () => {
  assert.equal(buildChatRequest(turns, settings).include_usage, true)
})

test('continuing adds a hidden message after the incomplete answer', () => {
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
  assert.equal(canContinue(turns), false, 'an empty answer cannot be continued')
  assert.equal(canContinue(turns.slice(0, 2)), false, 'a complete answer cannot be continued')
  assert.equal(canContinue([]), false)
})

test('a retry answers the last question again', () => {
  assert.deepEqual(
    cutAfterLastQuestion(turns).map((turn) => turn.id),
    ['1', '2', '3'],
  )
  assert.deepEqual(cutAfterLastQuestion([]), [])
})

test('editing a question removes later turns', () => {
  assert.deepEqual(rewriteQuestion(turns, '1', 'What is a bolt?'), [
    { id: '1', role: 'user', content: 'What is a bolt?' },
  ])
  assert.equal(rewriteQuestion(turns, 'unknown', 'x'), turns)
})

test('a conversation’s title is the first line of its first question', () => {
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

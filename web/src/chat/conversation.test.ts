import assert from 'node:assert/strict'
import test from 'node:test'
import { chatBody, rewritten, type Turn, titleOf, upToLastQuestion } from './conversation.ts'

const settings = { provider: undefined, model: undefined, temperature: 0.7, maxTokens: 1000, instructions: '' }
const turns: Turn[] = [
  { id: '1', role: 'user', content: 'What is a latch?' },
  { id: '2', role: 'assistant', content: 'A kind of lock.', ending: { kind: 'complete' } },
  { id: '3', role: 'user', content: 'And a key?' },
  { id: '4', role: 'assistant', content: '', ending: { kind: 'failed', detail: 'openai is overloaded' } },
]

test('an answer that never came is not sent back to the vendor', () => {
  assert.deepEqual(
    chatBody(turns, settings).messages.map((message) => message.content),
    ['What is a latch?', 'A kind of lock.', 'And a key?'],
  )
})

test('instructions go first, as the system; provider and model only when chosen', () => {
  const body = chatBody(turns, { ...settings, instructions: ' Be brief. ', provider: 'gemini' })
  assert.deepEqual(body.messages[0], { role: 'system', content: 'Be brief.' })
  assert.equal(body.provider, 'gemini')
  assert.equal('model' in body, false)
})

test('a retry answers the last question again', () => {
  assert.deepEqual(
    upToLastQuestion(turns).map((turn) => turn.id),
    ['1', '2', '3'],
  )
  assert.deepEqual(upToLastQuestion([]), [])
})

test('editing a question drops what came after it', () => {
  assert.deepEqual(rewritten(turns, '1', 'What is a bolt?'), [{ id: '1', role: 'user', content: 'What is a bolt?' }])
  assert.equal(rewritten(turns, 'unknown', 'x'), turns)
})

test('a conversation is called by the first line of its first question', () => {
  assert.equal(titleOf({ id: 'c', updatedAt: '', turns }), 'What is a latch?')
  assert.equal(
    titleOf({ id: 'c', updatedAt: '', turns: [{ id: '1', role: 'user', content: `${'x'.repeat(80)}\ny` }] }).length,
    60,
  )
  assert.equal(titleOf({ id: 'c', updatedAt: '', turns: [] }), 'Empty conversation')
})

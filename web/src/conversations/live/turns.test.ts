import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../api.ts'
import type { LiveState } from './live-answer.ts'
import { isQuestionStored } from './turns.ts'

const parts = [{ type: 'text' as const, text: 'When?' }]
const branch = (id: string) => [
  { id: 'a', role: 'assistant' } as Message,
  { id, role: 'user', parts } as Message,
]

test('a question that is sent again unchanged differs from its old sibling', () => {
  const state = { answerId: null, afterId: 'a', question: parts } as LiveState
  const knownIds = new Set(['a', 'old'])
  assert.equal(isQuestionStored(branch('new'), knownIds, state), true)
  assert.equal(isQuestionStored(branch('old'), knownIds, state), false)
  assert.equal(isQuestionStored(branch('new'), knownIds, { ...state, answerId: 'b' }), false)
  assert.equal(isQuestionStored([], new Set(), state), false)
})

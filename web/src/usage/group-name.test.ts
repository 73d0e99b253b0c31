import assert from 'node:assert/strict'
import test from 'node:test'
import { formatGroupName } from './group-name.ts'

const keys = new Map([['0123456789', 'laptop']])

test('a key is called by its name, and by its first letters when it is gone', () => {
  assert.equal(formatGroupName('key', '0123456789', keys), 'laptop')
  assert.equal(formatGroupName('key', 'abcdefghij', keys), 'abcdefgh…')
  assert.equal(formatGroupName('key', 'session', keys), 'This app')
})

test('what no model did is not called by a model’s name', () => {
  assert.equal(formatGroupName('model', 'lexical-1', keys), 'Word search, no model')
  assert.equal(formatGroupName('model', '', keys), 'No model')
  assert.equal(formatGroupName('model', 'gpt-6-luna', keys), 'gpt-6-luna')
  assert.equal(formatGroupName('end_user', '', keys), 'Nobody named')
  assert.equal(formatGroupName('outcome', 'cancelled', keys), 'The caller left')
  assert.equal(formatGroupName('day', '2026-11-21', keys), '2026-11-21')
})

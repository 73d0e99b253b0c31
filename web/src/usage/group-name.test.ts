import assert from 'node:assert/strict'
import test from 'node:test'
import { groupName } from './group-name.ts'

const keys = new Map([['0123456789', 'laptop']])

test('a key is called by its name, and by its first letters when it is gone', () => {
  assert.equal(groupName('key', '0123456789', keys), 'laptop')
  assert.equal(groupName('key', 'abcdefghij', keys), 'abcdefgh…')
  assert.equal(groupName('key', 'session', keys), 'This app')
})

test('what no model did is not called by a model’s name', () => {
  assert.equal(groupName('model', 'lexical-1', keys), 'Word search, no model')
  assert.equal(groupName('model', '', keys), 'No model')
  assert.equal(groupName('model', 'gpt-6-luna', keys), 'gpt-6-luna')
  assert.equal(groupName('end_user', '', keys), 'Nobody named')
  assert.equal(groupName('outcome', 'cancelled', keys), 'The caller left')
  assert.equal(groupName('day', '2026-11-21', keys), '2026-11-21')
})

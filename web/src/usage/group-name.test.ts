import assert from 'node:assert/strict'
import test from 'node:test'
import { formatGroupName } from './group-name.ts'

const keys = new Map([['0123456789', 'laptop']])

test('a key has its name, or its first characters when it is deleted', () => {
  assert.equal(formatGroupName('key', '0123456789', keys), 'laptop')
  assert.equal(formatGroupName('key', 'abcdefghij', keys), 'abcdefgh…')
  assert.equal(formatGroupName('key', 'session', keys), 'This app')
})

test('calls without a model have their own label', () => {
  assert.equal(formatGroupName('model', 'lexical-1', keys), 'Word search, no model')
  assert.equal(formatGroupName('model', '', keys), 'No model')
  assert.equal(formatGroupName('model', 'gpt-6-luna', keys), 'gpt-6-luna')
  assert.equal(formatGroupName('end_user', '', keys), 'No end user')
  assert.equal(formatGroupName('outcome', 'cancelled', keys), 'Cancelled')
  assert.equal(formatGroupName('day', '2026-11-21', keys), 'Nov 21')
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { AUTO, addToScope, countChosen, isInScope, toggleInScope } from './scope.ts'

test('choosing documents and collections replaces the automatic choice', () => {
  const one = toggleInScope(AUTO, 'document:d1')
  assert.deepEqual(one, { documents: ['d1'], collections: [] })
  const two = toggleInScope({ documents: 'off', collections: [] }, 'collection:c1')
  assert.deepEqual(two, { documents: [], collections: ['c1'] })
  assert.equal(countChosen(toggleInScope(one, 'collection:c1')), 2)
  assert.equal(isInScope(one, 'document:d1'), true)
  assert.equal(isInScope(one, 'collection:d1'), false)
})

test('removing the last one makes the choice automatic again', () => {
  assert.deepEqual(toggleInScope(toggleInScope(AUTO, 'document:d1'), 'document:d1'), AUTO)
})

test('adding keeps what is chosen', () => {
  const one = addToScope(AUTO, 'document:d1')
  assert.equal(addToScope(one, 'document:d1'), one)
})

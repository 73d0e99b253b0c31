import assert from 'node:assert/strict'
import test from 'node:test'
import { findLeaf, type LocalMessage, readBranch } from './tree.ts'

const message = (id: string, parent_id: string | null): LocalMessage => ({
  id,
  parent_id,
  role: 'user',
  parts: [],
  model: null,
  outcome: 'ok',
  usage: null,
  sources: [],
  citations: [],
  tools: [],
  reasoning: null,
  created_at: '',
})
// Two answers to `q1`; the second continues.
const tree = [
  message('q1', null),
  message('a1', 'q1'),
  message('a2', 'q1'),
  message('q2', 'a2'),
  message('a3', 'q2'),
]

test('a branch leads from the first message to its leaf and knows siblings', () => {
  assert.deepEqual(
    readBranch(tree, 'a3').map(({ id, sibling_ids }) => [id, sibling_ids.length]),
    [
      ['q1', 1],
      ['a2', 2],
      ['q2', 1],
      ['a3', 1],
    ],
  )
  assert.deepEqual(
    readBranch(tree, 'a1').map(({ id }) => id),
    ['q1', 'a1'],
  )
  assert.deepEqual(readBranch(tree, null), [])
})

test('a sibling opens at the end of its newest branch', () => {
  assert.equal(findLeaf(tree, 'a2'), 'a3')
  assert.equal(findLeaf(tree, 'a1'), 'a1')
  assert.equal(findLeaf(tree, 'q1'), 'a3')
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { completeMention, readMention } from './mention.ts'

test('a mention begins at a word and ends at the caret', () => {
  assert.equal(readMention('see @lea', 8), 'lea')
  assert.equal(readMention('@', 1), '')
  assert.equal(readMention('see @lea and', 12), null)
  assert.equal(readMention('mail ada@home', 13), null)
})

test('a chosen name replaces the mention', () => {
  assert.deepEqual(completeMention('see @lea now', 8, 'lease.pdf'), {
    text: 'see lease.pdf  now',
    caret: 14,
  })
  assert.deepEqual(completeMention('@x', 2, '$&'), { text: '$& ', caret: 3 })
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { citationLinks } from './citations.ts'

test('a citation becomes a link to its passage', () => {
  assert.equal(citationLinks('Until it ends [1].', 2), 'Until it ends [1](#passage-1).')
  assert.equal(citationLinks('Both [1, 2]', 2), 'Both [1](#passage-1)[2](#passage-2)')
  assert.equal(citationLinks('Both [1][2]', 2), 'Both [1](#passage-1)[2](#passage-2)')
})

test('a citation without a passage stays plain', () => {
  assert.equal(citationLinks('No [3], no [0], no [1,9].', 2), 'No [3], no [0], no [1,9].')
})

test('code and links are left alone', () => {
  assert.equal(
    citationLinks('`a[1]` and\n```\nb[1]\n```\n[1](https://x.example)', 1),
    '`a[1]` and\n```\nb[1]\n```\n[1](https://x.example)',
  )
  assert.equal(citationLinks('```\nstill open b[1]', 1), '```\nstill open b[1]')
})

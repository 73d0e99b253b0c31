import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findExcerpt, markWords } from './excerpt.ts'

const LEASE =
  'Lease of the workshop.\nThe rent is due. The deposit is kept apart.\nKeys are returned.'

const listMatches = (text: string, query: string) =>
  markWords(text, query).flatMap(({ text, isMatch }) => (isMatch ? [text] : []))

test('words of the query are found with other endings and in any case', () => {
  assert.deepEqual(listMatches(LEASE, 'Deposits'), ['deposit'])
  assert.deepEqual(listMatches(LEASE, 'key'), ['Keys'])
  assert.deepEqual(listMatches('Die Kaution und die Schlüssel', 'schlüssels'), ['Schlüssel'])
  assert.deepEqual(listMatches('the keyboards', 'keys'), [], 'a longer word is another one')
})

test('short words only count alone', () => {
  assert.deepEqual(listMatches(LEASE, 'of the deposit'), ['deposit'])
  assert.deepEqual(listMatches('of it', 'of'), ['of'])
  assert.deepEqual(listMatches(LEASE, '?'), [])
})

test('the parts are the whole text, each with its place', () => {
  for (const query of ['deposit', 'lease rent', 'nothing', '']) {
    const parts = markWords(LEASE, query)
    assert.equal(parts.map(({ text }) => text).join(''), LEASE)
    assert.ok(parts.every(({ at, text }) => LEASE.startsWith(text, at)))
  }
})

test('an excerpt starts with the sentence that has the most words of the query', () => {
  assert.ok(LEASE.slice(findExcerpt(LEASE, 'rent and deposit kept')).startsWith('The deposit'))
  assert.ok(LEASE.slice(findExcerpt(LEASE, 'returned keys')).startsWith('Keys'))
  assert.equal(findExcerpt(LEASE, 'lighthouse'), 0)
})

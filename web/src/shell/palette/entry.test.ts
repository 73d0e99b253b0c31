import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Entry, rankEntries } from './entry.ts'

const entry = (label: string, detail?: string): Entry => ({
  id: label,
  group: 'Build',
  label,
  detail,
  icon: null as never,
  href: '/',
})
const ENTRIES = [
  entry('Usage', 'Requests, tokens, cost'),
  entry('API keys', 'Keys for your programs'),
  entry('Keyboard shortcuts'),
  entry('Create a key'),
]
const labels = (typed: string) => rankEntries(ENTRIES, typed).map(({ label }) => label)

test('labels that begin with the typed text come first, then words that do', () => {
  assert.deepEqual(labels('key'), ['Keyboard shortcuts', 'API keys', 'Create a key'])
})

test('every typed word must occur, in the label, the detail or the group', () => {
  assert.deepEqual(labels('keys programs'), ['API keys'])
  assert.deepEqual(labels('build usage'), ['Usage'])
  assert.deepEqual(labels('keys tokens'), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { translatePhrase } from './phrases.ts'

test('returns null for a phrase without a translation, also for the name of an inherited member', () => {
  for (const phrase of ['New', 'constructor', 'toString'])
    assert.equal(translatePhrase({ Old: 'Alt' }, phrase), null, phrase)
  assert.equal(translatePhrase({ Old: 'Alt' }, 'Old'), 'Alt')
})

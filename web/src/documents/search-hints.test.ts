import assert from 'node:assert/strict'
import test from 'node:test'
import { getSearchHints } from './search-hints.ts'

test('meaning is promised only where something reads it', () => {
  assert.match(getSearchHints('openai:text-embedding-3-small').placeholder, /meaning/)
  assert.match(getSearchHints('gemini:gemini-embedding-2').placeholder, /meaning/)
  assert.doesNotMatch(getSearchHints('local').placeholder, /meaning/)
  assert.match(getSearchHints('local').placeholder, /words/)
  assert.doesNotMatch(getSearchHints(undefined).placeholder, /meaning|words/)
})

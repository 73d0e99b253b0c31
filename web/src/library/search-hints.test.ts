import assert from 'node:assert/strict'
import test from 'node:test'
import { getSearchHints } from './search-hints.ts'

test('search by meaning is promised only with an embedder that supports it', () => {
  assert.match(getSearchHints('openai:text-embedding-3-small').placeholder, /meaning/)
  assert.match(getSearchHints('gemini:gemini-embedding-2').placeholder, /meaning/)
  assert.doesNotMatch(getSearchHints('local').placeholder, /meaning/)
  assert.match(getSearchHints('local').placeholder, /words/)
  assert.doesNotMatch(getSearchHints(undefined).placeholder, /meaning|words/)
})

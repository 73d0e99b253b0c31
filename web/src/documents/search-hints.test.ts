import assert from 'node:assert/strict'
import test from 'node:test'
import { searchHints } from './search-hints.ts'

test('meaning is promised only where something reads it', () => {
  assert.match(searchHints('openai:text-embedding-3-small').placeholder, /meaning/)
  assert.match(searchHints('gemini:gemini-embedding-2').placeholder, /meaning/)
  assert.doesNotMatch(searchHints('local').placeholder, /meaning/)
  assert.match(searchHints('local').placeholder, /words/)
  assert.doesNotMatch(searchHints(undefined).placeholder, /meaning|words/)
})

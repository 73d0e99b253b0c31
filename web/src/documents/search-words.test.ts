import assert from 'node:assert/strict'
import test from 'node:test'
import { searchWords } from './search-words.ts'

test('meaning is promised only where something reads it', () => {
  assert.match(searchWords('openai:text-embedding-3-small').hint, /meaning/)
  assert.match(searchWords('gemini:gemini-embedding-2').hint, /meaning/)
  assert.doesNotMatch(searchWords('local').hint, /meaning/)
  assert.match(searchWords('local').hint, /words/)
  assert.doesNotMatch(searchWords(undefined).hint, /meaning|words/)
})

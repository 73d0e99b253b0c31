import assert from 'node:assert/strict'
import test from 'node:test'
import { parseReturnPath } from './return-path.ts'

test('a path of this app is kept, with its query', () => {
  assert.equal(parseReturnPath('/usage?group_by=model#top'), '/usage?group_by=model#top')
})

test('a path to another site becomes the dashboard', () => {
  for (const wanted of [
    undefined,
    '',
    'usage',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/a\\..\\b',
    'javascript:alert(1)',
    '/\t/evil.example',
    ' /usage',
  ]) {
    assert.equal(parseReturnPath(wanted), '/home', String(wanted))
  }
})

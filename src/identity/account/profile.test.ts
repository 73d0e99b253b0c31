import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPictureUrl } from './profile.ts'

test('an avatar URL must be an http or https address', () => {
  for (const [url, good] of [
    ['https://example.com/a.png', true],
    ['http://localhost:8000/a.svg', true],
    ['javascript:alert(1)', false],
    ['JavaScript:alert(1)', false],
    ['data:image/svg+xml,<svg/>', false],
    ['//example.com/a.png', false],
    ['/a.png', false],
    ['https://user:pass@example.com/', false],
    ['', false],
  ] as const) {
    assert.equal(isPictureUrl(url), good, url)
  }
})

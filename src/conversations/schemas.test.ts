import assert from 'node:assert/strict'
import { test } from 'node:test'
import Value from 'typebox/value'
import { Parts } from './schemas.ts'

const image = { type: 'image', media_type: 'image/png', data: 'iVBORw0KGgo=' }
const table: [name: string, parts: unknown, isValid: boolean][] = [
  ['a text', [{ type: 'text', text: 'Hello' }], true],
  ['an image with a text', [image, { type: 'text', text: 'What is it?' }], true],
  ['a document', [{ type: 'document', document_id: 'abc', name: 'a.pdf' }], true],
  ['no part', [], false],
  ['an empty text', [{ type: 'text', text: '' }], false],
  ['an image that runs script', [{ ...image, media_type: 'image/svg+xml' }], false],
  ['an image over 5 MB', [{ ...image, data: 'A'.repeat(7_000_000) }], false],
  ['an address instead of data', [{ ...image, data: 'https://example.com' }], false],
  ['an unknown part', [{ type: 'audio', data: 'AAAA' }], false],
]
for (const [name, parts, isValid] of table)
  test(`${isValid ? 'accepts' : 'rejects'} ${name}`, () => {
    assert.equal(Value.Check(Parts, parts), isValid)
  })
